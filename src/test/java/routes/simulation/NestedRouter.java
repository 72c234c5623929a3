package routes.simulation;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import routes.affinity.Choice;
import routes.affinity.NestedRendezvous;
import routes.affinity.Tuning;
import routes.replica.Backlog;
import routes.replica.Load;
import routes.request.PrefixLevels;

/** The product's rule, {@link NestedRendezvous}. Nobody waits at the gateway here, but in the replicas. */
final class NestedRouter implements Router {

    enum Variant {
        PRODUCT,
        /** Follows what replicas report to have had cached. */
        LEARNED,
        /** Must be worse: however often a prefix is used, it has one home. */
        SETS_OF_ONE,
        /** Must be worse: conversations of one system prompt are not told apart. */
        SYSTEM_KEYS
    }

    private final class Replica implements Load {
        final int number;
        Backlog backlog = new Backlog();
        int pendingThen;

        Replica(int number) {
            this.number = number;
        }

        @Override
        public long hash() {
            return Chain.hash(77, number);
        }

        @Override
        public int slots() {
            return Engine.SLOTS;
        }

        @Override
        public int inFlight() {
            return gateway.inFlight[number];
        }

        @Override
        public int foreign() {
            return gateway.load(number) - gateway.inFlight[number];
        }

        @Override
        public int foreignWaiting() {
            return Math.max(0, gateway.reportedWaiting[number] - pendingThen);
        }

        @Override
        public long waitNanos(int slots, int ahead) {
            return 0;
        }

        @Override
        public int awaited() {
            return 0;
        }

        @Override
        public void awaited(int more) {}

        @Override
        public Backlog backlog() {
            return backlog;
        }
    }

    private final Gateway gateway;
    private final Variant variant;
    private final NestedRendezvous rule;
    private final Replica[] pool;
    private final Choice choice = new Choice();
    private final Map<Turn, Choice> attempts = new HashMap<>();

    NestedRouter(Gateway gateway, Variant variant) {
        this.gateway = gateway;
        this.variant = variant;
        pool = new Replica[gateway.replicas];
        for (int i = 0; i < pool.length; i++) {
            pool[i] = new Replica(i);
        }
        Tuning.Homes homes = Tuning.DEFAULTS.homes();
        Tuning.Homes ones = new Tuning.Homes(Duration.ofNanos(1), homes.halfLife(), homes.prefixes(), homes.gateways());
        Tuning tuning = variant == Variant.SETS_OF_ONE
                ? new Tuning(ones, Tuning.DEFAULTS.price(), Tuning.DEFAULTS.slack(), false)
                : new Tuning(homes, Tuning.DEFAULTS.price(), Tuning.DEFAULTS.slack(), variant == Variant.LEARNED);
        rule = new NestedRendezvous(tuning.withGateways(gateway.fleet.setup.gateways()), 0);
    }

    private PrefixLevels levels(Turn turn) {
        return levels(turn, variant);
    }

    static PrefixLevels levels(Turn turn, Variant variant) {
        int[] tokens = new int[24];
        long[] hashes = new long[24];
        Chain prompt = turn.prompt;
        int count = 0;
        int depth = 256;
        int at = 0;
        int end = variant == Variant.SYSTEM_KEYS ? prompt.systemEnd : prompt.firstEnd;
        for (int i = 0; i < end; i++) {
            at += prompt.blocks[i] * Chain.BLOCK_TOKENS;
            for (; depth < at; depth *= 2) {
                tokens[count] = depth;
                hashes[count++] = Chain.hash(prompt.ids[i], depth);
            }
            if (depth == at || i == end - 1) {
                tokens[count] = at;
                hashes[count++] = prompt.ids[i];
                depth *= depth == at ? 2 : 1;
            }
        }
        return PrefixLevels.of(
                count,
                tokens,
                hashes,
                turn.promptTokens(),
                prompt.isFollowUp() ? prompt.tokensUpTo(prompt.seenEnd) : 0);
    }

    private long now() {
        return (long) (gateway.fleet.time.seconds() * 1e9);
    }

    private long up() {
        long mask = 0;
        for (int i = 0; i < pool.length; i++) {
            mask |= gateway.isUp(i) ? 1L << i : 0;
        }
        return mask;
    }

    @Override
    public int home(Turn turn) {
        choose(turn);
        return choice.home();
    }

    @Override
    public int choose(Turn turn) {
        return rule.choose(levels(turn), pool, up(), 1, now(), choice);
    }

    @Override
    public void dispatched(Turn turn) {
        Choice of = new Choice();
        // in flight counts already
        gateway.inFlight[turn.replica]--;
        rule.choose(levels(turn), pool, up(), 1, now(), of);
        gateway.inFlight[turn.replica]++;
        rule.dispatched(levels(turn), pool[turn.replica], of, now());
        attempts.put(turn, of);
    }

    @Override
    public void firstToken(Turn turn) {
        attempts.get(turn).firstToken();
    }

    @Override
    public void ended(Turn turn) {
        Choice of = attempts.remove(turn);
        of.ended(now());
        if (turn.cachedTokens >= 0) {
            rule.reported(of, turn.cachedTokens);
        }
    }

    @Override
    public void polled() {
        for (Replica each : pool) {
            each.pendingThen = each.backlog.requests();
        }
    }
}
