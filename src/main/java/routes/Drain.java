package routes;

import java.time.Duration;
import org.apache.camel.support.service.ServiceSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import routes.door.Door;
import routes.net.EventLoops;
import routes.usage.UsageJournal;

/**
 * Ends the gateway in order: no new work, requests in flight go on within a limit, then usage is flushed and the event loops
 * stop.
 *
 * <p><b>Threading:</b> {@link #await} blocks; never on an event loop.
 */
final class Drain extends ServiceSupport {

    private static final Logger LOG = LoggerFactory.getLogger(Drain.class);
    private static final Duration FLUSH_LIMIT = Duration.ofSeconds(10);
    private static final long POLL_MILLIS = 10;

    private final Door door;
    private final UsageJournal journal;
    private final EventLoops loops;
    private final Runnable stopWatching;
    private final Duration limit;

    /** @param stopWatching ends probes and look-ups, which use the event loops, and sends the last spans */
    Drain(Door door, UsageJournal journal, EventLoops loops, Runnable stopWatching, Duration limit) {
        this.door = door;
        this.journal = journal;
        this.loops = loops;
        this.stopWatching = stopWatching;
        this.limit = limit;
    }

    /** Refuses new requests and waits for those in flight; what is left at the limit is broken off. */
    void await() throws InterruptedException {
        door.drain();
        long deadline = System.nanoTime() + limit.toNanos();
        LOG.info("Stopping: {} requests in flight may go on for {} s", door.inFlight(), limit.toMillis() / 1e3);
        while (door.inFlight() > 0 && System.nanoTime() - deadline < 0) {
            Thread.sleep(POLL_MILLIS);
        }
        int left = door.inFlight();
        if (left > 0) {
            LOG.warn("Drain limit reached: {} requests are broken off", left);
            door.breakOff();
            long grace = System.nanoTime() + Duration.ofSeconds(1).toNanos();
            while (door.inFlight() > 0 && System.nanoTime() - grace < 0) {
                Thread.sleep(POLL_MILLIS);
            }
        }
    }

    @Override
    protected void doStop() {
        door.drain();
        long lost = journal.close(FLUSH_LIMIT);
        if (lost > 0) {
            LOG.error("{} usage lines could not be written to their file", lost);
        }
        stopWatching.run();
        loops.close();
    }
}
