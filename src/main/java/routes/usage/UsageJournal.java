package routes.usage;

import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file of usage lines, and the places that bound what waits for it. A request takes a place when it is admitted and
 * uses it with {@link #append} when it ends, or gives it back with {@link #cancel()}; so whoever was admitted is recorded.
 * The place is free again when the line is in the file and every {@link UsageSink} is done with the record.
 *
 * <p><b>Threading</b>: {@link #tryReserve()}, {@link #cancel()} and {@link #append} may be called from any thread and never
 * block. One writer thread owns the file. It gathers for the flush interval, or until a quarter of the places waits.
 *
 * <p><b>Failure</b>: while the file can't be written, records are kept and tried again, with pauses of 50 ms to 1 s, and
 * no place is given out: what is admitted must be recordable, and memory is not a record. Lines are on the device for
 * sure only after {@link #close(Duration)}: until then a crash of the machine, not of the process, can take the newest.
 */
public final class UsageJournal implements AutoCloseable {

    /** Records that wait are written early beyond this number: while they are young, they cost the collector nothing. */
    private static final int BATCH = 512;

    private static final Logger LOG = LoggerFactory.getLogger(UsageJournal.class);
    private static final long MIN_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long MAX_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(10);

    /**
     * How a journal is kept.
     *
     * @param file where lines are appended
     * @param maxPending places: records reserved, waiting, or held by sinks, such as 100,000
     * @param flushInterval how long records gather before they are written, such as 200 ms
     */
    public record Settings(Path file, int maxPending, Duration flushInterval) {
        public Settings {
            if (maxPending < 1) {
                throw new IllegalArgumentException("maxPending: " + maxPending + " (expected: >= 1)");
            }
            if (flushInterval.isNegative() || flushInterval.isZero()) {
                throw new IllegalArgumentException("flushInterval: " + flushInterval + " (expected: > 0)");
            }
        }
    }

    private final Settings settings;
    private final LineWriter writer;
    private final int wakeAt;
    private final Queue<UsageRecord> queue = PlatformDependent.newMpscQueue();
    private final AtomicInteger places = new AtomicInteger();
    private final AtomicBoolean woken = new AtomicBoolean();
    private final List<UsageSink> sinks = new CopyOnWriteArrayList<>();
    private final List<UsageRecord> batch = new ArrayList<>();
    private final Thread thread = new Thread(this::run, "usage-journal");

    private boolean started;
    private volatile boolean open;
    private volatile boolean closing;
    private volatile boolean abandoned;
    private volatile boolean ended;
    private volatile boolean failing;
    private final AtomicLong written = new AtomicLong();
    private volatile int inHand;

    public UsageJournal(Settings settings) {
        this(settings, () -> AppendedFile.open(settings.file()), System::nanoTime);
    }

    UsageJournal(Settings settings, LineFile.Opener opener, LongSupplier ticker) {
        this.settings = settings;
        this.writer = new LineWriter(opener, ticker);
        this.wakeAt = Math.max(1, Math.min(settings.maxPending() / 4, BATCH));
        this.thread.setDaemon(true);
    }

    /**
     * Opens the file and gives out places from here on. A journal starts once.
     *
     * @throws IOException when the file can't be opened for appending
     */
    public synchronized void start() throws IOException {
        if (started) {
            throw new IllegalStateException("The usage journal was started before.");
        }
        writer.open();
        started = true;
        open = true;
        thread.start();
    }

    /** Takes a place, or returns false: none is free, the file can't be written, or the journal isn't open. */
    public boolean tryReserve() {
        if (failing || !open) {
            return false;
        }
        int taken = places.get();
        while (taken < settings.maxPending()) {
            if (places.compareAndSet(taken, taken + 1)) {
                return true;
            }
            taken = places.get();
        }
        return false;
    }

    /** Gives an unused place back. */
    public void cancel() {
        places.decrementAndGet();
    }

    /** Uses a reserved place. */
    public void append(UsageRecord record) {
        queue.offer(record);
        if (queue.size() >= wakeAt && !woken.get() && woken.compareAndSet(false, true)) {
            LockSupport.unpark(thread);
        }
        if (ended) {
            LOG.error(
                    "Usage journal: request {} ended after the journal was closed; its line may be lost",
                    record.requestId());
        }
    }

    /** From the next batch on, records go to this sink too. */
    public void add(UsageSink sink) {
        sinks.add(sink);
    }

    /** No delivery that starts later goes to this sink; what it got before is still to be finished by it. */
    public void remove(UsageSink sink) {
        sinks.remove(sink);
    }

    /** Places taken: of running requests, of records that wait for the file, and of those that sinks hold. */
    public long pending() {
        return places.get();
    }

    /** Lines in the file since the start. */
    public long written() {
        return written.get();
    }

    /** Whether the file can't be written at present, so that no place is given out. */
    public boolean isFailing() {
        return failing;
    }

    /** {@link #close(Duration)} within ten seconds. */
    @Override
    public void close() {
        close(CLOSE_LIMIT);
    }

    /**
     * Gives out no more places, writes all that was appended and waits until it is on the device.
     *
     * @return how many appended records are not in the file because the limit passed; 0 when all are
     */
    public synchronized long close(Duration limit) {
        open = false;
        closing = true;
        if (!started) {
            return 0;
        }
        join(limit);
        abandoned = true;
        join(Duration.ofMillis(100));
        long missing = queue.size() + (long) inHand;
        if (missing > 0) {
            LOG.error("Usage journal {}: closed with {} records not written", settings.file(), missing);
        }
        return missing;
    }

    private void join(Duration limit) {
        LockSupport.unpark(thread);
        try {
            thread.join(Math.max(1, limit.toMillis()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try {
            writeUntilClosed();
        } finally {
            open = false;
            ended = true;
            inHand = Math.min(inHand, writer.unwritten());
            writer.close();
        }
    }

    private void writeUntilClosed() {
        long pauseNanos = MIN_PAUSE_NANOS;
        while (!abandoned) {
            try {
                boolean busy = writeBatch();
                if (!busy && ended) {
                    writer.force();
                    return;
                }
                recovered();
                pauseNanos = MIN_PAUSE_NANOS;
                if (!busy && closing) {
                    // one more look at the queue: what is appended after this reads `ended`
                    ended = true;
                } else if (!busy) {
                    pause(settings.flushInterval().toNanos());
                }
            } catch (IOException | RuntimeException e) {
                failed(e);
                pause(pauseNanos);
                pauseNanos = Math.min(pauseNanos * 2, MAX_PAUSE_NANOS);
            }
        }
    }

    private boolean writeBatch() throws IOException {
        woken.set(false);
        UsageRecord record;
        while (writer.hasRoom() && (record = queue.poll()) != null) {
            batch.add(record);
            inHand = batch.size();
            writer.add(record);
        }
        if (batch.isEmpty()) {
            return false;
        }
        writer.flush();
        written.lazySet(written.get() + batch.size());
        release();
        return true;
    }

    private void release() {
        Object[] receivers = sinks.toArray();
        if (receivers.length == 0) {
            places.addAndGet(-batch.size());
        } else {
            for (UsageRecord record : batch) {
                deliver(record, receivers);
            }
        }
        batch.clear();
        inHand = 0;
    }

    private void deliver(UsageRecord record, Object[] receivers) {
        Held held = new Held(record, receivers.length);
        for (Object receiver : receivers) {
            try {
                ((UsageSink) receiver).deliver(held);
            } catch (RuntimeException e) {
                LOG.error("Usage journal: a consumer refused the record of request {}", record.requestId(), e);
                held.done();
            }
        }
    }

    private void failed(Exception cause) {
        if (!failing) {
            failing = true;
            LOG.warn(
                    "Usage journal {}: can't be written, new requests are refused until it can: {}",
                    settings.file(),
                    cause.toString());
        }
    }

    private void recovered() {
        if (failing) {
            failing = false;
            LOG.info("Usage journal {}: can be written again", settings.file());
        }
    }

    private void pause(long nanos) {
        // an interrupt would end every pause at once
        Thread.interrupted();
        LockSupport.parkNanos(this, nanos);
    }

    private final class Held implements UsageSink.Delivery {
        private final UsageRecord record;
        private final AtomicInteger holders;

        Held(UsageRecord record, int holders) {
            this.record = record;
            this.holders = new AtomicInteger(holders);
        }

        @Override
        public UsageRecord record() {
            return record;
        }

        @Override
        public void done() {
            if (holders.decrementAndGet() == 0) {
                places.decrementAndGet();
            }
        }
    }
}
