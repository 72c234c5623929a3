package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import routes.fixture.FakeReplica;
import routes.fixture.GatewayProcess;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.Requests;
import routes.fixture.Scripts;

/** The gateway as a process: its ports, its signals, its end. */
@Timeout(180)
class LifecycleJourneyTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String KEY = "sk-dromedary-dev";

    @TempDir
    private Path folder;

    private final CountDownLatch release = new CountDownLatch(1);
    private FakeReplica replica;

    @BeforeEach
    void startReplica() throws IOException {
        replica =
                FakeReplica.start(Scripts.held(release, Payloads.STREAM.subList(0, 1), Payloads.STREAM.subList(1, 4)));
    }

    @AfterEach
    void stopReplica() throws IOException {
        release.countDown();
        replica.close();
    }

    @Test
    void healthAndMetricsAreOnTheManagementPortAndOnItsAddressOnly() throws Exception {
        try (GatewayProcess gateway = start("30s");
                RawClient client = RawClient.connect(gateway.port())) {
            URI management = URI.create(gateway.management());
            assertThat(management.getHost()).isEqualTo("127.0.0.1");
            assertThat(gateway.manage("/observe/health").statusCode()).isEqualTo(200);
            assertThat(gateway.manage("/observe/health").body()).contains("UP");
            assertThatThrownBy(() -> connect("127.0.0.2", management.getPort())).isInstanceOf(IOException.class);
            assertThat(client.exchange(Requests.get("/health")).status()).isEqualTo(200);
            assertThat(client.exchange(Requests.get("/observe/metrics")).status())
                    .isEqualTo(404);

            RawResponse answer = openStream(client);
            String slots = "{replica=\"" + replica.url() + "\"}";
            assertThat(gateway.metric("dromedary_requests_in_flight")).isEqualTo(1);
            assertThat(gateway.metric("dromedary_client_connections")).isEqualTo(1);
            assertThat(gateway.metric("dromedary_usage_lines_pending")).isEqualTo(1);
            assertThat(gateway.metric("dromedary_slots" + slots)).isEqualTo(3);
            assertThat(gateway.metric("dromedary_slots_used" + slots)).isEqualTo(1);

            release.countDown();
            assertThat(answer.finish().end()).contains(RawResponse.End.CLEAN);
            assertThat(client.exchange(chat("nothing")).status()).isEqualTo(404);
            awaitMetric(gateway, "dromedary_usage_lines_pending", 0);
            assertThat(gateway.metric("dromedary_requests_in_flight")).isZero();
            assertThat(gateway.metric("dromedary_slots_used" + slots)).isZero();
            assertThat(gateway.metric("dromedary_body_bytes")).isZero();
            assertThat(gateway.metric("dromedary_usage_lines_written_total")).isEqualTo(2);
            assertThat(gateway.metric("dromedary_requests_total{outcome=\"success\"}"))
                    .isEqualTo(1);
            assertThat(gateway.metric("dromedary_requests_total{outcome=\"rejected\"}"))
                    .isEqualTo(1);
            assertThat(gateway.metric("dromedary_request_errors_total{code=\"model_not_found\"}"))
                    .isEqualTo(1);
            assertThat(gateway.metric("dromedary_replica_errors_total" + slots)).isZero();
            assertThat(gateway.manage("/observe/metrics").body()).doesNotContain("warm-up");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"TERM", "INT"})
    void aSignalLetsAnOpenStreamFinishAndRefusesNewRequests(String signal) throws Exception {
        try (GatewayProcess gateway = start("60s");
                RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = openStream(client);
            gateway.signal(signal);
            TestGateway.await(() -> health(gateway) == 503, "health to tell of the end");
            try (RawClient other = RawClient.connect(gateway.port())) {
                RawResponse refused = other.exchange(chat("m1"));
                assertThat(refused.status()).isEqualTo(503);
                assertThat(refused.text()).contains("\"code\":\"draining\"");
                assertThat(refused.header("retry-after")).isPresent();
                assertThat(refused.header("connection")).contains("close");
            }
            try (RawClient other = RawClient.connect(gateway.port())) {
                assertThat(other.exchange(Requests.get("/health")).status()).isEqualTo(503);
            }
            assertThat(gateway.manage("/observe/health/live").statusCode())
                    .as("it drains and is not to be killed")
                    .isEqualTo(200);
            assertThat(gateway.manage("/observe/health/ready").statusCode()).isEqualTo(503);
            assertThat(gateway.isAlive()).isTrue();

            release.countDown();
            assertThat(answer.finish().end()).contains(RawResponse.End.CLEAN);
            assertThat(answer.text()).endsWith(Payloads.EVENT_DONE);
            assertThat(gateway.awaitExit()).isZero();
            UsageLines.assertEnd(onlyLine(), "success", 200, null);
            assertNothingNoisy(gateway);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"TERM", "INT"})
    void aStreamThatOutlivesTheDrainIsCutAndRecorded(String signal) throws Exception {
        try (GatewayProcess gateway = start("200ms");
                RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = openStream(client);
            gateway.signal(signal);
            answer.finish();

            assertThat(answer.end()).isPresent().get().isNotIn(RawResponse.End.CLEAN, RawResponse.End.TIMEOUT);
            assertThat(gateway.awaitExit()).isZero();
            JsonNode line = onlyLine();
            assertThat(line.path("status").asInt()).isEqualTo(200);
            assertThat(line.path("error_code").asText()).isEqualTo("draining");
            assertThat(line.path("outcome").asText()).isNotEqualTo("success");
            assertThat(gateway.err()).anyMatch(text -> text.contains("WARN") && text.contains("1 request"));
        }
    }

    @Test
    void anIdleGatewayEndsAtOnce() throws Exception {
        try (GatewayProcess gateway = start("60s")) {
            gateway.awaitListening().signal("TERM");
            assertThat(gateway.awaitExit()).isZero();
            assertNothingNoisy(gateway);
        }
    }

    private GatewayProcess start(String drainTimeout) throws IOException {
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
                    id: m1
                    errorHandler: { noErrorHandler: {} }
                    from:
                      uri: model:m1
                      steps:
                        - loadBalance:
                            customLoadBalancer: { ref: affinity }
                            steps:
                              - to: vllm:%s?slots=3
                """.formatted(replica.url()));
        Map<String, String> environment = Map.of(
                "GATEWAY_PORT", "0",
                "GATEWAY_DEMO_REPLICAS", "0",
                "GATEWAY_USAGE_FILE", "usage.jsonl",
                "GATEWAY_USAGE_FLUSH_INTERVAL", "10ms",
                "GATEWAY_DRAIN_TIMEOUT", drainTimeout);
        return GatewayProcess.start(folder, environment, "--profile", "dev", "--config", folder.toString());
    }

    private RawResponse openStream(RawClient client) throws IOException {
        RawResponse answer = client.send(chat("m1")).begin();
        assertThat(answer.until("\"A\"")).isTrue();
        return answer;
    }

    private static Requests chat(String model) {
        return Requests.chat(model, true).key(KEY);
    }

    private static void connect(String host, int port) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getByName(host), port), 2_000);
        }
    }

    private static int health(GatewayProcess gateway) {
        try {
            return gateway.manage("/observe/health").statusCode();
        } catch (IOException e) {
            return 0;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void awaitMetric(GatewayProcess gateway, String sample, double value) {
        TestGateway.await(
                () -> {
                    try {
                        return gateway.metric(sample) == value;
                    } catch (IOException | InterruptedException e) {
                        throw new AssertionError(e);
                    }
                },
                sample);
    }

    private static void assertNothingNoisy(GatewayProcess gateway) {
        assertThat(gateway.err())
                .as("the note on the key, started, stopping, stopped")
                .hasSize(4)
                .noneMatch(line -> line.contains("ERROR") || line.contains("\tat ") || line.length() > 250);
    }

    private JsonNode onlyLine() throws IOException {
        List<String> lines = Files.readAllLines(folder.resolve("usage.jsonl"));
        assertThat(lines).hasSize(1);
        return JSON.readTree(lines.get(0));
    }
}
