package routes.telemetry;

import java.util.concurrent.atomic.LongAdder;

/**
 * A histogram: how many values were at most as large as each of its boundaries, and their sum.
 *
 * <p><b>Threading:</b> any thread; recording waits for nobody and allocates nothing. A reader may miss what is being
 * recorded while it reads.
 */
final class Buckets {

    private final long[] boundaries;
    private final LongAdder[] counts;
    private final LongAdder sum = new LongAdder();

    /** @param boundaries ascending; the bucket above the last has none */
    Buckets(long[] boundaries) {
        this.boundaries = boundaries;
        this.counts = new LongAdder[boundaries.length + 1];
        for (int i = 0; i < counts.length; i++) {
            counts[i] = new LongAdder();
        }
    }

    void record(long value) {
        int bucket = 0;
        while (bucket < boundaries.length && value > boundaries[bucket]) {
            bucket++;
        }
        counts[bucket].increment();
        sum.add(value);
    }

    /** Values in each bucket, that of a boundary at the boundary's index; not cumulative. */
    long[] counts() {
        long[] now = new long[counts.length];
        for (int i = 0; i < now.length; i++) {
            now[i] = counts[i].sum();
        }
        return now;
    }

    long sum() {
        return sum.sum();
    }
}
