package routes.telemetry;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import routes.queue.Pool;
import routes.queue.Queue;
import routes.replica.Replica;

/** The console's {@code pools}: for each its queue and its replicas. */
public final class PoolsSection implements ConsoleSection {

    private final Queue queue;
    private final Supplier<Map<String, List<Replica>>> replicas;
    private final Function<Replica, Enum<?>> breaker;

    /**
     * @param replicas those that each model's route leads to, now
     * @param breaker the state of a replica's breaker
     */
    public PoolsSection(
            Queue queue, Supplier<Map<String, List<Replica>>> replicas, Function<Replica, Enum<?>> breaker) {
        this.queue = queue;
        this.replicas = replicas;
        this.breaker = breaker;
    }

    @Override
    public String name() {
        return "pools";
    }

    @Override
    public Object json() {
        Map<String, List<Replica>> leadsTo = replicas.get();
        Map<String, Object> pools = new LinkedHashMap<>();
        for (Pool pool : queue.pools()) {
            Map<String, Object> shown = new LinkedHashMap<>();
            shown.put("queued", pool.waiting());
            shown.put("queueLimit", pool.bounds().requests());
            shown.put("queuedBytes", pool.bytes());
            shown.put("oldestSeconds", queue.oldestNanos(pool) / 1e9);
            shown.put("estimateSeconds", pool.estimatedWaitSeconds());
            List<Object> members = new ArrayList<>();
            leadsTo.getOrDefault(pool.name(), List.of()).forEach(replica -> members.add(show(replica)));
            shown.put("replicas", members);
            pools.put(pool.name(), shown);
        }
        return pools;
    }

    private Map<String, Object> show(Replica replica) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("replica", replica.toString());
        shown.put("state", replica.state().label());
        shown.put("breaker", breaker.apply(replica).name().toLowerCase(Locale.ROOT));
        shown.put("slots", replica.slots());
        shown.put("slotsLimit", Math.max(0, replica.room()));
        shown.put("slotsUsed", replica.inFlight());
        shown.put("foreignRequests", replica.foreign());
        shown.put("errors", replica.errors());
        return shown;
    }
}
