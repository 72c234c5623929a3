package routes.replica;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What this gateway has sent to one replica and has seen no token of an answer to, and how long it holds slots there. One
 * for each replica, whatever pools it stands in.
 *
 * <p><b>Threading:</b> any thread.
 */
public final class Backlog {

    /** Until a first request has ended. */
    private static final long FIRST_GUESS_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final double NEWEST = 0.05;

    private final AtomicInteger requests = new AtomicInteger();
    private final AtomicLong tokens = new AtomicLong();
    private volatile long meanHeldNanos;

    /** Requests without a first token. */
    public int requests() {
        return requests.get();
    }

    /** What these are expected to have computed: tokens that no prefix cache has. */
    public long tokens() {
        return tokens.get();
    }

    /** A request without a first token yet. */
    public void sent(long uncached) {
        requests.incrementAndGet();
        tokens.addAndGet(uncached);
    }

    /** Its first token has come, or it has ended without one. */
    public void answered(long uncached) {
        requests.decrementAndGet();
        tokens.addAndGet(-uncached);
    }

    /** A request that was answered has held its slots for so long. */
    public void held(long nanos) {
        // two threads at once lose one of many samples
        long mean = meanHeldNanos;
        meanHeldNanos = mean == 0 ? Math.max(1, nanos) : mean + Math.round((nanos - mean) * NEWEST);
    }

    /**
     * Expected time until slots of a full replica are free.
     *
     * @param taken slots that are taken
     * @param slots that are needed, with those that others wait for and get first
     */
    public long waitNanos(int taken, int slots) {
        long mean = meanHeldNanos == 0 ? FIRST_GUESS_NANOS : meanHeldNanos;
        return Math.max(1, Math.round((double) mean * slots / Math.max(1, taken)));
    }
}
