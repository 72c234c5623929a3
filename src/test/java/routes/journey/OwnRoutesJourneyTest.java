package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.Processor;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.Requests;
import routes.fixture.Scripts;
import routes.usage.UsageRecord;

/** What an integration engineer builds from Camel's own pieces around the gateway's stages. */
@Timeout(60)
class OwnRoutesJourneyTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    private static final String DOOR = """
            - route:
                id: front-door
                errorHandler: { noErrorHandler: {} }
                from:
                  uri: netty-http:http://{{gateway.host}}:{{gateway.port}}
                  parameters:
                    serverInitializerFactory: "#door"
                  steps:
                    - process: { ref: auth }
                    - process: { ref: prompt }
            %s
            """;

    private FakeReplica replica;
    private String nobody;

    @BeforeEach
    void start() throws IOException {
        replica = FakeReplica.start();
        try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            nobody = "http://127.0.0.1:" + closed.getLocalPort();
        }
    }

    @AfterEach
    void stop() throws IOException {
        replica.close();
    }

    // ---- error handling around the model

    @Test
    void doCatchMayTryAnotherModelBeforeTheFirstByte() throws Exception {
        try (TestGateway gateway = TestGateway.builder()
                        .door(DOOR)
                        .steps("""
                                        - doTry:
                                            steps:
                                              - to: model:*
                                            doCatch:
                                              - exception: [ routes.error.GatewayException ]
                                                steps:
                                                  - to: model:spare
                                """)
                        .model("m1", nobody)
                        .model("spare", replica.url())
                        .start();
                RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = client.exchange(chat("m1", true, "fallback"));

            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.text()).isEqualTo(String.join("", Payloads.STREAM_WITHOUT_USAGE));
            assertThat(replica.request(0).json().path("model").asText()).isEqualTo("spare");
            JsonNode line = UsageLines.of(gateway, "fallback");
            UsageLines.assertEnd(line, "success", 200, null);
            assertThat(line.path("model_asked").asText()).isEqualTo("m1");
            assertThat(line.path("model_served").asText()).isEqualTo("spare");
            assertThat(line.path("attempts").asInt())
                    .as("twice where nobody is, once at the spare")
                    .isEqualTo(3);
        }
    }

    @Test
    void doCatchDoesNotRunOnceTheAnswerHasBegun() throws Exception {
        replica.answering(Scripts.thenRst(Payloads.sseHead() + Payloads.chunk(Payloads.EVENT_A)));
        try (FakeReplica spare = FakeReplica.start();
                TestGateway gateway = TestGateway.builder()
                        .door(DOOR)
                        .steps("""
                                        - doTry:
                                            steps:
                                              - to: model:*
                                            doCatch:
                                              - exception: [ java.lang.Exception ]
                                                steps:
                                                  - to: model:spare
                                """)
                        .model("m1", replica.url())
                        .model("spare", spare.url())
                        .start();
                RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = client.exchange(chat("m1", true, "begun"));

            assertThat(answer.end()).isNotEqualTo(Optional.of(RawResponse.End.CLEAN));
            UsageLines.assertEnd(UsageLines.of(gateway, "begun"), "upstream_aborted", 200, "upstream_incomplete");
            assertThat(spare.requests()).isEmpty();
        }
    }

    @Test
    void onExceptionMayAnswerInstead() throws Exception {
        try (TestGateway gateway = TestGateway.builder()
                        .door(DOOR)
                        .steps("""
                                        - to: direct:guarded
                                """)
                        .route("""
                                - routeConfiguration:
                                    id: apology
                                    onException:
                                      - onException:
                                          exception: [ routes.error.GatewayException ]
                                          handled: { constant: "true" }
                                          steps:
                                            - setHeader: { name: CamelHttpResponseCode, constant: "503" }
                                            - setBody: { constant: '{"sorry":true}' }
                                - route:
                                    id: guarded
                                    routeConfigurationId: apology
                                    from:
                                      uri: direct:guarded
                                      steps:
                                        - to: model:*
                                """)
                        .model("m1", nobody)
                        .start();
                LogCapture log = LogCapture.at(Level.WARN);
                RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = client.exchange(chat("m1", true, "sorry"));

            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.text()).isEqualTo("{\"sorry\":true}");
            assertThat(UsageLines.of(gateway, "sorry").path("status").asInt()).isEqualTo(503);
            assertThat(log.errors()).isEmpty();
        }
    }

    // ---- vllm: and model: in other shapes

    @Test
    void vllmWorksWithoutABalancer() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        try (TestGateway gateway = TestGateway.builder()
                        .route("""
                                - route:
                                    id: plain
                                    errorHandler: { noErrorHandler: {} }
                                    from:
                                      uri: model:plain
                                      steps:
                                        - to: "vllm:%s?slots=1"
                                """.formatted(replica.url()))
                        .start();
                RawClient first = RawClient.connect(gateway.port());
                RawClient second = RawClient.connect(gateway.port())) {
            assertThat(first.exchange(chat("plain", true, "one")).status()).isEqualTo(200);
            UsageLines.assertTokens(UsageLines.of(gateway, "one"), 5, 2, 7);

            replica.answering(Scripts.holding(release));
            first.send(chat("plain", false, "two"));
            replica.awaitRequests(2);
            assertQueueFull(second.exchange(chat("plain", false, "three")));
            release.countDown();
            assertThat(first.response().status()).isEqualTo(200);
            UsageLines.assertEnd(UsageLines.of(gateway, "three"), "rejected", 503, "queue_full");
        }
    }

    @Test
    void twoModelsOnOneReplicaShareItsSlots() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        replica.answering(Scripts.holding(release));
        String oneSlot = replica.url() + "?slots=1";
        try (TestGateway gateway = TestGateway.builder()
                        .model("m1", oneSlot)
                        .model("m2", oneSlot)
                        .start();
                RawClient first = RawClient.connect(gateway.port());
                RawClient second = RawClient.connect(gateway.port())) {
            first.send(chat("m1", false, "one"));
            replica.awaitRequests(1);
            second.send(chat("m2", false, "two"));
            TestGateway.await(() -> gateway.queued() == 1, "the other model's request in its queue");
            release.countDown();
            assertThat(first.response().status()).isEqualTo(200);
            assertThat(second.response().status()).isEqualTo(200);
            assertThat(replica.maxActive()).isEqualTo(1);
        }
    }

    // ---- usage:completed

    @Test
    void usageEventsReachAFileAsTheUsageLinesAre(@TempDir Path folder) throws Exception {
        try (TestGateway gateway = TestGateway.builder()
                        .property("events", folder)
                        .model("m1", replica.url())
                        .route("""
                                - route:
                                    id: usage-events
                                    from:
                                      uri: usage:completed
                                      steps:
                                        - marshal: { json: { library: Jackson } }
                                        - to:
                                            uri: file:{{events}}
                                            parameters:
                                              fileName: usage.jsonl
                                              fileExist: Append
                                              appendChars: "\\\\n"
                                """)
                        .start();
                RawClient client = RawClient.connect(gateway.port())) {
            client.exchange(chat("m1", true, "one"));
            client.exchange(chat("m1", false, "two"));
            client.exchange(chat("unknown", false, "three"));
            gateway.awaitIdle();

            List<String> events = Files.readAllLines(folder.resolve("usage.jsonl"));
            List<String> lines = gateway.lines();
            assertThat(lines).hasSize(3);
            assertThat(events).hasSize(3);
            for (int i = 0; i < lines.size(); i++) {
                assertThat(JSON.readTree(events.get(i))).isEqualTo(JSON.readTree(lines.get(i)));
            }
        }
    }

    @Test
    void aUsageRouteThatFailsLosesNothingAndDisturbsNobody() throws Exception {
        AtomicInteger failures = new AtomicInteger(2);
        List<String> taken = Collections.synchronizedList(new ArrayList<>());
        Processor database = exchange -> {
            if (failures.getAndDecrement() > 0) {
                throw new IllegalStateException("the database is away");
            }
            taken.add(exchange.getMessage().getBody(UsageRecord.class).requestId());
        };
        try (TestGateway gateway = TestGateway.builder()
                        .bean("database", database)
                        .model("m1", replica.url())
                        .route("""
                                - route:
                                    id: usage-events
                                    errorHandler: { noErrorHandler: {} }
                                    from:
                                      uri: usage:completed
                                      steps:
                                        - process: { ref: database }
                                """)
                        .start();
                RawClient client = RawClient.connect(gateway.port())) {
            assertThat(client.exchange(chat("m1", true, "one")).status()).isEqualTo(200);
            assertThat(gateway.usageLines(1)).as("while the route still fails").hasSize(1);
            assertThat(client.exchange(chat("m1", true, "two")).status()).isEqualTo(200);
            gateway.awaitIdle();

            assertThat(taken).containsExactly("one", "two");
            assertThat(UsageLines.all(gateway)).containsOnlyKeys("one", "two");
        }
    }

    private static Requests chat(String model, boolean stream, String requestId) {
        return Requests.chat(model, stream).key(TestGateway.KEY).header("X-Request-Id", requestId);
    }

    private static void assertQueueFull(RawResponse answer) throws IOException {
        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.header("retry-after")).isPresent();
        assertThat(JSON.readTree(answer.text()).path("error").path("code").asText())
                .isEqualTo("queue_full");
    }
}
