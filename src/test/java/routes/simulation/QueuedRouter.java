package routes.simulation;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import routes.affinity.Choice;
import routes.affinity.NestedRendezvous;
import routes.affinity.Tuning;
import routes.queue.Pool;
import routes.queue.Queue;
import routes.queue.Waiter;
import routes.replica.Replica;
import routes.replica.ReplicaAddress;
import routes.replica.Replicas;
import routes.request.PrefixLevels;

/**
 * The product's rule, queue and replicas together: what finds the slots taken waits at the gateway, for the replica that it
 * likes best or for any, as the price of waiting tells.
 */
final class QueuedRouter implements Router {

    private static final long LEAST_WAIT_NANOS = 5_000_000;

    private final Gateway gateway;
    private final NestedRendezvous rule;
    private final Queue queue;
    private final Pool pool;
    private final Replica[] replicas;
    private final Map<Turn, Place> places = new HashMap<>();
    private final Choice home = new Choice();

    /** @param slots of each replica, this gateway's view */
    QueuedRouter(Gateway gateway, int slots) {
        this.gateway = gateway;
        queue = new Queue(this::now);
        pool = queue.pool("m1");
        pool.bounds(new Pool.Bounds(1_000_000, Long.MAX_VALUE, Pool.Bounds.DEFAULT.timeout()));
        Replicas registry = new Replicas(queue::freed);
        replicas = new Replica[gateway.replicas];
        for (int i = 0; i < replicas.length; i++) {
            replicas[i] = registry.replica(new ReplicaAddress("http", "127.0.0.1", 8000 + i, ""), slots);
            replicas[i].up(gateway.isUp(i));
        }
        rule = new NestedRendezvous(Tuning.DEFAULTS.withGateways(gateway.fleet.setup.gateways()), 0);
    }

    private long now() {
        return (long) (gateway.fleet.time.seconds() * 1e9);
    }

    private long up() {
        long mask = 0;
        for (int i = 0; i < replicas.length; i++) {
            mask |= replicas[i].isUp() ? 1L << i : 0;
        }
        return mask;
    }

    @Override
    public int home(Turn turn) {
        rule.choose(NestedRouter.levels(turn, NestedRouter.Variant.PRODUCT), replicas, up(), 1, now(), home);
        return home.home();
    }

    @Override
    public int choose(Turn turn) {
        Place place = places.get(turn);
        if (place == null) {
            place = new Place(turn);
            places.put(turn, place);
            place.enter();
        }
        return place.answer;
    }

    @Override
    public void dispatched(Turn turn) {
        Place place = places.get(turn);
        rule.dispatched(place.levels, replicas[turn.replica], place.choice, now());
    }

    @Override
    public void firstToken(Turn turn) {
        places.get(turn).choice.firstToken();
    }

    @Override
    public void ended(Turn turn) {
        places.remove(turn).choice.ended(now());
        replicas[turn.replica].release(1);
    }

    @Override
    public void polled() {
        for (int i = 0; i < replicas.length; i++) {
            int reported = gateway.reportedRunning[i] + gateway.reportedWaiting[i];
            replicas[i].foreign(
                    reported - replicas[i].inFlight(),
                    gateway.reportedWaiting[i] - replicas[i].backlog().requests());
        }
    }

    @Override
    public void left(int replica) {
        replicas[replica].up(false);
    }

    @Override
    public void joined(int replica) {
        replicas[replica].up(true);
    }

    private final class Place extends Waiter {
        final PrefixLevels levels;
        final Choice choice = new Choice();
        int answer = HOLD;

        Place(Turn turn) {
            super(
                    new Wish(List.of(replicas), 1, turn.promptTokens() * 4L, false),
                    new Claim(0, "all", 1, turn.promptTokens() + turn.answerTokens),
                    Runnable::run);
            levels = NestedRouter.levels(turn, NestedRouter.Variant.PRODUCT);
        }

        void enter() {
            answer = queue.enter(pool, this);
            if (answer == Queue.WAIT) {
                long began = now();
                askAgainIn(Math.max(LEAST_WAIT_NANOS, choice.waitNanos()), began);
            }
        }

        private void askAgainIn(long nanos, long began) {
            gateway.fleet.time.after(nanos / 1e9, () -> {
                if (answer == HOLD) {
                    long waited = now() - began;
                    askAgainIn(waited, began);
                    choice.isOverdue(waited);
                    queue.ask(this);
                    gateway.askAgain();
                }
            });
        }

        @Override
        protected int choose(int slots) {
            int chosen = rule.choose(levels, replicas, up(), slots, now(), choice);
            if (replicas[chosen].hasFree(slots)) {
                return chosen;
            }
            choice.hopesFor(replicas[chosen], 1);
            return Queue.WAIT;
        }

        @Override
        protected void granted(int candidate) {
            choice.hopesFor(null, 0);
            answer = candidate;
        }
    }
}
