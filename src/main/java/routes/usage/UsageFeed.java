package routes.usage;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The records on their way to one consumer, from its start to its stop: taken from the journal's writer and handed on one
 * by one or in batches, in order, by a thread that runs this.
 *
 * <p><b>Threading</b>: guarded by a lock that is never held while a receiver runs.
 *
 * <p><b>Failure</b>: what the receiver refuses is handed to it again, after pauses of 100 ms to 10 s, until it takes it or
 * the feed ends. After the end each batch gets one last try; what is refused then, or not reached in time, is in the
 * journal's file only.
 */
final class UsageFeed implements UsageSink, Runnable {

    private static final Logger LOG = LoggerFactory.getLogger(UsageFeed.class);
    private static final long MIN_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long MAX_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** Takes records, all of them or none. */
    interface Receiver {
        /** Returns null when the records were taken, else why not; then they come again. */
        @Nullable
        Throwable receive(List<UsageRecord> records);
    }

    private final String name;
    private final int batchSize;
    private final long batchNanos;
    private final Receiver receiver;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final ArrayDeque<Delivery> waiting = new ArrayDeque<>();
    private boolean ending;
    private int inHand;

    /**
     * @param name for logs, such as {@code usage://completed}
     * @param batchNanos how long a batch may wait for its last record after its first
     */
    UsageFeed(String name, int batchSize, long batchNanos, Receiver receiver) {
        this.name = name;
        this.batchSize = batchSize;
        this.batchNanos = batchNanos;
        this.receiver = receiver;
    }

    @Override
    public void deliver(Delivery delivery) {
        lock.lock();
        try {
            if (!ending) {
                waiting.add(delivery);
                if (waiting.size() == 1 || waiting.size() >= batchSize) {
                    changed.signal();
                }
                return;
            }
        } finally {
            lock.unlock();
        }
        delivery.done();
    }

    /** Takes no more records; the thread goes on until it has handed on what waits. */
    void end() {
        lock.lock();
        try {
            ending = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Gives up what waits after {@link #end()}. Returns how many records that is. */
    int abandon() {
        List<Delivery> rest;
        lock.lock();
        try {
            rest = new ArrayList<>(waiting);
            waiting.clear();
        } finally {
            lock.unlock();
        }
        rest.forEach(Delivery::done);
        return rest.size();
    }

    /** Records that wait or are being handed on. */
    int size() {
        lock.lock();
        try {
            return waiting.size() + inHand;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void run() {
        for (List<Delivery> batch = take(); !batch.isEmpty(); batch = take()) {
            try {
                handOn(batch.stream().map(Delivery::record).toList());
            } finally {
                batch.forEach(Delivery::done);
            }
        }
    }

    private void handOn(List<UsageRecord> records) {
        Throwable failure = receive(records);
        if (failure == null) {
            return;
        }
        LOG.warn(
                "{}: {} usage record(s) from request {} on not taken, trying again: {}",
                name,
                records.size(),
                records.get(0).requestId(),
                failure.toString());
        long pauseNanos = MIN_PAUSE_NANOS;
        boolean last = false;
        while (failure != null && !last) {
            last = pause(pauseNanos);
            pauseNanos = Math.min(pauseNanos * 2, MAX_PAUSE_NANOS);
            failure = receive(records);
        }
        if (failure == null) {
            LOG.info("{}: usage records are taken again", name);
        } else {
            LOG.warn(
                    "{}: stopped; {} usage record(s) from request {} on are in the journal's file only",
                    name,
                    records.size(),
                    records.get(0).requestId());
        }
    }

    private @Nullable Throwable receive(List<UsageRecord> records) {
        try {
            return receiver.receive(records);
        } catch (RuntimeException | Error e) {
            return e;
        }
    }

    /** Waits for a batch; empty after the end. */
    private List<Delivery> take() {
        lock.lock();
        try {
            inHand = 0;
            while (waiting.isEmpty() && !ending) {
                changed.awaitUninterruptibly();
            }
            long restNanos = batchNanos;
            while (waiting.size() < batchSize && !ending && restNanos > 0) {
                restNanos = await(restNanos);
            }
            List<Delivery> batch = new ArrayList<>(Math.min(batchSize, waiting.size()));
            while (batch.size() < batchSize && !waiting.isEmpty()) {
                batch.add(waiting.remove());
            }
            inHand = batch.size();
            return batch;
        } finally {
            lock.unlock();
        }
    }

    /** Returns whether the feed is ending. */
    private boolean pause(long nanos) {
        lock.lock();
        try {
            for (long rest = nanos; rest > 0 && !ending; ) {
                rest = await(rest);
            }
            return ending;
        } finally {
            lock.unlock();
        }
    }

    /** One wait of a loop; returns what is left of it. */
    @SuppressWarnings("WaitNotInLoop") // the callers loop
    private long await(long nanos) {
        try {
            return changed.awaitNanos(nanos);
        } catch (InterruptedException e) {
            // left behind by a route; the end is told by end() alone
            return nanos;
        }
    }
}
