package routes.net;

import io.netty.channel.Channel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.util.NetUtil;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;

/**
 * TLS towards replicas: TLS 1.2 or 1.3 with the server's name announced (SNI) and verified, and sessions that are used
 * again by later connections to the same name and port.
 *
 * <p><b>Threading:</b> any thread. The file of a trust store is read once in the process, by {@link #check}.
 */
public final class Tls {

    private static final Map<String, SslContext> CONTEXTS = new ConcurrentHashMap<>();

    private Tls() {}

    /**
     * Reads a trust store.
     *
     * @param trustStore path of a PEM file with the certificates that alone are trusted; empty for the system's
     * @throws IllegalArgumentException saying what is wrong with the file
     */
    public static void check(String trustStore) {
        CONTEXTS.computeIfAbsent(trustStore, Tls::context);
    }

    /**
     * The handler for the beginning of one client connection's pipeline; its handshake begins with the connection.
     *
     * @param trustStore as it was given to {@link #check}
     * @param serverName the name, without a dot at its end, or the literal address that the certificate must be for
     */
    public static SslHandler handler(Channel channel, String trustStore, String serverName, int port) {
        SslHandler handler =
                CONTEXTS.computeIfAbsent(trustStore, Tls::context).newHandler(channel.alloc(), serverName, port);
        if (!NetUtil.isValidIpV4Address(serverName) && !NetUtil.isValidIpV6Address(serverName)) {
            announce(handler.engine(), serverName);
        }
        return handler;
    }

    /** The JDK on its own does not announce names without a dot, and as text none with an underscore. */
    private static void announce(SSLEngine engine, String serverName) {
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setServerNames(List.of(new SNIHostName(serverName.getBytes(StandardCharsets.US_ASCII))));
        engine.setSSLParameters(parameters);
    }

    private static SslContext context(String trustStore) {
        try {
            SslContextBuilder builder = SslContextBuilder.forClient()
                    .sslProvider(SslProvider.JDK)
                    .protocols("TLSv1.3", "TLSv1.2")
                    .endpointIdentificationAlgorithm("HTTPS");
            if (!trustStore.isEmpty()) {
                builder.trustManager(readable(trustStore));
            }
            return builder.build();
        } catch (SSLException | IllegalArgumentException e) {
            throw invalid(trustStore, e);
        }
    }

    private static File readable(String trustStore) {
        File file = new File(trustStore);
        if (!file.isFile() || !file.canRead()) {
            throw new IllegalArgumentException("no such file, or not readable");
        }
        return file;
    }

    private static IllegalArgumentException invalid(String trustStore, Exception why) {
        Throwable cause = why.getCause();
        String reason = why instanceof IllegalArgumentException && cause != null && cause.getMessage() != null
                ? cause.getMessage()
                : why.getMessage();
        return new IllegalArgumentException(
                "trust store '" + trustStore + "': " + reason + " (expected: a PEM file with certificates)", why);
    }
}
