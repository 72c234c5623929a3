package routes.queue;

import java.time.Duration;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import routes.config.Quantity;

/**
 * The waiters of one model: its bounds, its priority classes and their lines. Outlives the routes that serve the model.
 *
 * <p><b>Threading:</b> guarded by the queue's lock but for what says otherwise.
 */
@SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock only
public final class Pool {

    /**
     * How long the queue may get.
     *
     * @param requests most requests that wait; 0 for no queue
     * @param bytes most bytes of prompts that wait
     * @param timeout longest time that a request waits
     */
    public record Bounds(int requests, long bytes, Duration timeout) {

        /** The defaults, as the options of a model's route write them. */
        public static final int REQUESTS = 1000;

        public static final String BYTES = "256m";
        public static final String TIMEOUT = "30s";

        /** What holds unless a model's route says otherwise. */
        public static final Bounds DEFAULT = of(REQUESTS, BYTES, TIMEOUT);

        /** @throws IllegalArgumentException saying which option is wrong, and what is expected */
        public static Bounds of(int queueLimit, String queueBytes, String queueTimeout) {
            return new Bounds(
                    queueLimit,
                    Quantity.bytes("queueBytes", queueBytes),
                    Duration.ofMillis(Quantity.millis("queueTimeout", queueTimeout)));
        }

        public Bounds {
            if (requests < 0) {
                throw new IllegalArgumentException("queueLimit: " + requests + " (expected: 0 or more requests)");
            }
            if (bytes < 0) {
                throw new IllegalArgumentException("queueBytes: " + bytes + " (expected: 0 or more bytes)");
            }
            if (timeout.isNegative() || timeout.isZero() || timeout.toDays() > 1) {
                throw new IllegalArgumentException(
                        "queueTimeout: " + timeout.toMillis() + "ms (expected: more than 0, at most a day)");
            }
        }
    }

    /** Lines that are remembered although nobody waits in them. */
    private static final int MAX_IDLE_LINES = 4096;

    private static final double NEWEST = 0.125;

    private final String name;
    private final int index;
    private volatile Bounds bounds = Bounds.DEFAULT;
    private volatile int waiting;
    private volatile long bytes;
    private volatile long meanGrantNanos;

    /** How many wait for which replicas. */
    private final IdentityHashMap<Candidates, Integer> wishes = new IdentityHashMap<>();

    private final TreeMap<Integer, PriorityClass> classes = new TreeMap<>();
    private long lineNumber;
    private long lastGrantNanos;
    private boolean grantedBefore;
    /** Tokens served to its tenants, for each of those who waited; compared among pools that want the same slot. */
    double served;

    /** The round of the queue in which nobody here could be served. */
    long servedNobodyIn;

    Pool(String name, int index) {
        this.name = name;
        this.index = index;
    }

    /** The model's own name. */
    public String name() {
        return name;
    }

    /** A small number, unique in its queue, for tables of what belongs to pools. */
    public int index() {
        return index;
    }

    /** Any thread. */
    public Bounds bounds() {
        return bounds;
    }

    /** Any thread; the newest counts, also for those who wait already. */
    public void bounds(Bounds newest) {
        bounds = newest;
    }

    /** Requests that wait. Any thread. */
    public int waiting() {
        return waiting;
    }

    /** Bytes of prompts that wait. Any thread. */
    public long bytes() {
        return bytes;
    }

    /** Seconds that whoever came last will wait, as far as the last grants tell; 0 when nobody waits. Any thread. */
    public double estimatedWaitSeconds() {
        return waiting * (meanGrantNanos / 1e9);
    }

    boolean isOverBounds() {
        return waiting > bounds.requests() || bytes > bounds.bytes();
    }

    /** The classes, the most urgent first. */
    Iterable<PriorityClass> classes() {
        return classes.values();
    }

    /** Somebody waits again: a pool that asked for nothing has no claim on the time before. */
    void returns(List<Pool> busy) {
        double least = Double.MAX_VALUE;
        for (Pool other : busy) {
            least = Math.min(least, other.served);
        }
        served = busy.isEmpty() ? served : Math.max(served, least);
    }

    /** @return whether it is the first that waits for these replicas */
    boolean add(Waiter waiter) {
        PriorityClass of = classes.computeIfAbsent(waiter.claim.priority(), PriorityClass::new);
        Line line = of.line(waiter.claim.tenant());
        if (line.isEmpty()) {
            // who comes back from having nothing to ask for has no claim on the time before
            line.served = Math.max(line.served, of.leastServed);
            line.add(waiter);
            of.active.add(line);
        } else if (waiter.wish.again()) {
            line.addFirst(waiter);
        } else {
            line.add(waiter);
        }
        waiter.line = line;
        waiting++;
        bytes += waiter.wish.bytes();
        return count(waiter.wish.candidates(), 1) == 1;
    }

