package routes.affinity;

import routes.queue.Queue;
import routes.replica.Replica;

/**
 * Bounded rendezvous hashing: every key ranks the replicas by a hash of key and identity; the first with a free slot wins.
 * All gateways rank alike, and a replica that leaves moves only the keys that it was first for. Replicas that failed lately
 * or asked for a rest count only when there is nobody else.
 *
 * <p><b>Threading:</b> stateless.
 */
public final class Rendezvous {

    private Rendezvous() {}

    /**
     * The replica for a key. Has no side effects and may be asked again.
     *
     * @param tried bit i is set when pool[i] has failed this request
     * @param answers slots that are needed
     * @return an index into the pool; {@link Queue#WAIT} when no replica has room; {@link Queue#NOBODY} when every replica
     *     has been tried or can't serve
     */
    public static int choose(long key, Replica[] pool, long tried, int answers) {
        int best = Queue.NOBODY;
        int bestOfLast = Queue.NOBODY;
        long bestScore = 0;
        long bestScoreOfLast = 0;
        for (int i = 0; i < pool.length; i++) {
            Replica replica = pool[i];
            Replica.Fitness fitness = (tried & 1L << i) != 0 ? Replica.Fitness.NONE : replica.fitness();
            if (fitness == Replica.Fitness.NONE) {
                continue;
            }
            boolean fit = fitness == Replica.Fitness.FIT;
            if (!replica.hasFree(replica.slotsFor(answers))) {
                if (fit) {
                    best = Math.max(best, Queue.WAIT);
                } else {
                    bestOfLast = Math.max(bestOfLast, Queue.WAIT);
                }
                continue;
            }
            long score = score(key, replica.hash());
            if (fit) {
                if (best < 0 || Long.compareUnsigned(score, bestScore) > 0) {
                    best = i;
                    bestScore = score;
                }
            } else if (bestOfLast < 0 || Long.compareUnsigned(score, bestScoreOfLast) > 0) {
                bestOfLast = i;
                bestScoreOfLast = score;
            }
        }
        return best == Queue.NOBODY ? bestOfLast : best;
    }

    /** The replica that is first for the key when all have room; -1 for an empty pool. */
    static int home(long key, Replica[] pool) {
        int best = -1;
        long bestScore = 0;
        for (int i = 0; i < pool.length; i++) {
            long score = score(key, pool[i].hash());
            if (best < 0 || Long.compareUnsigned(score, bestScore) > 0) {
                best = i;
                bestScore = score;
            }
        }
        return best;
    }

    /** SplitMix64's finaliser over key and identity: cheap, and every bit depends on every other. */
    private static long score(long key, long identity) {
        long z = key ^ identity;
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return z ^ z >>> 31;
    }
}
