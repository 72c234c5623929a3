package routes.affinity;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * How much of what should be cached really is, by the time since the prefix was last used: caches forget. Learned from what
 * replicas report.
 *
 * <p><b>Threading:</b> any thread; of two that learn at once one may be lost.
 */
final class Warmth {

    /** Each twice as old as the one before; the last is of prefixes that this gateway doesn't know. */
    static final int AGES = 16;

    static final int UNKNOWN_AGE = AGES - 1;

    private static final double NEWEST = 0.05;

    private final double[] shares = new double[AGES];

    Warmth() {
        Arrays.fill(shares, 1);
    }

    static int age(long nanos) {
        long seconds = TimeUnit.NANOSECONDS.toSeconds(nanos);
        return Math.min(UNKNOWN_AGE - 1, Long.SIZE - Long.numberOfLeadingZeros(Math.max(0, seconds)));
    }

    double share(int age) {
        return shares[age];
    }

    /** @param share of the assumed tokens that was cached; from 0, and 1 at most */
    void learn(int age, double share) {
        double before = shares[age];
        shares[age] = before + NEWEST * (Math.min(1, share) - before);
    }
}
