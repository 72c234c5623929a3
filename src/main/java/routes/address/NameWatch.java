package routes.address;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import routes.config.Setting;
import routes.config.Settings;
import routes.net.EventLoops;
import routes.replica.ReplicaAddress;
import routes.replica.ReplicaGroup;
import routes.replica.ReplicaGroup.Member;
import routes.replica.Replicas;

/**
 * Follows the names of replicas: looks each up at once and then again and again, and tells its group where it leads.
 *
 * <p>The next look comes {@link Setting#DNS_MIN_TTL} after the last answer; whether the network is asked depends on the time
 * to live of what is known.
 *
 * <p><b>Threading:</b> groups may be added by any thread; all else happens on the loop beside those of the requests.
 * <b>Failure:</b> the last good answer stays; the log has a line when a name begins to fail and when it is well again.
 */
public final class NameWatch implements Replicas.Listener, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(NameWatch.class);

    private final EventLoop loop;
    private final NameLookup lookup;
    private final long pauseNanos;
    private volatile boolean closed;

    /** @throws IllegalArgumentException naming the setting that is wrong */
    public NameWatch(EventLoops loops, Settings settings) {
        this(loops, settings, HostsFile.ofSystem());
    }

    NameWatch(EventLoops loops, Settings settings, HostsFile hosts) {
        this.loop = loops.watch();
        this.lookup = new NameLookup(loop, hosts, settings);
        this.pauseNanos = settings.nanos(Setting.DNS_MIN_TTL);
    }

    @Override
    public void added(ReplicaGroup group) {
        ReplicaAddress address = group.address();
        if (address.isDirect() && IpAddresses.parse(address.host()) == null) {
            loop.execute(new Name(group)::look);
        }
    }

    @Override
    public void close() {
        closed = true;
        lookup.close();
    }

    /** One name that is followed. */
    private final class Name {

        private final ReplicaGroup group;
        private List<Member> members = List.of();
        private boolean failing;

        Name(ReplicaGroup group) {
            this.group = group;
        }

        void look() {
            if (!closed) {
                lookup.addresses(group.address().host())
                        .addListener((Future<List<InetAddress>> answer) -> looked(answer));
            }
        }

        private void looked(Future<List<InetAddress>> answer) {
            if (closed || loop.isShuttingDown()) {
                return;
            }
            if (answer.isSuccess()) {
                found(answer.getNow());
            } else {
                failed(NameLookup.reason(answer.cause()));
            }
            loop.schedule(this::look, pauseNanos, TimeUnit.NANOSECONDS);
        }

        private void found(List<InetAddress> addresses) {
            int port = group.address().port();
            List<Member> now = addresses.stream()
                    .map(each -> new Member(new InetSocketAddress(each, port)))
                    .toList();
            try {
                if (!now.equals(members)) {
                    group.members(now);
                    members = now;
                    LOG.info("{} leads to {}", group, text(addresses));
                }
            } catch (IllegalArgumentException e) {
                failed(String.valueOf(e.getMessage()));
                return;
            }
            if (failing) {
                failing = false;
                LOG.warn("{} is followed again", group);
            }
        }

        private void failed(String reason) {
            if (!failing) {
                failing = true;
                LOG.warn(
                        "{} can't be followed: {}; {}",
                        group,
                        reason,
                        members.isEmpty() ? "it is down until it can" : "its last addresses stay in use");
            }
        }

        private static String text(List<InetAddress> addresses) {
            return String.join(
                    ", ", addresses.stream().map(InetAddress::getHostAddress).toList());
        }
    }
}
