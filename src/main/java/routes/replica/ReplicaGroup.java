package routes.replica;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The replicas that one configured address stands for: one, wherever its name leads, or one for each address of it.
 *
 * <p><b>Threading:</b> any thread; {@link #members} by one thread at a time.
 */
public final class ReplicaGroup {

    /** What an address stands for. */
    public enum Mode {
        /** One replica; its name may lead elsewhere later. */
        ONE,
        /** One replica for each address of the name. */
        ALL
    }

    /**
     * One server that a look-up found.
     *
     * @param address resolved
     * @param leaving whether it is about to stop and takes no new requests
     */
    public record Member(InetSocketAddress address, boolean leaving) {
        public Member(InetSocketAddress address) {
            this(address, false);
        }
    }

    private final Replicas registry;
    private final ReplicaAddress address;
    private final ReplicaOptions options;
    private final Mode mode;
    private final CountDownLatch found = new CountDownLatch(1);
    private volatile List<Replica> replicas = List.of();

    ReplicaGroup(Replicas registry, ReplicaAddress address, ReplicaOptions options, Mode mode) {
        this.registry = registry;
        this.address = address;
        this.options = options;
        this.mode = mode;
    }

    /** As it was configured. */
    public ReplicaAddress address() {
        return address;
    }

    public Mode mode() {
        return mode;
    }

    ReplicaOptions options() {
        return options;
    }

    /** Those that there are now; the same list until they change. */
    public List<Replica> replicas() {
        return replicas;
    }

    /** The only replica of {@link Mode#ONE}; its address may be found later. */
    void only(Replica replica) {
        replicas = List.of(replica);
    }

    /** Waits until its members were found the first time; never on an event loop. */
    public boolean await(Duration longest) throws InterruptedException {
        return found.await(longest.toMillis(), TimeUnit.MILLISECONDS);
    }

    /**
     * What a look-up found. A replica that is not among them takes no new requests and keeps those that it has. An empty
     * list is the word of somebody who knows that there are none; a look-up that failed says nothing.
     */
    public void members(List<Member> now) {
        if (mode == Mode.ONE) {
            one(now);
        } else {
            all(now);
        }
        found.countDown();
    }

    /** Keeps its address as long as the name still leads there. */
    private void one(List<Member> now) {
        Replica replica = replicas.get(0);
        InetSocketAddress current = replica.socketAddress();
        if (!now.isEmpty() && now.stream().noneMatch(member -> member.address().equals(current))) {
            replica.resolved(now.get(0).address());
        }
    }

    private void all(List<Member> now) {
        List<Replica> before = replicas;
        List<Replica> next = new ArrayList<>();
        for (Member member : now) {
            ReplicaAddress identity = address.at(member.address());
            Replica replica = Stream.concat(next.stream(), before.stream())
                    .filter(each -> each.address().equals(identity))
                    .findFirst()
                    .orElseGet(() -> registry.join(this, identity, member.address()));
            if (!next.contains(replica)) {
                next.add(replica);
            }
            replica.leaving(member.leaving());
        }
        if (!next.equals(before)) {
            replicas = List.copyOf(next);
            registry.changed(this);
            before.stream().filter(each -> !next.contains(each)).forEach(registry::leave);
        }
    }

    @Override
    public String toString() {
        return address.toString();
    }
}
