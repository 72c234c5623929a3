package routes.replica;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
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
    private volatile @Nullable InetSocketAddress socketAddress;

    Replica(ReplicaAddress address, int index, int slots) {
        this.address = address;
        this.name = address.toString();
        this.index = index;
        this.slots = slots;
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

    /** Takes a slot; false when all are taken. */
    public boolean tryAcquire() {
        for (int taken = inFlight.get(); taken < slots; taken = inFlight.get()) {
            if (inFlight.compareAndSet(taken, taken + 1)) {
                return true;
            }
        }
        return false;
    }

    public boolean hasFreeSlot() {
        return inFlight.get() < slots;
    }

    public void release() {
        inFlight.decrementAndGet();
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
