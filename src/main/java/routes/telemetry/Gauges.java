package routes.telemetry;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;
import routes.error.ErrorCode;
import routes.queue.Pool;
import routes.queue.Queue;
import routes.replica.Replica;
import routes.replica.Replicas;
import routes.request.Outcome;

/** Registers the gateway's meters, all of them ahead: a request updates counters that stand, and looks nothing up. */
public final class Gauges {

    private final MeterRegistry registry;

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
        FunctionCounter.builder(name, value, DoubleSupplier::getAsDouble)
                .description(description)
                .register(registry);
        return this;
    }

    /** Requests by outcome and refusals by code. */
    public Gauges requests(Counters counters) {
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

    /** Slots and errors of each replica, those of later routes included. */
    public Gauges replicas(Replicas replicas) {
        replicas.onNew(this::replica);
        return this;
    }

    /** How many wait in each pool, and for how long; those of later routes included. */
    public Gauges queue(Queue queue) {
        queue.onNew(pool -> {
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

    private void pool(String name, String description, Pool pool, Supplier<Number> value) {
        Gauge.builder(name, value)
                .tag("pool", pool.name())
                .description(description)
                .strongReference(true)
                .register(registry);
    }

    private void replica(Replica replica) {
        String name = replica.toString();
        Gauge.builder("dromedary.slots", replica, Replica::slots)
                .tag("replica", name)
                .description("Requests that the replica may run at once.")
                .strongReference(true)
                .register(registry);
        Gauge.builder("dromedary.slots.used", replica, Replica::inFlight)
                .tag("replica", name)
                .description("Requests that the replica runs for this gateway.")
                .strongReference(true)
                .register(registry);
        FunctionCounter.builder("dromedary.replica.errors", replica, Replica::errors)
                .tag("replica", name)
                .description("Failures of the replica: refused, reset, garbage, 5xx or an answer that broke off.")
                .register(registry);
    }
}
