package routes.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import routes.fixture.FakeReplica;
import routes.fixture.GatewayProcess;
import routes.fixture.RawClient;
import routes.fixture.RecordedRequest;
import routes.fixture.Requests;
import routes.fixture.Scripts;

/** Tracing as users switch it on: by the environment, and only in a distribution that has what it needs. */
@Timeout(180)
class TracingStartTest {

    private static final String[] DEV = {"--profile", "dev"};
    private static final String KEY = "sk-dromedary-dev";
    private static final String MISSING =
            "gateway.tracing: this distribution has no OpenTelemetry (expected: one built with -Ptracing)";

    private static final int SECONDS = 10;

    @TempDir
    private Path folder;

    private final Map<String, String> environment = new HashMap<>(Map.of(
            "GATEWAY_PORT", "0",
            "GATEWAY_DEMO_FIRST_PORT", "0",
            "GATEWAY_NAME", "door-7"));
    private FakeReplica collector;

    @BeforeEach
    void start() throws IOException {
        collector = FakeReplica.start(Scripts.status(200, ""));
        environment.put("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
    }

    @AfterEach
    void stop() throws IOException {
        collector.close();
    }

    private static void ask(GatewayProcess gateway) throws IOException {
        try (RawClient client = RawClient.connect(gateway.port())) {
            assertThat(client.exchange(Requests.chat("demo", false).key(KEY)).status())
                    .isEqualTo(200);
        }
    }

    /** What was exported, as far as it is text. */
    private String text(int number) throws Exception {
        byte[] body = collector.request(number).bodyRead().get(SECONDS, TimeUnit.SECONDS);
        return new String(body, StandardCharsets.ISO_8859_1);
    }

    private static void end(GatewayProcess gateway) throws Exception {
        gateway.signal("TERM");
        assertThat(gateway.awaitExit()).as("%s", gateway).isZero();
    }

    @Test
    void spansGoWhereTheEnvironmentSaysAndTheLastOnesBeforeTheEnd() throws Exception {
        environment.put("GATEWAY_TRACING", "true");
        environment.put("OTEL_BSP_SCHEDULE_DELAY", "3600000");
        environment.put("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test-env");
        try (GatewayProcess gateway = GatewayProcess.start(folder, environment, DEV)) {
            ask(gateway);
            end(gateway);
            assertThat(gateway.err()).noneMatch(line -> line.contains("ERROR") || line.contains("opentelemetry"));
        }
        assertThat(collector.requests()).hasSize(1);
        RecordedRequest sent = collector.request(0);
        assertThat(sent.target()).isEqualTo("/v1/traces");
        assertThat(sent.header("content-type")).contains("application/x-protobuf");
        assertThat(text(0)).contains("chat demo", "gen_ai.usage.input_tokens", "door-7", "test-env");
    }

    @Test
    void theEnvironmentMayNameTheServiceAndSampleNothing() throws Exception {
        environment.put("GATEWAY_TRACING", "true");
        environment.put("OTEL_SERVICE_NAME", "my-door");
        try (GatewayProcess gateway = GatewayProcess.start(folder, environment, DEV)) {
            ask(gateway);
            end(gateway);
        }
        assertThat(text(0)).contains("my-door").doesNotContain("door-7");

        environment.put("OTEL_TRACES_SAMPLER", "always_off");
        try (GatewayProcess gateway = GatewayProcess.start(folder, environment, DEV)) {
            ask(gateway);
            end(gateway);
        }
        assertThat(collector.requests()).hasSize(1);
    }

    @Test
    void aCollectorThatRefusesIsALineInTheLog() throws Exception {
        collector.answering(Scripts.status(400, ""));
        environment.put("GATEWAY_TRACING", "true");
        try (GatewayProcess gateway = GatewayProcess.start(folder, environment, DEV)) {
            ask(gateway);
            end(gateway);
            assertThat(gateway.err())
                    .allMatch(line -> line.matches("\\d{4}-\\d\\d-\\d\\dT.*"))
                    .filteredOn(line -> line.contains("Failed to export spans"))
                    .hasSize(1);
        }
    }

    /** As docs/tracing.md shows it. */
    @Test
    void camelsTracerAndTheGatewayShareTheGlobalSdk() throws Exception {
        Files.writeString(folder.resolve("application.properties"), """
                camel.opentelemetry2.enabled = true
                camel.opentelemetry2.exclude-patterns = model:*,vllm:*,http://[^/]+
                house-rules.enabled = false
                """);
        environment.put("GATEWAY_TRACING", "true");
        String[] arguments = {"--profile", "dev", "--config", folder.toString()};
        try (GatewayProcess gateway = GatewayProcess.start(folder, environment, arguments)) {
            assertThat(gateway.awaitExit()).isEqualTo(1);
            assertThat(gateway.err()).last().asString().contains("OTEL_JAVA_GLOBAL_AUTOCONFIGURE_ENABLED=true");
        }

        environment.put("OTEL_JAVA_GLOBAL_AUTOCONFIGURE_ENABLED", "true");
        environment.put("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf");
        environment.put("OTEL_METRICS_EXPORTER", "none");
        environment.put("OTEL_LOGS_EXPORTER", "none");
        environment.put("OTEL_BSP_SCHEDULE_DELAY", "20");
        try (GatewayProcess gateway = GatewayProcess.start(folder, environment, arguments);
                RawClient client = RawClient.connect(gateway.port())) {
            client.exchange(Requests.chat("demo", false).key(KEY));
            assertThat(text(0)).contains("chat demo").doesNotContain("camel-http");
            client.exchange(Requests.get("/hello"));
            assertThat(text(1)).contains("camel-http", "/hello").doesNotContain("chat demo");
        }
    }

    @Test
    void whileItIsOffNoClassOfOpenTelemetryIsLoaded() throws Exception {
        Path classes = folder.resolve("classes.txt");
        environment.put("JAVA_TOOL_OPTIONS", "-Xlog:class+load=info:file=" + classes + ":none:filecount=0");
        try (GatewayProcess gateway = GatewayProcess.start(folder, environment, DEV)) {
            ask(gateway);
            end(gateway);
        }
        assertThat(Files.readAllLines(classes))
                .filteredOn(
                        line -> line.startsWith("io.opentelemetry.") || line.startsWith("routes.vllm.RequestWriter "))
                .as("the second proves that classes are listed")
                .singleElement()
                .asString()
                .startsWith("routes.vllm.RequestWriter ");
        assertThat(collector.requests()).isEmpty();
    }

    @Test
    void withoutOpenTelemetryTheGatewayServesAndSaysWhatIsMissingWhenItIsAskedFor() throws Exception {
        try (GatewayProcess gateway = GatewayProcess.startWithout("opentelemetry", folder, environment, DEV)) {
            ask(gateway);
            end(gateway);
        }
        environment.put("GATEWAY_TRACING", "true");
        try (GatewayProcess gateway = GatewayProcess.startWithout("opentelemetry", folder, environment, DEV)) {
            assertThat(gateway.awaitExit()).isEqualTo(1);
            assertThat(gateway.err()).last().asString().isEqualTo("dromedary: can't start: " + MISSING);
        }
    }
}
