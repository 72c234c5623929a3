package routes.replica;

import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The registry of replicas by identity, and of the configured addresses that stand for them.
 *
 * <p><b>Threading:</b> any thread; used when routes start and when names lead elsewhere, never by a request. Listeners are
 * called under its monitor and must not block.
 */
public final class Replicas {

    /** Who wants to know which replicas there are. */
    public interface Listener {

        /** A replica that was not there before. */
        default void added(Replica replica) {}

        /** No route leads to the replica any more. It may still have requests. */
        default void removed(Replica replica) {}

        /** An address that was not configured before; whoever can find its members follows it. */
        default void added(ReplicaGroup group) {}

        /** The replicas of an address have changed. */
        default void changed(ReplicaGroup group) {}
    }

    private final Map<ReplicaAddress, Replica> byAddress = new LinkedHashMap<>();
    /** Groups that a replica stands in. */
    private final Map<Replica, Integer> groupsOf = new LinkedHashMap<>();

    private final Map<Key, ReplicaGroup> groups = new LinkedHashMap<>();
    private final Consumer<Replica> onFreed;
    private final List<Listener> listeners = new CopyOnWriteArrayList<>();
    private int count;

    private record Key(ReplicaAddress address, ReplicaGroup.Mode mode) {}

    /** Replicas that nobody waits for. */
    public Replicas() {
        this(replica -> {});
    }

    /** @param onFreed told when a slot is given back that somebody waits for; called by whoever gives it back */
    public Replicas(Consumer<Replica> onFreed) {
        this.onFreed = onFreed;
    }

    /** Called for all that comes later, and at once for all that is known. */
    public synchronized void listen(Listener listener) {
        listeners.add(listener);
        groups.values().forEach(listener::added);
        all().forEach(listener::added);
    }

    /** Calls it no more. */
    public void unlisten(Listener listener) {
        listeners.remove(listener);
    }

    /**
     * The replicas that this address stands for. One that is a literal address is found at once, others by a listener.
     *
     * @throws IllegalArgumentException when another route says something else about the same server
     */
    public synchronized ReplicaGroup group(ReplicaAddress address, ReplicaOptions options, ReplicaGroup.Mode mode) {
        ReplicaGroup known = groups.get(new Key(address, mode));
        if (known != null) {
            agree(address, known.options(), options);
            return known;
        }
        ReplicaGroup group = new ReplicaGroup(this, address, options, mode);
        InetSocketAddress literal = literal(address);
        if (mode == ReplicaGroup.Mode.ONE) {
            group.only(join(group, address, literal));
        }
        if (literal != null) {
            group.members(List.of(new ReplicaGroup.Member(literal)));
        }
        groups.put(new Key(address, mode), group);
        listeners.forEach(listener -> listener.added(group));
        return group;
    }

    /** The replica at a literal address, of which only its slots are known. */
    public Replica replica(ReplicaAddress address, int slots) {
        return group(address, ReplicaOptions.slots(slots), ReplicaGroup.Mode.ONE)
                .replicas()
                .get(0);
    }

    /** All that routes lead to. */
    public synchronized Collection<Replica> all() {
        return List.copyOf(groupsOf.keySet());
    }

    /** All configured addresses. */
    public synchronized Collection<ReplicaGroup> groups() {
        return List.copyOf(groups.values());
    }

    // ---- for groups

    synchronized Replica join(ReplicaGroup group, ReplicaAddress identity, @Nullable InetSocketAddress at) {
        ReplicaOptions options = group.options();
        forgetTheQuiet();
        Replica replica = byAddress.get(identity);
        if (replica == null) {
            replica = new Replica(identity, group.address(), count++, options, onFreed);
            byAddress.put(identity, replica);
        } else {
            agree(identity, replica.options(), options);
        }
        if (at != null) {
            replica.resolved(at);
        }
        if (groupsOf.merge(replica, 1, Integer::sum) == 1) {
            Replica joined = replica;
            listeners.forEach(listener -> listener.added(joined));
        }
        return replica;
    }

    synchronized void leave(Replica replica) {
        if (groupsOf.merge(replica, -1, (a, b) -> a + b == 0 ? null : a + b) == null) {
            listeners.forEach(listener -> listener.removed(replica));
        }
    }

    synchronized void changed(ReplicaGroup group) {
        listeners.forEach(listener -> listener.changed(group));
    }

    /** One that has left is remembered for its slots as long as it has requests. */
    private void forgetTheQuiet() {
        new ArrayList<>(byAddress.values())
                .stream()
                        .filter(replica -> !groupsOf.containsKey(replica) && replica.inFlight() == 0)
                        .forEach(replica -> byAddress.remove(replica.address()));
    }

    private static void agree(ReplicaAddress address, ReplicaOptions known, ReplicaOptions asked) {
        if (known.slots() != asked.slots()) {
            throw new IllegalArgumentException("slots of " + address + ": " + asked.slots() + " (expected: "
                    + known.slots() + ", as another route says; one server has one number of slots)");
        }
        if (!known.equals(asked)) {
            throw new IllegalArgumentException(
                    "options of " + address + ": " + asked + " (expected: " + known + ", as another route says)");
        }
    }

    private static @Nullable InetSocketAddress literal(ReplicaAddress address) {
        byte[] bytes = NetUtil.createByteArrayFromIpAddressString(address.host());
        if (bytes == null || !address.isDirect()) {
            return null;
        }
        try {
            return new InetSocketAddress(InetAddress.getByAddress(bytes), address.port());
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(address.toString(), e);
        }
    }
}
