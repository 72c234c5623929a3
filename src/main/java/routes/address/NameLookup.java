package routes.address;

import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.dns.DnsResponseCode;
import io.netty.resolver.ResolvedAddressTypes;
import io.netty.resolver.dns.DefaultDnsCache;
import io.netty.resolver.dns.DnsCache;
import io.netty.resolver.dns.DnsErrorCauseException;
import io.netty.resolver.dns.DnsNameResolver;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.resolver.dns.DnsNameResolverChannelStrategy;
import io.netty.resolver.dns.DnsNameResolverTimeoutException;
import io.netty.resolver.dns.SequentialDnsServerAddressStreamProvider;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import routes.config.Setting;
import routes.config.Settings;

/**
 * Finds the addresses of a name: in the hosts file, else at the name servers, which are not asked again before an answer's
 * time to live has passed. IPv6 counts when the name servers say that there is no IPv4 address; when they can't say, the
 * look-up has failed.
 *
 * <p><b>Threading:</b> confined to its event loop, which it never blocks but for reading the hosts file.
 */
final class NameLookup implements AutoCloseable {

    private static final int DNS_PORT = 53;
    private static final int QUERY_TIMEOUT_MILLIS = 2_000;

    /** Enough for every search domain and a few aliases. */
    private static final int MOST_QUERIES = 32;

    private final EventLoop loop;
    private final HostsFile hosts;
    private final DnsNameResolver ipv4;
    private final DnsNameResolver ipv6;

    /** @throws IllegalArgumentException naming the setting that is wrong */
    NameLookup(EventLoop loop, HostsFile hosts, Settings settings) {
        long minTtl = settings.duration(Setting.DNS_MIN_TTL).toMillis();
        long maxTtl = settings.duration(Setting.DNS_MAX_TTL).toMillis();
        if (minTtl > maxTtl) {
            throw invalid(Setting.DNS_MIN_TTL, settings, "at most " + Setting.DNS_MAX_TTL.key());
        }
        this.loop = loop;
        this.hosts = hosts;
        // failures are not kept: the next look asks again
        DnsCache cache = new DefaultDnsCache((int) (minTtl / 1_000), (int) (maxTtl / 1_000), 0);
        List<InetSocketAddress> servers = servers(settings);
        this.ipv4 = resolver(loop, ResolvedAddressTypes.IPV4_ONLY, cache, servers);
        this.ipv6 = resolver(loop, ResolvedAddressTypes.IPV6_ONLY, cache, servers);
    }

    private static DnsNameResolver resolver(
            EventLoop loop, ResolvedAddressTypes family, DnsCache cache, List<InetSocketAddress> servers) {
        DnsNameResolverBuilder builder = new DnsNameResolverBuilder(loop)
                .datagramChannelType(NioDatagramChannel.class)
                // a port of its own for each look-up: harder to forge an answer to
                .datagramChannelStrategy(DnsNameResolverChannelStrategy.ChannelPerResolution)
                .socketChannelType(NioSocketChannel.class)
                .resolvedAddressTypes(family)
                .resolveCache(cache)
                .hostsFileEntriesResolver((host, families) -> null)
                .queryTimeoutMillis(QUERY_TIMEOUT_MILLIS)
                .maxQueriesPerResolve(MOST_QUERIES);
        if (!servers.isEmpty()) {
            builder.nameServerProvider(new SequentialDnsServerAddressStreamProvider(servers));
        }
        return builder.build();
    }

    private static List<InetSocketAddress> servers(Settings settings) {
        List<InetSocketAddress> servers = new ArrayList<>();
        for (String text : settings.names(Setting.DNS_SERVERS)) {
            InetSocketAddress server = IpAddresses.parse(text, DNS_PORT);
            if (server == null) {
                throw invalid(
                        Setting.DNS_SERVERS,
                        settings,
                        "addresses such as 10.0.0.2, 10.0.0.2:5353 or [::1]:53, separated by commas");
            }
            servers.add(server);
        }
        return servers;
    }

    private static IllegalArgumentException invalid(Setting setting, Settings settings, String expected) {
        return new IllegalArgumentException(setting.key() + ": '" + settings.text(setting) + "' (expected: " + expected
                + "; environment: " + setting.environmentName() + ")");
    }

    /** At least one address, all of one family, in an order that all gateways agree on. */
    Future<List<InetAddress>> addresses(String name) {
        List<InetAddress> known = hosts.addresses(name);
        if (!known.isEmpty()) {
            return loop.newSucceededFuture(IpAddresses.ofOneFamily(known));
        }
        Promise<List<InetAddress>> found = loop.newPromise();
        ipv4.resolveAll(name).addListener((Future<List<InetAddress>> answer) -> {
            if (!answer.isSuccess() && hasNone(answer.cause())) {
                ipv6.resolveAll(name).addListener((Future<List<InetAddress>> second) -> complete(found, second));
            } else {
                complete(found, answer);
            }
        });
        return found;
    }

    private static void complete(Promise<List<InetAddress>> found, Future<List<InetAddress>> answer) {
        if (answer.isSuccess()) {
            found.trySuccess(IpAddresses.ofOneFamily(answer.getNow()));
        } else {
            found.tryFailure(answer.cause());
        }
    }

    /** Whether the name servers know that there is no such address, rather than not knowing. */
    private static boolean hasNone(Throwable failure) {
        Throwable cause = failure.getCause();
        return cause == null || DnsResponseCode.NXDOMAIN.equals(code(cause));
    }

    /** Why a look-up failed, for the log. */
    static String reason(Throwable failure) {
        Throwable cause = failure.getCause();
        if (cause instanceof DnsNameResolverTimeoutException) {
            return "no answer from the name servers";
        }
        if (cause == null) {
            return "it has no address";
        }
        DnsResponseCode code = code(cause);
        if (DnsResponseCode.NXDOMAIN.equals(code)) {
            return "there is no such name";
        }
        return code == null ? cause.toString() : "the name servers say " + code;
    }

    private static @Nullable DnsResponseCode code(Throwable cause) {
        return cause instanceof DnsErrorCauseException error ? error.getCode() : null;
    }

    @Override
    public void close() {
        ipv4.close();
        ipv6.close();
    }
}
