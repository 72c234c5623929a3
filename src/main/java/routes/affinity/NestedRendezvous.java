package routes.affinity;

import io.netty.util.concurrent.FastThreadLocal;
import java.util.List;
import routes.replica.Load;
import routes.request.PrefixLevels;

/**
 * Nested rendezvous: the rule that brings a prompt to the replica that has computed its beginning before, unless that one
 * has so much to do that another is cheaper.
 *
 * <p><b>Why.</b> Before it writes the first word of an answer, a model reads the whole prompt, token by token, and for each
 * keeps what it made of it: the KV cache. A prompt that begins like one before, with the same system prompt or the turns
 * of the same conversation, needs only its new end to be read: often a hundredth of the work. But each replica has a cache of its own.
 * So requests that begin alike should meet, and yet all replicas should have equally much to do.
 *
 * <p><b>Where a prefix is kept</b> is computed, not remembered, so that gateways agree without a word to each other. A prompt
 * is looked at in levels: its first 256 tokens, its first 512, and so on to the end of the first message by the user
 * ({@link PrefixLevels}). Each level has a hash; mixed with a replica's identity it gives that replica's score for this
 * prefix. From all replicas the first level keeps the few that score best, its homes; from these the second level keeps
 * those that score best for it; and so on ({@link Walk}). A prefix that everybody uses has many homes, one that is used now and
 * then has one ({@link PrefixTable}). Therefore a conversation lives on one replica, the conversations of one system prompt
 * on a few neighbours, and a system prompt that half of the traffic shares everywhere. When a replica leaves, only what it was home of
 * moves.
 *
 * <p><b>When it is left.</b> Each replica has a cost, counted in tokens: those of the prompt that it would have to compute,
 * at a price that rises with the load of the pool, and those that it still has to compute for others, with something for each request
 * that it runs and for the wait when its slots are taken ({@link Tuning.Price}). In the order home, neighbours (the
 * nearest first), others, the first wins whose cost is not above the cheapest by more than a slack. The slack keeps prompts at home
 * through small differences, and spreads by hash what nobody has cached, instead of sending it all to whoever reported least
 * load a second ago. A replica whose slots are taken gets no slack against one that is free: it must be worth the wait.
 *
 * <p>One for each model: the load is the pool's, the counts are of the model's prefixes.
 *
 * <p><b>Threading:</b> any thread; choosing takes no lock.
 */
public final class NestedRendezvous implements Strategy {

    private static final double NEWEST = 0.02;
    private static final double FIRST_GUESS_TOKENS = 1024;

    /** What a thread needs for a choice. */
    private static final class Scratch {

        static final FastThreadLocal<Scratch> OF_THREAD = new FastThreadLocal<>() {
            @Override
            protected Scratch initialValue() {
                return new Scratch();
            }
        };

        final Walk walk = new Walk();
        final Costs costs = new Costs();
    }

    private final Tuning tuning;
    private final PrefixTable table;
    private final Warmth warmth = new Warmth();
    private volatile double meanUncached = FIRST_GUESS_TOKENS;

    /** @param nowNanos of the clock that all other times are of */
    public NestedRendezvous(Tuning tuning, long nowNanos) {
        this.tuning = tuning;
        this.table = new PrefixTable(tuning.homes(), nowNanos);
    }

    @Override
    public int choose(PrefixLevels levels, Load[] pool, long candidates, int slots, long nowNanos, Choice choice) {
        if (pool.length > Walk.LARGEST_POOL) {
            throw new IllegalArgumentException(
                    "replicas: " + pool.length + " (expected: <= " + Walk.LARGEST_POOL + ")");
        }
        long all = pool.length == 0 ? 0 : -1L >>> Long.SIZE - pool.length;
        long among = candidates & all;
        if (among == 0) {
            choice.nobody();
            return NOBODY;
        }
        Scratch scratch = Scratch.OF_THREAD.get();
        Walk walk = scratch.walk;
        boolean homeIsOut = false;
        if (among != all && levels.count() > 0) {
            walk.go(levels, pool, all, table, nowNanos);
            homeIsOut = (among & 1L << walk.home()) == 0;
        }
        walk.go(levels, pool, among, table, nowNanos);
        if (tuning.learnedWarmth()) {
            walk.share(warmth.share(walk.age()));
        }
        Costs costs = scratch.costs;
        costs.ofOthers(pool, among, tuning.price(), meanUncached);
        costs.ofPrompt(levels, slots, pool, walk, tuning, choice);

        int chosen = first(pool, among, walk, costs, orderOf(levels, nowNanos));
        choice.index = chosen;
        choice.home = walk.home();
        choice.warmTokens = walk.warm(chosen);
        choice.computedTokens = walk.computed(chosen);
        choice.age = walk.age();
        choice.uncachedTokens = levels.totalTokens() - choice.warmTokens;
        choice.cost = costs.of(chosen);
        choice.waitNanos = costs.waitNanos(chosen);
        if (Long.bitCount(among) == 1) {
            choice.why = Choice.Why.ONLY_ONE;
        } else if (walk.home() == NOBODY) {
            choice.why = Choice.Why.NO_PREFIX;
        } else if (chosen == walk.home()) {
            choice.why = homeIsOut ? Choice.Why.HOME_UNAVAILABLE : Choice.Why.HOME;
        } else {
            choice.why = costs.waitNanos(walk.home()) > 0 ? Choice.Why.SPILL_FULL : Choice.Why.SPILL_LOAD;
        }
        return chosen;
    }

    /** Orders those that have come equally far; prompts without a prefix are spread. */
    private static long orderOf(PrefixLevels levels, long nowNanos) {
        return levels.count() > 0 ? levels.hash(levels.count() - 1) : Strategy.mix(nowNanos, 0);
    }

    private static int first(Load[] pool, long among, Walk walk, Costs costs, long order) {
        int first = NOBODY;
        long firstScore = 0;
        for (long rest = among; rest != 0; rest &= rest - 1) {
            int i = Long.numberOfTrailingZeros(rest);
            if (!costs.isAcceptable(i) || first >= 0 && walk.depth(i) < walk.depth(first)) {
                continue;
            }
            long score = Strategy.mix(order, pool[i].hash());
            if (first < 0 || walk.depth(i) > walk.depth(first) || Long.compareUnsigned(score, firstScore) > 0) {
                first = i;
                firstScore = score;
            }
        }
        return first;
    }

    @Override
    public void dispatched(PrefixLevels levels, Load to, Choice choice, long nowNanos) {
        choice.sent(to.backlog(), nowNanos);
        // two threads at once may lose one of many samples
        double mean = meanUncached;
        meanUncached = mean + NEWEST * (choice.uncachedTokens - mean);
        for (int level = 0; level < levels.count(); level++) {
            table.used(levels.hash(level), nowNanos);
        }
    }

    @Override
    public void reported(Choice choice, long cachedTokens) {
        if (tuning.learnedWarmth() && choice.computedTokens > 0) {
            warmth.learn(choice.age, (double) cachedTokens / choice.computedTokens);
        }
    }

    /** The prefixes that are used most, most first. */
    public List<HotPrefix> hottest(int most, long nowNanos) {
        return table.hottest(most, nowNanos);
    }
}
