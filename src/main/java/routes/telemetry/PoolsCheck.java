package routes.telemetry;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.camel.health.HealthCheckResultBuilder;
import org.apache.camel.impl.health.AbstractHealthCheck;
import routes.replica.Replica;

/**
 * The readiness check {@code pools}: which models can be served, and why others can't. Its details have an entry for each
 * pool, such as {@code pool.m1}; {@code ?data=true&exposureLevel=full} shows them.
 */
public final class PoolsCheck extends AbstractHealthCheck {

    private final Supplier<Map<String, List<Replica>>> pools;
    private final ReadyWhen policy;

    /** @param pools the replicas that each model's route leads to, now */
    public PoolsCheck(Supplier<Map<String, List<Replica>>> pools, ReadyWhen policy) {
        super("dromedary", "pools");
        this.pools = pools;
        this.policy = policy;
    }

    @Override
    public boolean isLiveness() {
        return false;
    }

    @Override
    protected void doCall(HealthCheckResultBuilder builder, Map<String, Object> options) {
        List<Boolean> served = new ArrayList<>();
        List<String> unserved = new ArrayList<>();
        pools.get().forEach((pool, replicas) -> {
            boolean up = replicas.stream().anyMatch(Replica::isUp);
            served.add(up);
            if (!up) {
                unserved.add(pool);
            }
            builder.detail("pool." + pool, describe(replicas));
        });
        if (!unserved.isEmpty()) {
            builder.message("no replica is up of " + String.join(", ", unserved));
        }
        builder.state(policy.holds(served) ? State.UP : State.DOWN);
    }

    private static String describe(List<Replica> replicas) {
        long up = replicas.stream().filter(Replica::isUp).count();
        String others = replicas.stream()
                .filter(replica -> replica.state() != Replica.State.UP)
                .map(replica -> replica + " is " + replica.state().label())
                .collect(Collectors.joining(", "));
        return up + " of " + replicas.size() + " up" + (others.isEmpty() ? "" : "; " + others);
    }
}
