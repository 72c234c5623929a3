package routes.replica;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The registry of replicas by identity.
 *
 * <p><b>Threading:</b> any thread; used when routes start, never by a request.
 */
public final class Replicas {

    private static final Logger LOG = LoggerFactory.getLogger(Replicas.class);

    private final Map<ReplicaAddress, Replica> byAddress = new LinkedHashMap<>();
    private final Consumer<Replica> onFreed;
    private Consumer<Replica> onNew = replica -> {};

    /** Replicas that nobody waits for. */
    public Replicas() {
        this(replica -> {});
    }

    /** @param onFreed told when a slot is given back that somebody waits for; called by whoever gives it back */
    public Replicas(Consumer<Replica> onFreed) {
        this.onFreed = onFreed;
    }

    /** Called for each replica that is named for the first time, and at once for those already known. */
    public synchronized void onNew(Consumer<Replica> listener) {
        onNew = listener;
        byAddress.values().forEach(listener);
    }

    /**
     * The replica at this address; resolves its name, which may block.
     *
     * @throws IllegalArgumentException when another route gives it another number of slots
     */
    public synchronized Replica replica(ReplicaAddress address, int slots) {
        if (slots < 1) {
            throw new IllegalArgumentException("slots of " + address + ": " + slots + " (expected: >= 1)");
        }
        Replica known = byAddress.get(address);
        if (known == null) {
            known = new Replica(address, byAddress.size(), slots, onFreed);
            byAddress.put(address, known);
            onNew.accept(known);
        } else if (known.slots() != slots) {
            throw new IllegalArgumentException("slots of " + address + ": " + slots + " (expected: " + known.slots()
                    + ", as another route says; one server has one number of slots)");
        }
        if (known.socketAddress() == null) {
            resolve(known);
        }
        return known;
    }

    public synchronized Collection<Replica> all() {
        return List.copyOf(byAddress.values());
    }

    private static void resolve(Replica replica) {
        ReplicaAddress address = replica.address();
        try {
            replica.resolved(new InetSocketAddress(InetAddress.getByName(address.host()), address.port()));
        } catch (UnknownHostException e) {
            LOG.warn("Replica {} is down: its name can't be resolved", address);
        }
    }
}
