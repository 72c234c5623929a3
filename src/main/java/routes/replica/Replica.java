package routes.replica;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import net.openhft.hashing.LongHashFunction;
import org.jspecify.annotations.Nullable;

/**
 * One server that runs models: its address, its slots and what it has done.
 *
 * <p><b>Threading:</b> any thread; counters are atomics.
 */
public final class Replica {

    private final ReplicaAddress address;
    private final String name;
    private final int index;
    private final int slots;
    private final long hash;
    private final AtomicInteger inFlight = new AtomicInteger();
    private final LongAdder errors = new LongAdder();
    private final Consumer<Replica> onFreed;
    private volatile @Nullable InetSocketAddress socketAddress;
    private volatile int wanted;

    Replica(ReplicaAddress address, int index, int slots, Consumer<Replica> onFreed) {
        this.address = address;
        this.name = address.toString();
        this.index = index;
        this.slots = slots;
        this.onFreed = onFreed;
        this.hash = LongHashFunction.xx3().hashBytes(name.getBytes(StandardCharsets.UTF_8));
    }

    /** Scheme, host, port and base path: the replica's identity. */
    public ReplicaAddress address() {
        return address;
    }

    /** A small number, unique in this process, for tables kept by each event loop. */
    public int index() {
        return index;
    }

    /** Hash of the identity, the same in every gateway. */
    public long hash() {
        return hash;
    }

    /** Most requests of this gateway that run here at once. */
    public int slots() {
        return slots;
    }

    public int inFlight() {
        return inFlight.get();
    }

    /** Slots that a request for so many answers takes: one each, and never more than there are. */
    public int slotsFor(int answers) {
        return Math.min(answers, slots);
    }

    /** Takes slots; false, and nothing taken, when there are not so many free. */
    public boolean tryAcquire(int count) {
        for (int taken = inFlight.get(); taken <= slots - count; taken = inFlight.get()) {
            if (inFlight.compareAndSet(taken, taken + count)) {
                return true;
            }
        }
        return false;
    }

    /** Whether so many slots are free. */
    public boolean hasFree(int count) {
        return inFlight.get() <= slots - count;
    }

    /** Gives slots back, and tells the queue when somebody waits for them. */
    public void release(int count) {
        inFlight.addAndGet(-count);
        if (wanted != 0) {
            onFreed.accept(this);
        }
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
    @SuppressWarnings("NonAtomicVolatileUpdate")
    public void wanted(int more) {
        wanted += more;
    }

    /** Counts a failure of this replica: refused, reset, garbage or an answer that broke off. */
    public void countError() {
        errors.increment();
    }

    public long errors() {
        return errors.sum();
    }

    /** Where to connect; null while the name has never been resolved. */
    public @Nullable InetSocketAddress socketAddress() {
        return socketAddress;
    }

    void resolved(InetSocketAddress to) {
        socketAddress = to;
    }

    @Override
    public String toString() {
        return name;
    }
}
