package routes;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import org.apache.camel.CamelContext;
import org.apache.camel.component.platform.http.vertx.VertxPlatformHttpServer;
import routes.config.Setting;
import routes.config.Settings;

/** The port for health and metrics, which Camel's own server serves. */
final class ManagementPort {

    private ManagementPort() {}

    /** Makes sure that the port can be had: Camel logs that it can't and starts without. */
    static void check(CamelContext context, Settings settings) {
        boolean enabled = context.getPropertiesComponent()
                .resolveProperty("camel.management.enabled")
                .map(Boolean::parseBoolean)
                .orElse(false);
        if (!enabled) {
            return;
        }
        String host = settings.text(Setting.MANAGEMENT_HOST);
        int port = settings.integer(Setting.MANAGEMENT_PORT);
        try (ServerSocket probe = new ServerSocket()) {
            probe.setReuseAddress(true);
            probe.bind(new InetSocketAddress(host, port));
        } catch (IOException e) {
            throw new IllegalStateException(
                    "Can't listen on " + host + ":" + port + ": " + e.getMessage()
                            + " (expected: an address of this machine and a free port; see gateway.management.host,"
                            + " gateway.management.port)",
                    e);
        }
    }

    /** Such as {@code http://127.0.0.1:9876}, with the port that was taken; empty when management is off. */
    static String url(CamelContext context) {
        VertxPlatformHttpServer server = context.hasService(VertxPlatformHttpServer.class);
        Settings settings = context.getRegistry().findSingleByType(Settings.class);
        if (server == null || settings == null) {
            return "";
        }
        String host = settings.text(Setting.MANAGEMENT_HOST);
        return "http://" + (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + server.getPort();
    }
}
