package routes.affinity;

import java.util.concurrent.TimeUnit;
import routes.replica.Load;
import routes.request.PrefixLevels;

/**
 * What each replica of a pool costs for one prompt ({@link Tuning.Price}), and how dear a preferred one may be.
 *
 * <p>Kept as arrays that are written again for each choice.
 *
 * <p><b>Threading:</b> confined to one thread.
 */
final class Costs {

    private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

    /** Below every cost. */
    private static final double NEVER = -1;

    private final double[] costs = new double[Walk.LARGEST_POOL];
    private final long[] waits = new long[Walk.LARGEST_POOL];
    private long among;
    private double leastBusy;
    private double uncachedPrice;
    private double limit;
    private double limitOfFull;

    /**
     * First: what each replica has to do already.
     *
     * @param meanUncached tokens that a request of others is taken to have computed
     */
    void ofOthers(Load[] pool, long among, Tuning.Price price, double meanUncached) {
        double sum = 0;
        leastBusy = Double.MAX_VALUE;
        for (long rest = among; rest != 0; rest &= rest - 1) {
            int i = Long.numberOfTrailingZeros(rest);
            double busy = busy(pool[i], price, meanUncached);
            costs[i] = busy;
            sum += busy;
            leastBusy = Math.min(leastBusy, busy);
        }
        this.among = among;
        uncachedPrice = price.uncached() * (1 + sum / Long.bitCount(among) / price.doublesAt());
    }

    /**
     * Then: what the prompt costs there.
     *
     * @param walk has gone the prompt's way
     * @param slots that it needs
     * @param choice of a request that may be waiting
     */
    void ofPrompt(PrefixLevels levels, int slots, Load[] pool, Walk walk, Tuning tuning, Choice choice) {
        double perNano = tuning.price().waitSecond() / NANOS_PER_SECOND;
        double least = Double.MAX_VALUE;
        double leastFree = Double.MAX_VALUE;
        for (long rest = among; rest != 0; rest &= rest - 1) {
            int i = Long.numberOfTrailingZeros(rest);
            long wait = pool[i].waitNanos(Math.min(slots, pool[i].slots()), choice.ahead(pool[i]));
            if (wait > 0) {
                wait = choice.waitNanos(pool[i], wait);
            }
            double cost = costs[i] + uncachedPrice * (levels.totalTokens() - walk.warm(i)) + perNano * wait;
            costs[i] = cost;
            waits[i] = wait;
            least = Math.min(least, cost);
            if (wait == 0) {
                leastFree = Math.min(leastFree, cost);
            }
        }
        Tuning.Slack slack = tuning.slack();
        double dearer =
                slack.tokens() + slack.share() * leastBusy + slack.prompt() * uncachedPrice * levels.totalTokens();
        boolean waitsNoMore = choice.isImpatient() && leastFree < Double.MAX_VALUE;
        limit = (waitsNoMore ? leastFree : least) + dearer;
        limitOfFull = waitsNoMore ? NEVER : Math.min(limit, leastFree);
    }

    /** What a replica has to do already. */
    private static double busy(Load load, Tuning.Price price, double meanUncached) {
        double requests = Math.max(0.0, load.inFlight()) + Math.max(0, load.foreign());
        return Math.max(0, load.backlog().tokens())
                + Math.max(0, load.foreignWaiting()) * meanUncached
                + price.request() * requests
                + price.excess() * Math.max(0, requests - load.slots() + 1);
    }

    /** Whether no other is so much cheaper that a preferred replica has to be left. */
    boolean isAcceptable(int index) {
        return costs[index] <= (waits[index] == 0 ? limit : limitOfFull);
    }

    double of(int index) {
        return costs[index];
    }

    long waitNanos(int index) {
        return waits[index];
    }
}
