package routes.journey;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import routes.fixture.GatewayProcess;

/**
 * A gateway process with the shipped routes, its usage journal and the files of the route {@code usage-events}; may be ended
 * and started again on the same files.
 *
 * <p><b>Threading:</b> one thread ends and starts it; any may ask for the port.
 */
final class BilledGateway implements AutoCloseable {

    static final String KEY = "sk-dromedary-dev";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path folder;
    private final Map<String, String> environment;
    private volatile GatewayProcess process;
    private volatile int port;

    /** @param flushInterval such as {@code 500ms} */
    BilledGateway(Path folder, BilledReplica first, BilledReplica second, String flushInterval) throws IOException {
        this.folder = folder;
        environment = Map.ofEntries(
                Map.entry("GATEWAY_PORT", "0"),
                Map.entry("GATEWAY_DEMO_REPLICAS", "0"),
                Map.entry("DEMO_REPLICA_1", first.url()),
                Map.entry("DEMO_REPLICA_2", second.url()),
                Map.entry("HOUSE_RULES_ENABLED", "false"),
                Map.entry("USAGE_EVENTS_ENABLED", "true"),
                Map.entry("USAGE_EVENTS_FOLDER", "events"),
                Map.entry("GATEWAY_USAGE_FILE", "usage.jsonl"),
                Map.entry("GATEWAY_USAGE_FLUSH_INTERVAL", flushInterval),
                Map.entry("GATEWAY_DRAIN_TIMEOUT", "1s"),
                Map.entry("GATEWAY_LOG_LEVEL", "error"));
        start();
    }

    void start() throws IOException {
        process = GatewayProcess.start(folder, environment, "--profile", "dev").awaitListening();
        port = process.port();
    }

    int port() {
        return port;
    }

    /** Ends it in order. @return its exit status */
    int terminate() throws IOException, InterruptedException {
        process.signal("TERM");
        return process.awaitExit();
    }

    /** Ends it on the spot. */
    void kill() throws IOException, InterruptedException {
        process.signal("KILL");
        process.awaitExit();
    }

    /** The journal's lines; one that was torn by a kill is left out. */
    List<JsonNode> journal() throws IOException {
        return parse(Files.readAllLines(folder.resolve("usage.jsonl")));
    }

    /** The route's lines. */
    List<JsonNode> events() throws IOException {
        List<String> lines = new ArrayList<>();
        try (Stream<Path> files = Files.list(folder.resolve("events"))) {
            for (Path file : files.sorted().toList()) {
                lines.addAll(Files.readAllLines(file));
            }
        }
        return parse(lines);
    }

    private static List<JsonNode> parse(List<String> lines) throws IOException {
        List<JsonNode> parsed = new ArrayList<>(lines.size());
        for (String line : lines) {
            if (line.endsWith("}")) {
                parsed.add(JSON.readTree(line));
            }
        }
        return parsed;
    }

    @Override
    public void close() {
        process.close();
    }
}
