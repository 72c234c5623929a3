package routes.affinity;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.netty.util.concurrent.EventExecutor;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.camel.CamelContext;
import org.apache.camel.model.Model;
import org.apache.camel.model.Resilience4jConfigurationCommon;
import org.jspecify.annotations.Nullable;
import routes.replica.Replica;
import routes.replica.Replicas;

/**
 * The circuit breakers of all replicas, in resilience4j's registry: a breaker belongs to a replica's identity and outlives
 * routes. {@code camel.resilience4j.*} configures them; what it leaves open is given here.
 *
 * <p><b>Threading:</b> any thread; never asked by a request.
 */
public final class Breakers implements Replicas.Listener {

    private static final float FAILURE_RATE = 50;
    private static final int WINDOW = 20;
    private static final int MINIMUM_CALLS = 5;
    private static final int HALF_OPEN_CALLS = 3;
    private static final int WAIT_SECONDS = 5;

    private final CamelContext context;
    private final CircuitBreakerRegistry registry;
    private final EventExecutor watch;
    private final Map<Replica, Breaker> breakers = new ConcurrentHashMap<>();
    private @Nullable CircuitBreakerConfig config;

    /** @param watch runs the transitions to half open */
    public Breakers(CamelContext context, CircuitBreakerRegistry registry, EventExecutor watch) {
        this.context = context;
        this.registry = registry;
        this.watch = watch;
    }

    Breaker of(Replica replica) {
        return breakers.computeIfAbsent(
                replica, of -> new Breaker(registry.circuitBreaker(of.toString(), config()), of, watch));
    }

    @Override
    public void removed(Replica replica) {
        if (breakers.remove(replica) != null) {
            registry.remove(replica.toString());
        }
    }

    /** The breaker of a replica, for metrics. */
    public CircuitBreaker breaker(Replica replica) {
        return of(replica).breaker();
    }

    private synchronized CircuitBreakerConfig config() {
        CircuitBreakerConfig known = config;
        if (known == null) {
            known = configured(context.getCamelContextExtension()
                    .getContextPlugin(Model.class)
                    .getResilience4jConfiguration(null));
            config = known;
        }
        return known;
    }

    /** @throws IllegalArgumentException when a value of {@code camel.resilience4j.*} makes no sense */
    static CircuitBreakerConfig configured(@Nullable Resilience4jConfigurationCommon given) {
        CircuitBreakerConfig.Builder config = CircuitBreakerConfig.custom()
                .slidingWindowType(CircuitBreakerConfig.SlidingWindowType.COUNT_BASED)
                .failureRateThreshold(FAILURE_RATE)
                .slidingWindowSize(WINDOW)
                .minimumNumberOfCalls(MINIMUM_CALLS)
                .permittedNumberOfCallsInHalfOpenState(HALF_OPEN_CALLS)
                .writableStackTraceEnabled(false);
        String wait = given == null ? null : given.getWaitDurationInOpenState();
        config.waitDurationInOpenState(Duration.ofSeconds(wait == null ? WAIT_SECONDS : Long.parseLong(wait)));
        if (given == null) {
            return config.build();
        }
        String failureRate = given.getFailureRateThreshold();
        if (failureRate != null) {
            config.failureRateThreshold(Float.parseFloat(failureRate));
        }
        String window = given.getSlidingWindowSize();
        if (window != null) {
            config.slidingWindowSize(Integer.parseInt(window));
        }
        String windowType = given.getSlidingWindowType();
        if (windowType != null) {
            config.slidingWindowType(
                    CircuitBreakerConfig.SlidingWindowType.valueOf(windowType.toUpperCase(Locale.ROOT)));
        }
        String minimum = given.getMinimumNumberOfCalls();
        if (minimum != null) {
            config.minimumNumberOfCalls(Integer.parseInt(minimum));
        }
        String halfOpen = given.getPermittedNumberOfCallsInHalfOpenState();
        if (halfOpen != null) {
            config.permittedNumberOfCallsInHalfOpenState(Integer.parseInt(halfOpen));
        }
        return config.build();
    }
}
