package routes.contract;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import routes.config.Setting;
import routes.fixture.FakeReplica;
import routes.fixture.GatewayProcess;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.Requests;

/** The program as users start it: files, environment, what it prints, how it ends when it can't start. */
@Timeout(180)
class StartTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String KEY = "sk-start";
    private static final String KEYS =
            "keys: [{ id: start, tenant: start, sha256: 24c02ae097414fad4a22d8b84de40440b83c43e05c550a14049ae1f7f39ab4ab }]\n";
    private static final Map<String, String> FREE_PORTS = Map.of("GATEWAY_PORT", "0", "GATEWAY_DEMO_FIRST_PORT", "0");

    @TempDir
    private Path folder;

    @Test
    void theDevProfileStreamsWithTheShippedRoutesAndTellsLittle() throws Exception {
        try (GatewayProcess gateway = GatewayProcess.start(folder, FREE_PORTS, "--profile", "dev")
                        .awaitListening();
                RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = client.exchange(chat("demo", "sk-dromedary-dev"));

            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.text()).startsWith("data: {").endsWith("data: [DONE]\n\n");
            assertThat(client.exchange(Requests.get("/hello")).text()).contains("Hello from Camel");
            gateway.signal("TERM");
            assertThat(gateway.awaitExit()).isZero();
            assertThat(gateway.out().get(0))
                    .matches("listening on http://127\\.0\\.0\\.1:\\d+, management on http://127\\.0\\.0\\.1:\\d+");
            assertThat(gateway.out()).anyMatch(line -> line.contains("curl -N http://127.0.0.1:"));
            assertThat(gateway.err())
                    .as("a note on the key, started, the route's own note, stopping, stopped")
                    .hasSize(5)
                    .allMatch(line -> line.length() < 250 && !line.contains("ERROR"));
            assertThat(folder.resolve("target/usage.jsonl")).isNotEmptyFile();
            assertThat(folder.resolve("target/usage-events")).isNotEmptyDirectory();
        }
    }

    @Test
    void aFolderMayHoldAllFilesAndTheEnvironmentOverridesThem() throws Exception {
        try (FakeReplica replica = FakeReplica.start()) {
            keys();
            routes(replica.url());
            properties("""
                    gateway.port=1
                    gateway.name=from-the-file
                    gateway.max-attempts=7
                    gateway.max-body-bytes=10
                    gateway.usage.file=mine.jsonl
                    gateway.usage.flush-interval=1ms
                    """);
            Map<String, String> environment = Map.of("GATEWAY_PORT", "0", "GATEWAY_MAX_BODY_BYTES", "1m");
            try (GatewayProcess gateway = GatewayProcess.start(folder, environment, "--config", folder.toString());
                    RawClient client = RawClient.connect(gateway.port())) {
                assertThat(client.exchange(chat("mine", KEY)).status()).isEqualTo(200);
                gateway.signal("TERM");
                assertThat(gateway.awaitExit()).isZero();
                assertThat(line(folder.resolve("mine.jsonl")).path("gateway").asText())
                        .isEqualTo("from-the-file");
                assertThat(gateway.err()).as("started, stopping, stopped").hasSize(3);
            }
        }
    }

    @Test
    void aFolderMayHoldKeysOnlyAndOptionsMayUseAnEqualsSign() throws Exception {
        keys();
        try (GatewayProcess gateway = GatewayProcess.start(folder, Map.of(), "--config=" + folder, "--port=0");
                RawClient client = RawClient.connect(gateway.port())) {
            assertThat(client.exchange(Requests.get("/v1/models").key(KEY)).text())
                    .contains("\"demo\"");
            assertThat(client.exchange(Requests.get("/v1/models").key("sk-dromedary-dev"))
                            .status())
                    .as("the key of the dev profile")
                    .isEqualTo(401);
        }
    }

    @Test
    void aFolderMayHoldRoutesAndPropertiesOnlyAndWinsOverTheDevProfile() throws Exception {
        try (FakeReplica replica = FakeReplica.start()) {
            routes(replica.url());
            properties("gateway.usage.file=mine.jsonl\ngateway.demo.replicas=0\ngateway.host=127.0.0.1\n");
            try (GatewayProcess gateway = GatewayProcess.start(
                            folder, FREE_PORTS, "--profile", "dev", "--config", folder.toString());
                    RawClient client = RawClient.connect(gateway.port())) {
                assertThat(client.exchange(chat("mine", "sk-dromedary-dev")).status())
                        .isEqualTo(200);
                gateway.signal("TERM");
                assertThat(gateway.awaitExit()).isZero();
                assertThat(line(folder.resolve("mine.jsonl"))
                                .path("model_asked")
                                .asText())
                        .isEqualTo("mine");
            }
        }
    }

    @Test
    void everySettingHasAnEnvironmentName() throws Exception {
        keys();
        routes("http://127.0.0.1:1");
        Map<String, String> values = new LinkedHashMap<>();
        for (Setting setting : Setting.values()) {
            values.put(setting.key(), other(setting));
        }
        Map<String, String> environment = new LinkedHashMap<>();
        for (Setting setting : Setting.values()) {
            environment.put(setting.environmentName(), values.get(setting.key()));
        }
        try (GatewayProcess printer = GatewayProcess.start(PrintedSettings.class.getName(), folder, environment)) {
            assertThat(printer.awaitExit()).as("%s", printer).isZero();
            assertThat(printer.out())
                    .containsExactlyElementsOf(values.entrySet().stream()
                            .map(entry -> entry.getKey() + "=" + entry.getValue())
                            .toList());
        }
    }

    @Test
    void aKeyThatTwoProcessesMakeAtOnceOpensTheGateway() throws Exception {
        String config = folder.toString();
        List<String> secrets = new ArrayList<>();
        try (GatewayProcess one =
                        GatewayProcess.start(folder, Map.of(), "keys", "new", "--tenant", "a", "--config", config);
                GatewayProcess two =
                        GatewayProcess.start(folder, Map.of(), "keys", "new", "--tenant", "a", "--config", config)) {
            for (GatewayProcess made : List.of(one, two)) {
                assertThat(made.awaitExit()).as("%s", made).isZero();
                assertThat(made.out()).hasSize(1);
                secrets.addAll(made.out());
            }
        }
        try (GatewayProcess check = GatewayProcess.start(folder, Map.of(), "check", "--config", config)) {
            assertThat(check.awaitExit()).as("%s", check).isZero();
            assertThat(check.out()).anyMatch(line -> line.contains("2 of 1 tenant"));
            assertThat(check.err()).isEmpty();
        }
        try (GatewayProcess gateway = GatewayProcess.start(folder, FREE_PORTS, "run", "--config", config);
                RawClient client = RawClient.connect(gateway.port())) {
            for (String secret : secrets) {
                assertThat(client.exchange(Requests.get("/v1/models").key(secret))
                                .status())
                        .isEqualTo(200);
            }
        }
    }

    @Test
    void aCommandThatIsNoneEndsWithTwo() throws Exception {
        try (GatewayProcess none = GatewayProcess.start(folder, Map.of(), "frob")) {
            assertThat(none.awaitExit()).isEqualTo(2);
            assertThat(none.err())
                    .singleElement()
                    .asString()
                    .startsWith("dromedary: frob: unknown command (expected: ");
        }
    }

    @Test
    void aWrongPropertyEndsTheStartWithOneLine() throws Exception {
        keys();
        assertFails(
                Map.of("GATEWAY_STALL_TIMEOUT", "soon"),
                "dromedary: can't start: gateway.stall-timeout: 'soon' (expected: a duration, such as 250ms, 2s or 10m;"
                        + " environment: GATEWAY_STALL_TIMEOUT)");
    }

    @Test
    void aPortInUseEndsTheStartWithOneLine() throws Exception {
        keys();
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = Integer.toString(taken.getLocalPort());
            assertFails(
                    Map.of("GATEWAY_HOST", "127.0.0.1", "GATEWAY_PORT", port),
                    "dromedary: can't start: Can't listen on 127.0.0.1:" + port + ": ");
        }
    }

    @Test
    void aManagementPortInUseEndsTheStartWithOneLine() throws Exception {
        keys();
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = Integer.toString(taken.getLocalPort());
            assertFails(
                    Map.of("GATEWAY_PORT", "0", "GATEWAY_MANAGEMENT_PORT", port),
                    "dromedary: can't start: Can't listen on 127.0.0.1:" + port + ": ");
        }
    }

    private void assertFails(Map<String, String> environment, String begin) throws Exception {
        try (GatewayProcess gateway = GatewayProcess.start(folder, environment, "--config", folder.toString())) {
            assertThat(gateway.awaitExit()).isEqualTo(1);
            // the replicas of the shipped routes aren't there either
            assertThat(gateway.err())
                    .filteredOn(line -> !line.contains(" is down: "))
                    .hasSize(1)
                    .first()
                    .asString()
                    .startsWith(begin);
            assertThat(gateway.out()).isEmpty();
        }
    }

    /** A valid value that is not the default. */
    private String other(Setting setting) {
        return switch (setting) {
            case HOST -> "127.0.0.1";
            case MANAGEMENT_HOST -> "localhost";
            case PORT, MANAGEMENT_PORT, DEMO_FIRST_PORT -> "0";
            case KEYS_FILE -> folder.resolve("keys.yaml").toString();
            case ROUTES -> "file:" + folder.resolve("routes.yaml");
            case USAGE_FILE -> folder.resolve("other.jsonl").toString();
            case DEMO_REPLICAS -> "1";
            case READY_WHEN -> "listening";
            case CONSOLE, CORS_CREDENTIALS -> "true";
            case CORS_ORIGINS -> "https://other.example";
            case DNS_SERVERS -> "10.0.0.2";
            case HEALTH_PATH, LOAD_PATH -> "/other";
            case RETRY_STATUSES -> "500";
            case LOAD_RUNNING, LOAD_WAITING -> "x_other";
            default ->
                switch (setting.kind()) {
                    case TEXT -> "x-other";
                    case INTEGER -> "9";
                    case FLAG -> "false";
                    case BYTES -> setting == Setting.BODY_BUDGET_BYTES ? "2g" : "123456";
                    case DURATION -> "7s";
                };
        };
    }

    private void keys() throws IOException {
        Files.writeString(folder.resolve("keys.yaml"), KEYS);
    }

    private void routes(String replica) throws IOException {
        Files.writeString(folder.resolve("routes.yaml"), """
                - route:
                    id: front-door
                    errorHandler: { noErrorHandler: {} }
                    from:
                      uri: netty-http:http://{{gateway.host}}:{{gateway.port}}
                      parameters: { serverInitializerFactory: "#door" }
                      steps:
                        - process: { ref: auth }
                        - process: { ref: prompt }
                        - to: model:*
                - route:
                    id: mine
                    errorHandler: { noErrorHandler: {} }
                    from:
                      uri: model:mine
                      steps:
                        - to: vllm:%s
                """.formatted(replica));
    }

    private void properties(String text) throws IOException {
        Files.writeString(folder.resolve("application.properties"), text);
    }

    private static Requests chat(String model, String key) {
        return Requests.chat(model, true).key(key);
    }

    private static JsonNode line(Path file) throws IOException {
        List<String> lines = Files.readAllLines(file);
        assertThat(lines).hasSize(1);
        return JSON.readTree(lines.get(0));
    }
}
