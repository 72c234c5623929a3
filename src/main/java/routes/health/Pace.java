package routes.health;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The rhythm of something that is done again and again, never before the last time is over: an interval of about the same
 * length from beginning to beginning, so that several gateways don't fall into step.
 *
 * <p><b>Threading:</b> confined to its event loop.
 */
final class Pace {

    private static final double JITTER = 0.1;

    private final EventLoop loop;
    private final Runnable work;
    private long beganNanos;
    private @Nullable Future<?> next;
    private boolean stopped;

    Pace(EventLoop loop, Runnable work) {
        this.loop = loop;
        this.work = work;
    }

    /** Begins at once; each time the work must say when it is over. */
    void begin() {
        next = null;
        beganNanos = System.nanoTime();
        work.run();
    }

    /** What began is over; the next time comes an interval after its beginning, or after a pause if that has passed. */
    void over(long intervalNanos) {
        if (!stopped && !loop.isShuttingDown()) {
            long elapsed = System.nanoTime() - beganNanos;
            next = loop.schedule(
                    this::begin,
                    delay(intervalNanos, elapsed, ThreadLocalRandom.current().nextDouble()),
                    TimeUnit.NANOSECONDS);
        }
    }

    /** @param random from 0 to 1 */
    static long delay(long intervalNanos, long elapsedNanos, double random) {
        long interval = (long) (intervalNanos * (1 - JITTER + 2 * JITTER * random));
        return Math.max(interval - elapsedNanos, interval / 10);
    }

    void stop() {
        stopped = true;
        if (next != null) {
            next.cancel(false);
        }
    }
}
