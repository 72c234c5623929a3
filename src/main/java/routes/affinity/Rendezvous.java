package routes.affinity;

import routes.replica.Replica;

/**
 * Bounded rendezvous hashing: every key ranks the replicas by a hash of key and identity; the first with a free slot wins.
 * All gateways rank alike, and a replica that leaves moves only the keys that it was first for.
 *
 * <p><b>Threading:</b> stateless.
 */
final class Rendezvous {

    static final int NONE_FREE = -1;
    static final int NONE_LEFT = -2;

    private Rendezvous() {}

    /**
     * The replica for a key. Has no side effects and may be asked again.
     *
     * @param tried bit i is set when pool[i] has failed this request
     * @return an index into the pool; {@link #NONE_FREE} when all slots are taken; {@link #NONE_LEFT} when every replica has
     *     been tried or can't be reached
     */
    static int choose(long key, Replica[] pool, long tried) {
        int best = NONE_LEFT;
        long bestScore = 0;
        for (int i = 0; i < pool.length; i++) {
            Replica replica = pool[i];
            if ((tried & 1L << i) != 0 || replica.socketAddress() == null) {
                continue;
            }
            if (!replica.hasFreeSlot()) {
                best = best == NONE_LEFT ? NONE_FREE : best;
                continue;
            }
            long score = score(key, replica.hash());
            if (best < 0 || Long.compareUnsigned(score, bestScore) > 0) {
                best = i;
                bestScore = score;
            }
        }
        return best;
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
