package routes.request;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Memory that all buffered request bodies share.
 *
 * <p><b>Threading:</b> any thread; one atomic.
 */
public final class BodyBudget {

    private final long limit;
    private final AtomicLong used = new AtomicLong();

    /** @param limit bytes, such as 1 GiB */
    public BodyBudget(long limit) {
        this.limit = limit;
    }

    /** Takes {@code bytes}, or nothing when they don't fit. */
    public boolean tryTake(long bytes) {
        if (used.addAndGet(bytes) <= limit) {
            return true;
        }
        used.addAndGet(-bytes);
        return false;
    }

    public void giveBack(long bytes) {
        used.addAndGet(-bytes);
    }

    public long used() {
        return used.get();
    }
}