    /**
     * Takes a waiter out.
     *
     * @return whether it was the last that waits for these replicas
     */
    boolean remove(Waiter waiter) {
        Line line = lineOf(waiter);
        line.remove(waiter);
        waiting--;
        bytes -= waiter.wish.bytes();
        if (line.isEmpty()) {
            PriorityClass of = classOf(line);
            of.active.remove(line);
        }
        return count(waiter.wish.candidates(), -1) == 0;
    }

    /** Those who may go to the same replicas share one object. */
    private int count(Candidates wanted, int more) {
        Integer left = wishes.merge(wanted, more, (a, b) -> a + b == 0 ? null : a + b);
        return left == null ? 0 : left;
    }

    /** Whether somebody waits for one of these. */
    boolean wants(Candidates candidates) {
        return wishes.containsKey(candidates);
    }

    /** A waiter has been served what it is expected to cost. */
    void charge(Waiter waiter, long nowNanos) {
        Line line = lineOf(waiter);
        PriorityClass of = classOf(line);
        of.leastServed = Math.max(of.leastServed, of.least(line));
        int tenants = line.isEmpty() ? 1 : 0;
        for (PriorityClass each : classes.values()) {
            tenants += each.active.size();
        }
        served += waiter.claim.tokens() / (double) tenants;
        charge(line, waiter.claim.tokens() / (double) waiter.claim.weight());
        of.forgetIdleLines();
        if (grantedBefore) {
            long since = nowNanos - lastGrantNanos;
            meanGrantNanos = meanGrantNanos == 0 ? since : meanGrantNanos + (long) ((since - meanGrantNanos) * NEWEST);
        }
        grantedBefore = waiting > 0;
        lastGrantNanos = nowNanos;
    }

    /** A waiter that was served has cost more or less than expected. */
    void correct(Waiter waiter, long tokens) {
        charge(lineOf(waiter), (tokens - waiter.claim.tokens()) / (double) waiter.claim.weight());
    }

    private void charge(Line line, double tokens) {
        PriorityClass of = classOf(line);
        boolean ordered = of.active.remove(line);
        line.served += tokens;
        if (ordered) {
            of.active.add(line);
        }
    }

    /** Tenants that are kept in mind, those who wait included. */
    int rememberedLines() {
        return classes.values().stream().mapToInt(of -> of.lines.size()).sum();
    }

    /** Who is served next; null when nobody waits. */
    @Nullable
    Waiter head() {
        for (PriorityClass of : classes.values()) {
            if (!of.active.isEmpty()) {
                return of.active.first().first;
            }
        }
        return null;
    }

    private PriorityClass classOf(Line line) {
        PriorityClass of = classes.get(line.priority);
        if (of == null) {
            throw new IllegalStateException("no class " + line.priority);
        }
        return of;
    }

    private static Line lineOf(Waiter waiter) {
        Line line = waiter.line;
        if (line == null) {
            throw new IllegalStateException("never waited");
        }
        return line;
    }

    /** Requests of equal urgency: tenants take turns by what they have been served. */
    final class PriorityClass {

        private final int priority;
        private final Map<String, Line> lines = new HashMap<>();
        /** Lines with waiters, the least served first. */
        final TreeSet<Line> active = new TreeSet<>((a, b) -> {
            int order = Double.compare(a.served, b.served);
            return order != 0 ? order : Long.compare(a.number, b.number);
        });

        private double leastServed;

        PriorityClass(int priority) {
            this.priority = priority;
        }

        private Line line(String tenant) {
            return lines.computeIfAbsent(tenant, name -> new Line(name, priority, lineNumber++));
        }

        /** What the one whose turn it is has been served, whether it or another could use the slot. */
        private double least(Line granted) {
            return active.isEmpty() ? granted.served : Math.min(granted.served, active.first().served);
        }

        private void forgetIdleLines() {
            if (lines.size() - active.size() <= MAX_IDLE_LINES) {
                return;
            }
            lines.values().removeIf(line -> line.isEmpty() && line.served <= leastServed);
            if (lines.size() - active.size() > MAX_IDLE_LINES / 2) {
                lines.values().removeIf(Line::isEmpty);
            }
        }
    }
}
