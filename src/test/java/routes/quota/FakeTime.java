package routes.quota;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** A monotonic clock and a calendar that stand still until they are moved. */
final class FakeTime implements LongSupplier, InstantSource {

    // monotonic clocks may begin below 0
    private final AtomicLong nanos = new AtomicLong(-5_000_000_000L);
    private volatile Instant now;

    FakeTime(String instant) {
        now = Instant.parse(instant);
    }

    FakeTime() {
        this("2026-06-15T12:00:00Z");
    }

    /** Time passes, for both. */
    void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
        now = now.plus(time);
    }

    void passNanos(long time) {
        nanos.addAndGet(time);
    }

    /** The calendar is set, and no time passes. */
    void set(String instant) {
        now = Instant.parse(instant);
    }

    @Override
    public long getAsLong() {
        return nanos.get();
    }

    @Override
    public Instant instant() {
        return now;
    }
}
