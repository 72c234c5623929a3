package routes.journey;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.apache.camel.component.platform.http.vertx.VertxPlatformHttpServer;

/** The management port of a {@link TestGateway} that has one. */
final class Management {

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private final int port;

    private Management(int port) {
        this.port = port;
    }

    /** A gateway with a management port, metrics included. */
    static TestGateway.Builder gateway() {
        return TestGateway.builder()
                .property("camel.management.enabled", "true")
                .property("camel.metrics.enabled", "true")
                .property("gateway.management.port", "0");
    }

    static Management of(TestGateway gateway) {
        VertxPlatformHttpServer server = gateway.context().hasService(VertxPlatformHttpServer.class);
        if (server == null) {
            throw new AssertionError("no management port");
        }
        return new Management(server.getPort());
    }

    HttpResponse<String> get(String path, String accept) throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + port + path);
        return CLIENT.send(
                HttpRequest.newBuilder(uri).header("Accept", accept).build(), HttpResponse.BodyHandlers.ofString());
    }

    HttpResponse<String> get(String path) throws Exception {
        return get(path, "*/*");
    }

    MetricsPage metrics() throws Exception {
        return MetricsPage.of(get("/observe/metrics").body());
    }
}
