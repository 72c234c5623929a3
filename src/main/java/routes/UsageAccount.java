package routes;

import routes.relay.AnswerFacts;
import routes.replica.Replica;
import routes.request.ApiKey;
import routes.request.InferenceRequest;
import routes.request.Outcome;
import routes.request.Prompt;
import routes.request.Trace;
import routes.telemetry.RequestMeters;
import routes.usage.UsageJournal;
import routes.usage.UsageRecord;
import routes.usage.UsageRecord.Source;

/**
 * Accounts for each request that ends: counts it, ends its span, and if it was authenticated has its one
 * usage line written.
 *
 * <p><b>Threading:</b> the request's event loop; hands over and returns.
 */
final class UsageAccount {

    private final UsageJournal journal;
    private final RequestMeters meters;
    private final String gateway;

    UsageAccount(UsageJournal journal, RequestMeters meters, String gateway) {
        this.journal = journal;
        this.meters = meters;
        this.gateway = gateway;
    }

    void finished(InferenceRequest request) {
        Outcome outcome = request.getOutcome();
        if (outcome == null) {
            throw new IllegalStateException("the request has not ended");
        }
        meters.ended(request);
        Trace trace = request.trace();
        if (trace != null) {
            trace.ended(request);
        }
        ApiKey caller = request.caller();
        if (caller != null) {
            journal.append(record(request, caller, outcome));
        }
    }

    private UsageRecord record(InferenceRequest request, ApiKey caller, Outcome outcome) {
        AnswerFacts facts = request.facts();
        Prompt prompt = request.prompt();
        Replica replica = request.getReplica();
        UsedTokens used = UsedTokens.of(request, outcome);
        UsageRecord.Builder record = UsageRecord.builder()
                .tsMillis(request.getStartMillis())
                .recordId(request.getRecordId())
                .requestId(request.getRequestId())
                .tenant(caller.tenant())
                .keyId(caller.id())
                .api(request.getApi())
                .modelServed(request.getPool())
                .attempts(request.getAttempts())
                .status(request.getStatus())
                .outcome(outcome)
                .error(request.getErrorCode())
                .finishReason(facts.finishReason())
                .stream(request.isStream())
                .requestBytes(request.getBodyBytes())
                .responseBytes(request.getAnswerBytes())
                .queueNanos(request.getQueuedNanos())
                .connectNanos(request.getConnectNanos())
                .ttfbNanos(request.getFirstByteNanos())
                .ttftNanos(request.getFirstTokenNanos())
                .durationNanos(request.getDurationNanos())
                .promptTokens(used.prompt())
                .completionTokens(used.completion())
                .totalTokens(used.total())
                .cachedTokens(facts.cachedTokens())
                .reasoningTokens(facts.reasoningTokens())
                .usageSource(used.source())
                .partial(used.source() == Source.RUNNING || used.source() == Source.ESTIMATED)
                .affinity(request.getAffinity())
                .fallbackFrom(request.getFallbackFrom())
                .gateway(gateway);
        if (replica != null) {
            record.replica(replica.toString()).upstreamRequestId(request.upstreamRequestId());
        }
        if (prompt != null) {
            record.modelAsked(prompt.model())
                    .n(prompt.n())
                    .maxTokens(prompt.maxTokens())
                    .user(prompt.user());
        }
        return record.build();
    }
}
