package routes.replica;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import net.openhft.hashing.LongHashFunction;
import org.jspecify.annotations.Nullable;

/**
 * One server that runs models: its address, its slots, what it has done, and whether it may be chosen.
 *
 * <p>Three voices say whether: probes and the address ({@link #isUp}), a breaker that saw it fail ({@link #suspect}), and
 * the replica itself when it asks for a rest ({@link #rest}). The first is final; the others only make it the last choice,
 * so that signals of single requests never take a pool's last replica out.
 *
 * <p><b>Threading:</b> any thread; counters are atomics.
 */
@SuppressWarnings("NonAtomicVolatileUpdate") // guarded as each method says
public final class Replica implements Load {

    /** Whether a replica may be chosen. */
    public enum Fitness {
        /** It can't serve. */
        NONE,
        /** Only when nobody fit is left. */
        LAST_CHOICE,
        FIT
    }

    /** How a replica is, for whoever looks at it. The first that applies counts. */
    public enum State {
        /** Its name has not been found yet. */
        UNRESOLVED,
        /** Its probes fail. */
        DOWN,
        /** It is about to stop and takes no new requests. */
        LEAVING,
        /** Its breaker has seen it fail: asked only when nobody else is left. */
        SUSPECT,
        /** It has asked for a rest: asked only when nobody else is left. */
        RESTING,
        UP;

        private final String label = name().toLowerCase(Locale.ROOT);

        /** The value in metrics and consoles, such as {@code leaving}. */
        public String label() {
            return label;
        }
    }

    private final ReplicaAddress address;
    private final ReplicaAddress configured;
    private final String name;
    private final int index;
    private final ReplicaOptions options;
    private final long hash;
    private final AtomicInteger inFlight = new AtomicInteger();
    private final LongAdder errors = new LongAdder();
    private final Consumer<Replica> onFreed;
    private final AtomicInteger awaited = new AtomicInteger();
    private final Backlog backlog = new Backlog();
    private volatile @Nullable InetSocketAddress socketAddress;
    private volatile int wanted;

    private volatile boolean down;
    private volatile boolean leaving;
    private volatile boolean suspect;
    private volatile long restsUntilNanos;
    private volatile int limit;
    private volatile int foreign;
    private volatile int foreignWaiting;
    private volatile int peak;

    Replica(
            ReplicaAddress address,
            ReplicaAddress configured,
            int index,
            ReplicaOptions options,
            Consumer<Replica> onFreed) {
        this.address = address;
        this.configured = configured;
        this.name = address.toString();
        this.index = index;
        this.options = options;
        this.limit = options.slots();
        this.onFreed = onFreed;
        this.hash = LongHashFunction.xx3().hashBytes(name.getBytes(StandardCharsets.UTF_8));
    }

    /** Scheme, host, port and base path: the replica's identity. */
    public ReplicaAddress address() {
        return address;
    }

    /** The address as a route gives it, with the name that {@code Host} and TLS want; behind it there may be others. */
    public ReplicaAddress configured() {
        return configured;
    }

    /** A small number, unique in this process, for tables kept by each event loop. */
    public int index() {
        return index;
    }

    @Override
    public long hash() {
        return hash;
    }

    public ReplicaOptions options() {
        return options;
    }

    // ---- slots

    /** Most requests of this gateway that run here at once. */
    @Override
    public int slots() {
        return options.slots();
    }

    @Override
    public int inFlight() {
        return inFlight.get();
    }

    /** Slots that a request for so many answers takes: one each, and never more than there are. */
    public int slotsFor(int answers) {
        return Math.min(answers, options.slots());
    }

    /** Takes slots; false, and nothing taken, when there are not so many free. */
    public boolean tryAcquire(int count) {
        for (int taken = inFlight.get(); taken <= room() - count; taken = inFlight.get()) {
            if (inFlight.compareAndSet(taken, taken + count)) {
                if (taken + count > peak) {
                    peak = taken + count;
                }
                return true;
            }
        }
        return false;
    }

    /** Whether so many slots are free. */
    public boolean hasFree(int count) {
        return inFlight.get() <= room() - count;
    }

    /**
     * Slots that are there for us: fewer than {@link #slots} after a return, and while others use the replica; below zero
     * when others use more than there are.
     */
    public int room() {
        return Math.min(limit, options.slots() - foreign);
    }

