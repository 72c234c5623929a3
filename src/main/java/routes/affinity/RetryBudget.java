package routes.affinity;

import java.util.concurrent.atomic.AtomicLong;

/**
 * How many second tries a pool may have: a share of its requests, so that an outage is not multiplied. A few are there from
 * the start and for quiet times.
 *
 * <p><b>Threading:</b> any thread.
 */
final class RetryBudget {

    /** A retry costs so many parts; a request brings as many of them as its percentage. */
    private static final long RETRY = 100;

    private static final long AT_FIRST = 10 * RETRY;
    private static final long MOST = 100 * RETRY;

    private final int percent;
    private final AtomicLong parts = new AtomicLong(AT_FIRST);

    /** @param percent second tries for a hundred requests; 0 for none at all */
    RetryBudget(int percent) {
        this.percent = percent;
    }

    /** A request has come. */
    void earn() {
        long now = parts.get();
        if (now < MOST) {
            parts.addAndGet(percent);
        }
    }

    /** Takes a retry; false when there is none left. */
    boolean trySpend() {
        if (percent == 0) {
            return false;
        }
        for (long now = parts.get(); now >= RETRY; now = parts.get()) {
            if (parts.compareAndSet(now, now - RETRY)) {
                return true;
            }
        }
        return false;
    }
}
