package routes.address;

import io.netty.util.NetUtil;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** IP addresses without look-ups: reading literals, and an order that all gateways agree on. */
final class IpAddresses {

    private static final Comparator<InetAddress> ORDER =
            (a, b) -> Arrays.compareUnsigned(a.getAddress(), b.getAddress());

    private IpAddresses() {}

    /** An address written as such, IPv6 without brackets; null when it is a name. */
    static @Nullable InetAddress parse(String text) {
        byte[] bytes = NetUtil.createByteArrayFromIpAddressString(text);
        if (bytes == null) {
            return null;
        }
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(text, e);
        }
    }

    /** An address and a port such as {@code 10.0.0.2:53} or {@code [::1]:53}, or an address alone; null when it is neither. */
    static @Nullable InetSocketAddress parse(String text, int defaultPort) {
        InetAddress alone = parse(text);
        if (alone != null && !text.startsWith("[")) {
            return new InetSocketAddress(alone, defaultPort);
        }
        int colon = text.lastIndexOf(':');
        int end = colon > text.lastIndexOf(']') ? colon : text.length();
        String host = text.substring(0, end);
        boolean bracketed = host.startsWith("[") && host.endsWith("]");
        InetAddress address = parse(bracketed ? host.substring(1, host.length() - 1) : host);
        if (address == null || bracketed == address instanceof Inet4Address) {
            return null;
        }
        try {
            int port = end == text.length() ? defaultPort : Integer.parseInt(text.substring(end + 1));
            return port < 1 || port > 65535 ? null : new InetSocketAddress(address, port);
        } catch (NumberFormatException e) {
            return null;
        }
    }

    /**
     * The IPv4 addresses in order, or those of IPv6 when there are no others: a server that has one of each is one server.
     */
    static List<InetAddress> ofOneFamily(Collection<InetAddress> addresses) {
        boolean ipv4 = addresses.stream().anyMatch(Inet4Address.class::isInstance);
        return addresses.stream()
                .filter(address -> address instanceof Inet4Address == ipv4)
                .distinct()
                .sorted(ORDER)
                .toList();
    }
}