    /** Gives slots back, and tells the queue when somebody waits for them. */
    public void release(int count) {
        inFlight.addAndGet(-count);
        changed();
    }

    /**
     * Gives slots back without telling the queue.
     *
     * <p><b>Threading:</b> under the queue's lock.
     */
    public void giveBack(int count) {
        inFlight.addAndGet(-count);
    }

    /** Whether somebody waits for a slot: then only the queue gives them out. */
    public boolean isWanted() {
        return wanted != 0;
    }

    /**
     * More or fewer wait for a slot here.
     *
     * <p><b>Threading:</b> under the queue's lock.
     */
    public void wanted(int more) {
        wanted += more;
    }

    @Override
    public void awaited(int more) {
        awaited.addAndGet(more);
    }

    @Override
    public int awaited() {
        return awaited.get();
    }

    @Override
    public long waitNanos(int count, int ahead) {
        boolean free = hasFree(count);
        return free && ahead == 0 ? 0 : backlog.waitNanos(inFlight.get() + foreign, free ? ahead : count + ahead);
    }

    @Override
    public Backlog backlog() {
        return backlog;
    }

    private void changed() {
        if (wanted != 0) {
            onFreed.accept(this);
        }
    }

    // ---- whether it may be chosen

    public Fitness fitness() {
        if (down || leaving || socketAddress == null) {
            return Fitness.NONE;
        }
        return suspect || isResting() ? Fitness.LAST_CHOICE : Fitness.FIT;
    }

    /** Whether it can serve as far as probes and addresses tell; breakers and rests aside. */
    public boolean isUp() {
        return fitness() != Fitness.NONE;
    }

    public State state() {
        if (socketAddress == null) {
            return State.UNRESOLVED;
        }
        if (down) {
            return State.DOWN;
        }
        if (leaving) {
            return State.LEAVING;
        }
        if (suspect) {
            return State.SUSPECT;
        }
        return isResting() ? State.RESTING : State.UP;
    }

    /** Probes say that it can serve, or that it can't. */
    public void up(boolean now) {
        down = !now;
        changed();
    }

    /** It is about to stop: no new requests; those that run go on. */
    public void leaving(boolean now) {
        leaving = now;
        changed();
    }

    /** It failed requests lately, or does so no more. */
    public void suspect(boolean now) {
        suspect = now;
        changed();
    }

    /** It asked not to be asked until then, of {@link System#nanoTime()}; {@link #rested} must be called after that. */
    public void rest(long untilNanos) {
        restsUntilNanos = untilNanos == 0 ? 1 : untilNanos;
        changed();
    }

    /** A rest may be over: tells those who wait. */
    public void rested() {
        if (!isResting()) {
            restsUntilNanos = 0;
            changed();
        }
    }

    private boolean isResting() {
        long until = restsUntilNanos;
        return until != 0 && until - System.nanoTime() > 0;
    }

    // ---- load

    /** Uses only so many of its slots, from 1 to {@link #slots}: it has just come back. */
    public void limit(int slotsNow) {
        limit = Math.max(1, Math.min(options.slots(), slotsNow));
        changed();
    }

    /**
     * Requests that are not ours; 0 when that isn't known. So the load that counts is
     * max(own, reported + own - own at the time of the report).
     *
     * @param requests that the replica runs or keeps waiting
     * @param waiting those of them that it keeps waiting
     */
    public void foreign(int requests, int waiting) {
        foreign = Math.max(0, requests);
        foreignWaiting = Math.max(0, waiting);
        changed();
    }

    @Override
    public int foreign() {
        return foreign;
    }

    @Override
    public int foreignWaiting() {
        return foreignWaiting;
    }

    /** From here on {@link #peak} counts. */
    public void beginPeak() {
        peak = inFlight.get();
    }

    /** Most slots that were taken at once since {@link #beginPeak}; may miss one that was given back at once. */
    public int peak() {
        return Math.max(peak, inFlight.get());
    }

    // ---- what it has done

    /** Counts a failure of this replica: refused, reset, garbage or an answer that broke off. */
    public void countError() {
        errors.increment();
    }

    public long errors() {
        return errors.sum();
    }

    // ---- where it is

    /** Where to connect; null while the name has never been resolved. */
    public @Nullable InetSocketAddress socketAddress() {
        return socketAddress;
    }

    void resolved(InetSocketAddress to) {
        if (!to.equals(socketAddress)) {
            socketAddress = to;
            changed();
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
