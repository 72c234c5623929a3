package routes.affinity;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * How often each prefix has been used of late, and how many homes it has for that. Bounded: the prefix that was used
 * longest ago makes place for a new one.
 *
 * <p>A use counts half after each half-life. Homes double when uses within the tuned period reach twice their number, and halve
 * when they fall below 0.6 of it; in between they stay, so that they don't flutter.
 *
 * <p>A prefix stands in one of the {@value #WAYS} places of its row, a hash and an entry each, which the processor fetches at
 * once. The least recently used of the row goes first, of several the least used. An entry packs the count (a float), the time of the last
 * use (ticks, modulo some years) and the binary logarithm of its homes; 0 is no entry.
 *
 * <p><b>Threading:</b> any thread. Readers take no lock: a place is emptied before it is given to another prefix, and a reader
 * looks at the hash again after it has read the entry.
 */
final class PrefixTable {

    /** No such prefix. */
    static final long NONE = 0;

    private static final int WAYS = 8;
    private static final int MOST_HOMES = 64;
    private static final double SHRINKS_BELOW = 0.6;
    private static final double LN2 = Math.log(2);

    private static final int HOMES_BITS = 3;
    private static final int COUNT_SHIFT = 32;
    private static final int HOMES_MASK = (1 << HOMES_BITS) - 1;
    private static final int TICKS_MASK = (1 << COUNT_SHIFT - HOMES_BITS) - 1;

    /** Nanoseconds of a tick, as a shift: an eighth of a second. */
    private static final int TICK_SHIFT = 27;

    /** A gateway that has just started counts as if it had seen so much of a half-life, lest a few requests look like many. */
    private static final double LEAST_SEEN = 0.1;

    private final AtomicLongArray table;
    private final int rowMask;
    private final long startNanos;
    private final double halvesPerTick;
    private final double halvesPerNano;
    private final double usesPerCount;

    /** @param startNanos the time at which counting begins */
    PrefixTable(Tuning.Homes tuning, long startNanos) {
        int rows = Integer.highestOneBit(tuning.prefixes() / WAYS);
        this.table = new AtomicLongArray(rows * WAYS * 2);
        this.rowMask = rows - 1;
        this.startNanos = startNanos;
        double halfLife = seconds(tuning.halfLife());
        this.halvesPerNano = 1 / (halfLife * TimeUnit.SECONDS.toNanos(1));
        this.halvesPerTick = halvesPerNano * (1L << TICK_SHIFT);
        this.usesPerCount = LN2 / halfLife * tuning.gateways() * seconds(tuning.period());
    }

    private static double seconds(Duration duration) {
        return duration.getSeconds() + duration.getNano() / (double) TimeUnit.SECONDS.toNanos(1);
    }

    /** Most prefixes that it holds. */
    int capacity() {
        return table.length() / 2;
    }

    /** The entry of a prefix; {@link #NONE} for one that is unknown or forgotten. */
    long find(long hash) {
        long key = key(hash);
        int row = row(key);
        for (int at = row; at < row + WAYS * 2; at += 2) {
            if (table.getAcquire(at) == key) {
                long entry = table.getAcquire(at + 1);
                return table.getAcquire(at) == key ? entry : NONE;
            }
        }
        return NONE;
    }

    /** How often the prefix has been used; a use counts half after each half-life. */
    double count(long entry, long nowNanos) {
        int elapsed = elapsed(entry, ticks(nowNanos));
        double count = Float.intBitsToFloat((int) (entry >>> COUNT_SHIFT));
        return elapsed == 0 ? count : count * halved(elapsed * halvesPerTick);
    }

    /** Nanoseconds since the last use, to about an eighth of a second. */
    long ageNanos(long entry, long nowNanos) {
        return (long) elapsed(entry, ticks(nowNanos)) << TICK_SHIFT;
    }

    /** What a count of 1 says about all gateways' uses within the period: more while this one has not counted for long. */
    double usesPerCount(long nowNanos) {
        double seen = Math.max(LEAST_SEEN, (nowNanos - startNanos) * halvesPerNano);
        return usesPerCount / (1 - halved(seen));
    }

    /**
     * On how many replicas a prefix is kept; 1 for one that is unknown.
     *
     * @param uses within the period, at all gateways
     */
    static int homes(long entry, double uses) {
        int homes = 1 << (int) (entry & HOMES_MASK);
        while (homes < MOST_HOMES && uses >= 2 * homes) {
            homes *= 2;
        }
        while (homes > 1 && uses < SHRINKS_BELOW * homes) {
            homes /= 2;
        }
        return homes;
    }

    /**
     * The prefixes that are used most, most first.
     *
     * @param most how many at most
     */
    List<HotPrefix> hottest(int most, long nowNanos) {
        double usesPerCount = usesPerCount(nowNanos);
        PriorityQueue<HotPrefix> found = new PriorityQueue<>(Comparator.comparingDouble(HotPrefix::uses));
        for (int at = 0; at < table.length(); at += 2) {
            long key = table.getAcquire(at);
            long entry = table.getAcquire(at + 1);
            if (key != 0 && table.getAcquire(at) == key) {
                double uses = count(entry, nowNanos) * usesPerCount;
                found.add(new HotPrefix(key, uses, homes(entry, uses), ageNanos(entry, nowNanos)));
                if (found.size() > most) {
                    found.remove();
                }
            }
        }
        List<HotPrefix> hottest = new ArrayList<>(found);
        hottest.sort(Comparator.comparingDouble(HotPrefix::uses).reversed());
        return hottest;
    }

    /** Counts a use. */
    synchronized void used(long hash, long nowNanos) {
        long key = key(hash);
        int row = row(key);
        int now = ticks(nowNanos);
        int victim = row;
        long mostUseless = -1;
        for (int at = row; at < row + WAYS * 2; at += 2) {
            long known = table.getPlain(at);
            if (known == key) {
                table.setRelease(at + 1, usedOnceMore(table.getPlain(at + 1), nowNanos));
                return;
            }
            long useless = known == 0 ? Long.MAX_VALUE : uselessness(table.getPlain(at + 1), now);
            if (useless > mostUseless) {
                mostUseless = useless;
                victim = at;
            }
        }
        table.setRelease(victim, 0);
        table.setRelease(victim + 1, usedOnceMore(NONE, nowNanos));
        table.setRelease(victim, key);
    }

    private long usedOnceMore(long entry, long nowNanos) {
        double count = count(entry, nowNanos) + 1;
        int homes = homes(entry, count * usesPerCount(nowNanos));
        return (long) Float.floatToRawIntBits((float) count) << COUNT_SHIFT
                | (long) ticks(nowNanos) << HOMES_BITS
                | Integer.numberOfTrailingZeros(homes);
    }

    /** Larger for what was used longer ago; at the same time, for what was used less. */
    private static long uselessness(long entry, int now) {
        return ((long) elapsed(entry, now) << COUNT_SHIFT) + Integer.MAX_VALUE - (entry >>> COUNT_SHIFT);
    }

    private int ticks(long nowNanos) {
        return (int) (nowNanos - startNanos >> TICK_SHIFT) & TICKS_MASK;
    }

    /** Ticks since the last use; 0 when that was on a thread whose clock was read a little later. */
    private static int elapsed(long entry, int now) {
        int elapsed = now - (int) (entry >>> HOMES_BITS) & TICKS_MASK;
        return elapsed > TICKS_MASK / 2 ? 0 : elapsed;
    }

    private static double halved(double times) {
        return Math.exp(-LN2 * times);
    }

    /** An empty place has the hash 0. */
    private static long key(long hash) {
        return hash == 0 ? 1 : hash;
    }

    private int row(long key) {
        return ((int) (Strategy.mix(key, 0) >>> 32) & rowMask) * WAYS * 2;
    }
}
