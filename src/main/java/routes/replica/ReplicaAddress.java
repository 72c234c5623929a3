package routes.replica;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;

/**
 * A replica's identity: scheme, host, port and base path.
 *
 * @param host a name or an address; IPv6 without brackets
 * @param basePath empty, or {@code /base} without a slash at the end
 */
public record ReplicaAddress(String scheme, String host, int port, String basePath) {

    /**
     * Reads {@code http://host:port/base}.
     *
     * @throws IllegalArgumentException saying what is expected
     */
    public static ReplicaAddress parse(String text) {
        try {
            URI uri = new URI(text.contains("://") ? text : "http://" + text);
            String scheme = uri.getScheme().toLowerCase(Locale.ROOT);
            if (!scheme.equals("http")) {
                throw invalid(text, "the scheme must be http");
            }
            if (uri.getHost() == null
                    || uri.getRawUserInfo() != null
                    || uri.getRawQuery() != null
                    || uri.getRawFragment() != null) {
                throw invalid(text, "a host, an optional port and an optional base path");
            }
            String host = uri.getHost();
            if (host.startsWith("[")) {
                host = host.substring(1, host.length() - 1);
            }
            int port = uri.getPort() == -1 ? 80 : uri.getPort();
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

    /** The {@code Host} header: {@code host:port}, IPv6 in brackets. */
    public String authority() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }

    @Override
    public String toString() {
        return scheme + "://" + authority() + basePath;
    }

    private static IllegalArgumentException invalid(String text, String expected) {
        return new IllegalArgumentException(
                "replica address '" + text + "' (expected: http://host:port[/base]; " + expected + ")");
    }
}
