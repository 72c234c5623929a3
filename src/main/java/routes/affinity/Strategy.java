package routes.affinity;

import routes.replica.Load;
import routes.request.PrefixLevels;

/**
 * How a balancer chooses among the replicas of a model. One for each model, for as long as the gateway runs.
 *
 * <p><b>Threading:</b> any thread, and takes no lock to choose: asked under the queue's.
 */
public sealed interface Strategy permits NestedRendezvous, FirstFree {

    int NOBODY = -1;

    /**
     * The replica for a prompt. Changes nothing but the choice, and may be asked again.
     *
     * @param pool 64 at most; borrowed
     * @param candidates bit i is set when pool[i] may be chosen
     * @param slots that the request needs; 0 for as if there were always enough
     * @param nowNanos of the clock that all other times are of
     * @param choice gets what is to be known about the answer
     * @return an index into the pool, maybe of a replica that is full: when all are, or when it is worth waiting for
     *     ({@link Choice#waitNanos}); {@link #NOBODY} when there is no candidate
     */
    int choose(PrefixLevels levels, Load[] pool, long candidates, int slots, long nowNanos, Choice choice);

    /**
     * A request goes to a replica: counts the use of its prefix, and its tokens as to be computed there until
     * {@link Choice#firstToken} or {@link Choice#ended}.
     *
     * @param to the replica that the choice has named
     */
    void dispatched(PrefixLevels levels, Load to, Choice choice, long nowNanos);

    /**
     * The replica has answered, and says how much of the prompt it had cached.
     *
     * @param choice as the request was sent
     * @param cachedTokens in the unit of {@link PrefixLevels#totalTokens}
     */
    default void reported(Choice choice, long cachedTokens) {}

    /** SplitMix64's finaliser over both: every bit depends on every other. */
    static long mix(long hash, long identity) {
        long z = hash ^ identity;
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return z ^ z >>> 31;
    }
}
