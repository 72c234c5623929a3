package routes.telemetry;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import routes.request.Api;
import routes.request.InferenceRequest;
import routes.request.Outcome;

/**
 * What is measured of the requests that one pool serves.
 *
 * <p><b>Threading:</b> any thread.
 */
final class PoolMeters {

    final Buckets queueWait = Scale.QUEUE_WAIT.buckets();
    private final LongAdder retries = new LongAdder();
    private final LongAdder fallbacks = new LongAdder();
    private final AtomicReferenceArray<@Nullable ApiMeters> byApi = new AtomicReferenceArray<>(Api.values().length);

    void ended(InferenceRequest request, Outcome outcome) {
        of(request.target()).ended(request, outcome);
        if (request.getAttempts() > 0) {
            queueWait.record(Math.max(0, request.getQueuedNanos()));
            if (request.countedAttempts() > 1) {
                retries.add(request.countedAttempts() - 1L);
            }
        }
        if (request.getFallbackFrom() != null) {
            fallbacks.increment();
        }
    }

    private ApiMeters of(Api api) {
        ApiMeters known = byApi.get(api.ordinal());
        if (known != null) {
            return known;
        }
        ApiMeters made = new ApiMeters();
        ApiMeters other = byApi.compareAndExchange(api.ordinal(), null, made);
        return other == null ? made : other;
    }

    /** Null before its first request. */
    @Nullable
    ApiMeters known(Api api) {
        return byApi.get(api.ordinal());
    }

    long retries() {
        return retries.sum();
    }

    long fallbacks() {
        return fallbacks.sum();
    }
}
