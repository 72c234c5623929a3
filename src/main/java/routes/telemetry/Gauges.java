package routes.telemetry;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import routes.error.ErrorCode;
import routes.queue.Pool;
import routes.queue.Queue;
import routes.quota.Quotas;
import routes.replica.Replica;
import routes.replica.Replicas;
import routes.request.Outcome;

/** Registers the gateway's meters, all of them ahead: a request updates counters that stand, and looks nothing up. */
public final class Gauges {

    private final MeterRegistry registry;
    private final Map<Replica, List<Meter>> ofReplica = new ConcurrentHashMap<>();

    public Gauges(MeterRegistry registry) {
        this.registry = registry;
    }

    /** @param name such as {@code dromedary.requests.in.flight} */
    public Gauges gauge(String name, String description, DoubleSupplier value) {
        Supplier<Number> supplier = value::getAsDouble;
        Gauge.builder(name, supplier)
                .description(description)
                .strongReference(true)
                .register(registry);
        return this;
    }

    public Gauges counter(String name, String description, DoubleSupplier value) {
        // Micrometer holds what it counts weakly, and the supplier may be nobody else's
        FunctionCounter.builder(name, registry, counted -> value.getAsDouble())
                .description(description)
                .register(registry);
        return this;
    }

    /** Requests by outcome and refusals by code, and the histograms of them for each of the queue's pools. */
    public Gauges requests(RequestMeters meters, Queue queue) {
        Counters counters = meters.counters();
        if (registry instanceof PrometheusMeterRegistry prometheus) {
            prometheus.getPrometheusRegistry().register(new RequestHistograms(meters, queue));
        }
        for (Outcome outcome : Outcome.values()) {
            FunctionCounter.builder("dromedary.requests", counters, c -> c.of(outcome))
                    .tag("outcome", outcome.label())
                    .description("Requests that ended, by outcome.")
                    .register(registry);
        }
        for (ErrorCode code : ErrorCode.values()) {
            FunctionCounter.builder("dromedary.request.errors", counters, c -> c.of(code))
                    .tag("code", code.code())
                    .description("Requests that ended with an error of the catalogue.")
                    .register(registry);
        }
        return this;
    }

    /** Requests that a limit of a key or tenant has refused, by the limit; never by the key. */
    public Gauges refusals(Quotas quotas) {
        quotas.refusals()
                .forEach((limit, count) -> FunctionCounter.builder(
                                "dromedary.limit.refusals", quotas, counted -> count.getAsLong())
                        .tag("limit", limit)
                        .description("Requests that a limit of their key or tenant has refused, by the limit.")
                        .register(registry));
        return this;
    }

    /**
     * Slots, load, errors and breaker of each replica, those of later routes included.
     *
     * @param breakers the breaker of a replica
     */
    public Gauges replicas(Replicas replicas, Function<Replica, CircuitBreaker> breakers) {
        replicas.listen(new Replicas.Listener() {
            @Override
            public void added(Replica replica) {
                List<Meter> meters = new ArrayList<>(replica(replica));
                meters.addAll(states(replica));
                meters.addAll(breaker(replica, breakers.apply(replica)));
                ofReplica.put(replica, meters);
            }

            @Override
            public void removed(Replica replica) {
                ofReplica.getOrDefault(replica, List.of()).forEach(registry::remove);
                ofReplica.remove(replica);
            }
        });
        return this;
    }

    /** How many wait in each pool, for how long, and what their requests took; those of later routes included. */
    public Gauges pools(Queue queue, RequestMeters meters) {
        queue.onNew(pool -> {
            PoolMeters of = meters.of(pool);
            counter("dromedary.request.retries", "Tries of requests after their first.", pool, of, PoolMeters::retries);
            counter(
                    "dromedary.request.fallbacks",
                    "Requests that came to the pool because the one that they asked for could not take them.",
                    pool,
                    of,
                    PoolMeters::fallbacks);
            pool("dromedary.requests.queued", "Requests that wait for a slot.", pool, pool::waiting);
            pool("dromedary.queue.bytes", "Bytes of request bodies that wait for a slot.", pool, pool::bytes);
            pool(
                    "dromedary.queue.oldest.seconds",
                    "How long the request has waited that has waited longest.",
                    pool,
                    () -> queue.oldestNanos(pool) / 1e9);
            pool(
                    "dromedary.queue.estimate.seconds",
                    "How long a request that comes now will wait, as the last grants tell.",
                    pool,
                    pool::estimatedWaitSeconds);
        });
        return this;
    }

    private void counter(
            String name, String description, Pool pool, PoolMeters of, ToDoubleFunction<PoolMeters> value) {
        FunctionCounter.builder(name, of, value)
                .tag("pool", pool.name())
                .description(description)
                .register(registry);
    }

    private void pool(String name, String description, Pool pool, Supplier<Number> value) {
        Gauge.builder(name, value)
                .tag("pool", pool.name())
                .description(description)
                .strongReference(true)
                .register(registry);
    }

    private List<Meter> replica(Replica replica) {
        return List.of(
                gauge("dromedary.slots", "Requests that the replica may run at once.", replica, Replica::slots),
                gauge(
                        "dromedary.slots.used",
                        "Requests that the replica runs for this gateway.",
                        replica,
                        Replica::inFlight),
                gauge(
                        "dromedary.slots.limit",
                        "Slots that there are now: fewer after the replica came back, and while others use it.",
                        replica,
                        r -> Math.max(0, r.room())),
                gauge(
                        "dromedary.replica.up",
                        "Whether requests may go there: 1, or 0.",
                        replica,
                        r -> r.isUp() ? 1 : 0),
                gauge(
                        "dromedary.replica.foreign.requests",
                        "Requests that the replica reports and that are not this gateway's.",
                        replica,
                        Replica::foreign),
                FunctionCounter.builder("dromedary.replica.errors", replica, Replica::errors)
                        .tag("replica", replica.toString())
                        .description(
                                "Failures of the replica: refused, reset, garbage, 5xx or an answer that broke off.")
                        .register(registry));
    }

    private List<Meter> states(Replica replica) {
        List<Meter> states = new ArrayList<>();
        for (Replica.State state : Replica.State.values()) {
            states.add(Gauge.builder("dromedary.replica.state", replica, r -> r.state() == state ? 1 : 0)
                    .tag("replica", replica.toString())
                    .tag("state", state.label())
                    .description("1 for the state that the replica is in.")
                    .strongReference(true)
                    .register(registry));
        }
        return states;
    }

    /** Under the name that resilience4j's own dashboards read. */
    private List<Meter> breaker(Replica replica, CircuitBreaker breaker) {
        List<Meter> states = new ArrayList<>();
        for (CircuitBreaker.State state : CircuitBreaker.State.values()) {
            states.add(Gauge.builder("resilience4j.circuitbreaker.state", breaker, b -> b.getState() == state ? 1 : 0)
                    .tag("name", replica.toString())
                    .tag("state", state.name().toLowerCase(Locale.ROOT))
                    .description("1 for the state that the replica's breaker is in.")
                    .strongReference(true)
                    .register(registry));
        }
        return states;
    }

    private Gauge gauge(String name, String description, Replica replica, ToDoubleFunction<Replica> value) {
        return Gauge.builder(name, replica, value)
                .tag("replica", replica.toString())
                .description(description)
                .strongReference(true)
                .register(registry);
    }
}
