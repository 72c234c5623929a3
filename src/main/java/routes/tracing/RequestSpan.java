package routes.tracing;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import java.util.List;
import org.jspecify.annotations.Nullable;
import routes.net.HeadBytes;
import routes.relay.AnswerFacts;
import routes.replica.Replica;
import routes.replica.ReplicaAddress;
import routes.request.InferenceRequest;
import routes.request.Outcome;
import routes.request.Trace;
import routes.telemetry.RequestMeters;

/**
 * One request's span.
 *
 * <p>Says what the configuration, the replica's counts and the gateway's own sets say; of what the client wrote only its
 * request id, whose characters are checked.
 *
 * <p><b>Threading:</b> the request's event loop.
 */
final class RequestSpan implements Trace {

    private static final double NANOS = 1e9;

    private final Span span;
    private final Spans spans;

    RequestSpan(Span span, Spans spans) {
        this.span = span;
        this.spans = spans;
    }

    @Override
    public boolean writeTo(HeadBytes attempt) {
        if (!span.getSpanContext().isSampled()) {
            return false;
        }
        W3CTraceContextPropagator.getInstance().inject(Context.root().with(span), attempt, RequestSpan::line);
        return true;
    }

    private static void line(@Nullable HeadBytes out, String name, String value) {
        if (out != null) {
            out.put(name).put(": ").put(value).put("\r\n");
        }
    }

    @Override
    public void ended(InferenceRequest request) {
        try {
            describe(request);
            span.end();
        } catch (RuntimeException e) {
            spans.failed(e);
        }
    }

    private void describe(InferenceRequest request) {
        AnswerFacts facts = request.facts();
        String pool = request.getPool();
        if (pool != null) {
            span.updateName(RequestMeters.operation(request.target()) + ' ' + pool);
        }
        text(Names.MODEL, pool);
        String finishReason = facts.finishReason();
        if (finishReason != null) {
            span.setAttribute(Names.FINISH_REASONS, List.of(finishReason));
        }
        number(Names.INPUT_TOKENS, facts.promptTokens());
        number(Names.OUTPUT_TOKENS, facts.completionTokens());
        number(Names.CACHED_TOKENS, facts.cachedTokens());
        number(Names.REASONING_TOKENS, facts.reasoningTokens());

        text(Names.REQUEST_ID, request.getRequestId());
        text(Names.TENANT, request.getTenant());
        text(Names.KEY_ID, request.getKeyId());
        text(Names.AFFINITY, request.getAffinity());
        text(Names.FALLBACK_FROM, request.getFallbackFrom());
        number(Names.ATTEMPTS, request.getAttempts());
        span.setAttribute(Names.STREAM, request.isStream());
        seconds(Names.QUEUE_SECONDS, request.getQueuedNanos());
        seconds(Names.FIRST_TOKEN_SECONDS, request.getFirstTokenNanos());
        Replica replica = request.getReplica();
        if (replica != null) {
            ReplicaAddress address = replica.address();
            text(Names.SERVER, address.serverName());
            number(Names.SERVER_PORT, address.port());
            text(Names.REPLICA, replica.toString());
        }
        outcome(request);
    }

    private void outcome(InferenceRequest request) {
        int status = request.getStatus();
        if (status > 0) {
            number(Names.STATUS, status);
        }
        Outcome outcome = request.getOutcome();
        if (outcome == null || outcome == Outcome.SUCCESS) {
            return;
        }
        text(Names.ERROR_TYPE, outcome.label());
        if (request.getErrorCode() != null) {
            text(Names.ERROR_CODE, request.getErrorCode().code());
        }
        // as the conventions say of servers: a client's own fault is no error here
        boolean clients = outcome == Outcome.CLIENT_CLOSED || status >= 400 && status < 500;
        if (!clients) {
            span.setStatus(StatusCode.ERROR);
        }
    }

    private void text(AttributeKey<String> name, @Nullable String value) {
        if (value != null) {
            span.setAttribute(name, value);
        }
    }

    /** @param value -1 when it isn't known */
    private void number(AttributeKey<Long> name, long value) {
        if (value >= 0) {
            span.setAttribute(name, value);
        }
    }

    private void seconds(AttributeKey<Double> name, long nanos) {
        if (nanos >= 0) {
            span.setAttribute(name, nanos / NANOS);
        }
    }
}
