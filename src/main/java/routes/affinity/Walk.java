package routes.affinity;

import routes.replica.Load;
import routes.request.PrefixLevels;

/**
 * The way from all replicas of a pool to a prompt's home. Each level of the prompt keeps the best of those that the level
 * before has left, as many as that prefix has homes; best is whose identity, mixed with the level's hash, is largest. The
 * first at the deepest level is the home.
 *
 * <p>Kept as arrays that are written again for each choice.
 *
 * <p><b>Threading:</b> confined to one thread.
 */
final class Walk {

    static final int LARGEST_POOL = 64;

    /** Uses from which on a prefix counts as cached at its homes: a last one not longer ago than two half-lives. */
    private static final double SEEN = 0.25;

    /** The last tokens of a prompt are computed in any case: caches hold whole blocks. */
    private static final int BLOCK_TOKENS = 16;

    /** Those that the last level has left; the first is the home. */
    private final int[] members = new int[LARGEST_POOL];

    private final long[] scores = new long[LARGEST_POOL];
    private final int[] depths = new int[LARGEST_POOL];
    private final int[] warm = new int[LARGEST_POOL];
    private int size;
    private int home;
    private int age;
    private double share = 1;

    /** @param among bit i is set when pool[i] takes part; at least one is */
    void go(PrefixLevels levels, Load[] pool, long among, PrefixTable table, long nowNanos) {
        size = 0;
        share = 1;
        age = Warmth.UNKNOWN_AGE;
        for (long rest = among; rest != 0; rest &= rest - 1) {
            int i = Long.numberOfTrailingZeros(rest);
            members[size++] = i;
            depths[i] = 0;
            warm[i] = 0;
        }
        int mostWarm = Math.max(0, levels.totalTokens() - BLOCK_TOKENS);
        double usesPerCount = table.usesPerCount(nowNanos);
        for (int level = 0; level < levels.count(); level++) {
            long hash = levels.hash(level);
            long entry = table.find(hash);
            double count = entry == PrefixTable.NONE ? 0 : table.count(entry, nowNanos);
            if (size > 1) {
                int homes = PrefixTable.homes(entry, count * usesPerCount);
                if (homes < size) {
                    keep(homes, hash, pool);
                } else if (level == levels.count() - 1) {
                    bringFirst(1, hash, pool);
                }
            }
            boolean seen = levels.isFollowUp() || count >= SEEN;
            if (seen && entry != PrefixTable.NONE) {
                age = Warmth.age(table.ageNanos(entry, nowNanos));
            }
            int tokens = Math.min(levels.tokens(level), mostWarm);
            for (int m = 0; m < size; m++) {
                depths[members[m]] = level + 1;
                if (seen) {
                    warm[members[m]] = tokens;
                }
            }
        }
        home = levels.count() == 0 ? Strategy.NOBODY : members[0];
        if (home >= 0 && levels.isFollowUp()) {
            warm[home] = Math.min(levels.earlierTokens(), mostWarm);
        }
    }

    private void keep(int best, long hash, Load[] pool) {
        bringFirst(best, hash, pool);
        size = best;
    }

    /** Sorts so far that the best stand first. */
    private void bringFirst(int best, long hash, Load[] pool) {
        for (int m = 0; m < size; m++) {
            scores[m] = Strategy.mix(hash, pool[members[m]].hash());
        }
        for (int m = 0; m < best; m++) {
            int top = m;
            for (int other = m + 1; other < size; other++) {
                if (Long.compareUnsigned(scores[other], scores[top]) > 0) {
                    top = other;
                }
            }
            int member = members[top];
            members[top] = members[m];
            members[m] = member;
            scores[top] = scores[m];
        }
    }

    /** Where the prompt's prefix is kept; {@link Strategy#NOBODY} when it has no levels. */
    int home() {
        return home;
    }

    /** How many levels a replica has come along; more for the home than for any other. */
    int depth(int index) {
        return index == home ? Integer.MAX_VALUE : depths[index];
    }

    /** Time since the deepest known level was used before, as {@link Warmth#age} has it. */
    int age() {
        return age;
    }

    /** Only this share of what was computed is still cached. */
    void share(double cached) {
        share = cached;
    }

    /** Tokens of the prompt that a replica has computed before. */
    int computed(int index) {
        return warm[index];
    }

    /** Tokens of the prompt that a replica is expected to have cached. */
    int warm(int index) {
        return share == 1 ? warm[index] : (int) (warm[index] * share);
    }
}
