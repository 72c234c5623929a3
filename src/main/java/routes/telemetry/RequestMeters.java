package routes.telemetry;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import routes.queue.Pool;
import routes.request.Api;
import routes.request.InferenceRequest;
import routes.request.Outcome;

/**
 * What is measured of requests: one record for each, when it has ended.
 *
 * <p>Pools, APIs and outcomes are all that tells series apart, and all of them come from the configuration or the program.
 * What a client writes never does: a request that reached no pool counts for {@link #UNKNOWN}.
 *
 * <p><b>Threading:</b> any thread; recording looks nothing up and allocates nothing, but for the first request of a pool and
 * API.
 */
public final class RequestMeters {

    /** Stands for the model of requests that were refused before a model's route had them. */
    static final String UNKNOWN = "unknown";

    private final Counters counters = new Counters();
    private final PoolMeters unknown = new PoolMeters();
    /** By the pool's index; replaced by a longer one. */
    private volatile PoolMeters[] pools = new PoolMeters[0];

    /** @param request that has ended */
    public void ended(InferenceRequest request) {
        Outcome outcome = request.getOutcome();
        if (outcome == null) {
            throw new IllegalStateException("the request has not ended");
        }
        counters.count(outcome, request.getErrorCode());
        if (request.target().body() != Api.Body.NONE) {
            of(request.pool()).ended(request, outcome);
        }
    }

    /** The conventions' name for what is done; the API's own where they have none. */
    public static String operation(Api api) {
        return switch (api.label()) {
            case "chat_completions", "responses", "messages" -> "chat";
            case "completions" -> "text_completion";
            case "embed_v2" -> "embeddings";
            default -> api.label();
        };
    }

    Counters counters() {
        return counters;
    }

    PoolMeters of(@Nullable Pool pool) {
        if (pool == null) {
            return unknown;
        }
        PoolMeters[] all = pools;
        return pool.index() < all.length ? all[pool.index()] : added(pool);
    }

    private synchronized PoolMeters added(Pool pool) {
        PoolMeters[] all = pools;
        if (pool.index() >= all.length) {
            int known = all.length;
            all = Arrays.copyOf(all, pool.index() + 1);
            for (int i = known; i < all.length; i++) {
                all[i] = new PoolMeters();
            }
            pools = all;
        }
        return all[pool.index()];
    }
}
