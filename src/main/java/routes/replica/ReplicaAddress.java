package routes.replica;

import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A replica's identity: scheme, host, port and base path.
 *
 * @param host a name or an address; IPv6 without brackets
 * @param basePath empty, or {@code /base} without a slash at the end
 */
public record ReplicaAddress(String scheme, String host, int port, String basePath) {

    /** Underscores too: names of services in compose files have them. */
    private static final Pattern AUTHORITY =
            Pattern.compile("(?:(?<host>[A-Za-z0-9_.-]+)|\\[(?<v6>[0-9A-Fa-f:.]+)])(?::(?<port>[0-9]{1,5}))?");

    private static final int HTTP_PORT = 80;
    private static final int HTTPS_PORT = 443;

    /** Addresses with this scheme are {@code k8s://namespace/service:port}; whoever watches the cluster knows the members. */
    public static final String KUBERNETES = "k8s";

    /**
     * Reads {@code http://host:port/base}, {@code https://host:port/base} or {@code k8s://namespace/service:port}. The host
     * of the latter is {@code service.namespace}.
     *
     * @throws IllegalArgumentException saying what is expected
     */
    public static ReplicaAddress parse(String text) {
        try {
            URI uri = new URI(text.contains("://") ? text : "http://" + text);
            String scheme = uri.getScheme().toLowerCase(Locale.ROOT);
            if (scheme.equals(KUBERNETES)) {
                return kubernetes(text, uri);
            }
            if (!scheme.equals("http") && !scheme.equals("https")) {
                throw invalid(text, "the scheme must be http, https or k8s");
            }
            if (uri.getRawUserInfo() != null || uri.getRawQuery() != null || uri.getRawFragment() != null) {
                throw invalid(text, "a host, an optional port and an optional base path");
            }
            Matcher authority = AUTHORITY.matcher(uri.getRawAuthority() == null ? "" : uri.getRawAuthority());
            if (!authority.matches()) {
                throw invalid(text, "a host, an optional port and an optional base path");
            }
            String host = authority.group("host") == null ? authority.group("v6") : authority.group("host");
            int port =
                    authority.group("port") == null ? defaultPort(scheme) : Integer.parseInt(authority.group("port"));
            if (port < 1 || port > 65535) {
                throw invalid(text, "a port from 1 to 65535");
            }
            String base = uri.getRawPath() == null ? "" : uri.getRawPath();
            while (base.endsWith("/")) {
                base = base.substring(0, base.length() - 1);
            }
            return new ReplicaAddress(scheme, host.toLowerCase(Locale.ROOT), port, base);
        } catch (URISyntaxException e) {
            throw invalid(text, e.getReason());
        }
    }

    private static ReplicaAddress kubernetes(String text, URI uri) {
        String path = uri.getRawPath() == null ? "" : uri.getRawPath();
        int colon = path.indexOf(':');
        if (uri.getHost() == null || colon < 2 || path.indexOf('/', 1) >= 0) {
            throw invalid(text, "k8s://namespace/service:port");
        }
        int port;
        try {
            port = Integer.parseInt(path.substring(colon + 1));
        } catch (NumberFormatException e) {
            throw invalid(text, "k8s://namespace/service:port with a number");
        }
        return new ReplicaAddress(KUBERNETES, path.substring(1, colon) + "." + uri.getHost(), port, "");
    }

    /** The server of this address at one of its name's addresses. */
    public ReplicaAddress at(InetSocketAddress address) {
        String literal = NetUtil.toAddressString(address.getAddress());
        return new ReplicaAddress(isDirect() ? scheme : "http", literal, address.getPort(), basePath);
    }

    /** Whether requests can be sent to it, rather than to what a cluster knows behind it. */
    public boolean isDirect() {
        return !scheme.equals(KUBERNETES);
    }

    /** Whether it is spoken to over TLS. */
    public boolean isSecure() {
        return scheme.equals("https");
    }

    /** The host as certificates and servers know it: without the dot at the end that keeps search domains away. */
    public String serverName() {
        return host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
    }

    /** The {@code Host} header: the host, IPv6 in brackets, and the port unless it is the scheme's own. */
    public String authority() {
        String name = host.indexOf(':') >= 0 ? "[" + host + "]" : serverName();
        return port == defaultPort(scheme) ? name : name + ":" + port;
    }

    /** With the port always, so that equal addresses look alike. */
    @Override
    public String toString() {
        String name = host.indexOf(':') >= 0 ? "[" + host + "]" : host;
        return scheme + "://" + name + ":" + port + basePath;
    }

    private static int defaultPort(String scheme) {
        return scheme.equals("https") ? HTTPS_PORT : HTTP_PORT;
    }

    private static IllegalArgumentException invalid(String text, String expected) {
        return new IllegalArgumentException(
                "replica address '" + text + "' (expected: http[s]://host:port[/base]; " + expected + ")");
    }
}
