package routes.telemetry;

import routes.relay.AnswerFacts;
import routes.request.InferenceRequest;
import routes.request.Outcome;

/**
 * What is measured of the requests to one model by one API.
 *
 * <p><b>Threading:</b> any thread.
 */
final class ApiMeters {

    final Buckets firstToken = Scale.FIRST_TOKEN.buckets();
    final Buckets outputToken = Scale.OUTPUT_TOKEN.buckets();
    final Buckets inputTokens = Scale.TOKENS.buckets();
    final Buckets outputTokens = Scale.TOKENS.buckets();
    final Buckets[] durations = new Buckets[Outcome.values().length];

    ApiMeters() {
        for (int i = 0; i < durations.length; i++) {
            durations[i] = Scale.DURATION.buckets();
        }
    }

    void ended(InferenceRequest request, Outcome outcome) {
        durations[outcome.ordinal()].record(request.getDurationNanos());
        AnswerFacts facts = request.facts();
        long output = facts.completionTokens();
        if (facts.promptTokens() >= 0) {
            inputTokens.record(facts.promptTokens());
        }
        if (output >= 0) {
            outputTokens.record(output);
        }
        long untilFirst = request.getFirstTokenNanos();
        if (outcome == Outcome.SUCCESS && untilFirst >= 0) {
            firstToken.record(untilFirst);
            if (output > 1) {
                outputToken.record((request.getDurationNanos() - untilFirst) / (output - 1));
            }
        }
    }
}
