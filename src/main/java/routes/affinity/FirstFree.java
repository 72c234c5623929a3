package routes.affinity;

import java.util.concurrent.atomic.AtomicInteger;
import routes.replica.Load;
import routes.request.PrefixLevels;

/**
 * The simple strategies: an order of the replicas, and the first with a free slot wins; when none is free, the first.
 *
 * <p><b>Threading:</b> any thread.
 */
public final class FirstFree implements Strategy {

    /** What orders the replicas. */
    public enum Order {
        /** A hash of prompt and identity: the same in every gateway, and a replica that leaves moves only its own prompts. */
        RENDEZVOUS,
        /** One after the other. */
        ROUND_ROBIN,
        /** Fewest requests for its slots, those of others as last reported; ties by chance. */
        LEAST_LOADED
    }

    /** So many parts of a replica's slots are told apart. */
    private static final int LOAD_SHIFT = 20;

    private static final int CHANCE_BITS = 16;

    private final Order order;
    private final AtomicInteger turn = new AtomicInteger();

    public FirstFree(Order order) {
        this.order = order;
    }

    @Override
    public int choose(PrefixLevels levels, Load[] pool, long candidates, int slots, long nowNanos, Choice choice) {
        choice.nobody();
        long among = pool.length == 0 ? 0 : candidates & -1L >>> Long.SIZE - pool.length;
        if (among == 0) {
            return NOBODY;
        }
        boolean keyed = levels.count() > 0;
        long key = keyed ? levels.hash(levels.count() - 1) : Strategy.mix(nowNanos, 0);
        int next = turn.get();
        int first = NOBODY;
        int firstFree = NOBODY;
        long best = 0;
        long bestFree = 0;
        for (long rest = among; rest != 0; rest &= rest - 1) {
            int i = Long.numberOfTrailingZeros(rest);
            long score = score(key, pool[i], Math.floorMod(i - next, pool.length), nowNanos);
            if (first < 0 || Long.compareUnsigned(score, best) > 0) {
                first = i;
                best = score;
            }
            if (pool[i].waitNanos(Math.min(slots, pool[i].slots()), 0) == 0
                    && (firstFree < 0 || Long.compareUnsigned(score, bestFree) > 0)) {
                firstFree = i;
                bestFree = score;
            }
        }
        int chosen = firstFree < 0 ? first : firstFree;
        choice.index = chosen;
        choice.waitNanos = firstFree < 0 ? pool[chosen].waitNanos(slots, choice.ahead(pool[chosen])) : 0;
        choice.uncachedTokens = levels.totalTokens();
        choice.why = why(keyed, among, chosen, first);
        if (choice.why == Choice.Why.HOME && isHomeOut(key, pool, among, first)) {
            choice.why = Choice.Why.HOME_UNAVAILABLE;
        }
        choice.home = order == Order.RENDEZVOUS && keyed ? first : NOBODY;
        return chosen;
    }

    private Choice.Why why(boolean keyed, long among, int chosen, int first) {
        if (Long.bitCount(among) == 1) {
            return Choice.Why.ONLY_ONE;
        }
        if (order != Order.RENDEZVOUS) {
            return Choice.Why.BALANCED;
        }
        if (!keyed) {
            return Choice.Why.NO_PREFIX;
        }
        return chosen == first ? Choice.Why.HOME : Choice.Why.SPILL_FULL;
    }

    /** Whether one that can't be asked stands before the first of those that can. */
    private static boolean isHomeOut(long key, Load[] pool, long among, int first) {
        long best = Strategy.mix(key, pool[first].hash());
        for (int i = 0; i < pool.length; i++) {
            if ((among & 1L << i) == 0 && Long.compareUnsigned(Strategy.mix(key, pool[i].hash()), best) > 0) {
                return true;
            }
        }
        return false;
    }

    /** @param after places after the one whose turn it is */
    private long score(long key, Load replica, int after, long nowNanos) {
        return switch (order) {
            case RENDEZVOUS -> Strategy.mix(key, replica.hash());
            case ROUND_ROBIN -> (long) Walk.LARGEST_POOL - after;
            case LEAST_LOADED -> {
                long requests = Math.max(0L, replica.inFlight()) + Math.max(0, replica.foreign());
                long load = (requests << LOAD_SHIFT) / replica.slots();
                long chance = Strategy.mix(nowNanos, replica.hash()) >>> Long.SIZE - CHANCE_BITS;
                yield (Long.MAX_VALUE >>> CHANCE_BITS) - load << CHANCE_BITS | chance;
            }
        };
    }

    @Override
    public void dispatched(PrefixLevels levels, Load to, Choice choice, long nowNanos) {
        turn.incrementAndGet();
        choice.sent(to.backlog(), nowNanos);
    }
}
