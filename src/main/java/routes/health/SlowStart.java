package routes.health;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import routes.replica.Replica;

/**
 * Gives a replica that has come back its slots little by little: a tenth of them at once, all of them after a while.
 *
 * <p><b>Threading:</b> confined to the watch loop.
 */
final class SlowStart {

    private static final int STEPS = 20;

    private final Replica replica;
    private final EventLoop loop;
    private final long nanos;
    private long beganNanos;
    private @Nullable Future<?> next;

    /** @param nanos until all slots are there; 0 for at once */
    SlowStart(Replica replica, EventLoop loop, long nanos) {
        this.replica = replica;
        this.loop = loop;
        this.nanos = nanos;
    }

    void begin() {
        stop();
        beganNanos = System.nanoTime();
        step();
    }

    private void step() {
        long elapsed = System.nanoTime() - beganNanos;
        replica.limit(slots(replica.slots(), elapsed, nanos));
        next = elapsed >= nanos ? null : loop.schedule(this::step, nanos / STEPS + 1, TimeUnit.NANOSECONDS);
    }

    /** Stays where it is. */
    void stop() {
        if (next != null) {
            next.cancel(false);
            next = null;
        }
    }

    /** Slots that are there so long after the return. */
    static int slots(int all, long elapsedNanos, long ofNanos) {
        if (elapsedNanos >= ofNanos) {
            return all;
        }
        int first = Math.max(1, all / 10);
        return first + (int) ((double) (all - first) * elapsedNanos / ofNanos);
    }
}
