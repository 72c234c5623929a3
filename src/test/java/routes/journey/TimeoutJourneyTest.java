package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.Requests;
import routes.fixture.Scripts;

/** How long a request may take: as the gateway says, else its model, else its client, within what the gateway allows. */
class TimeoutJourneyTest {

    private static final String HEADER = "X-Request-Timeout";
    private static final Duration GATEWAYS = Duration.ofMillis(500);
    private static final Duration SHORT = Duration.ofMillis(200);
    private static final Duration MOST = Duration.ofMillis(1200);
    /** Far below the time that would pass if another limit held, far above what a slow machine needs. */
    private static final Duration SOON = Duration.ofSeconds(8);

    private static FakeReplica replica;
    private static TestGateway gateway;
    private UsageMark usage;

    @BeforeAll
    static void start() throws IOException {
        replica = FakeReplica.start();
        gateway = TestGateway.builder()
                .property("gateway.total-timeout", millis(GATEWAYS))
                .property("gateway.max-total-timeout", millis(MOST))
                .property("gateway.head-timeout", "60s")
                .property("gateway.stall-timeout", "60s")
                .model("usual", replica.url())
                .modelWith("totalTimeout: " + millis(SHORT), "quick", replica.url())
                .modelWith("totalTimeout: 60s", "slow", replica.url())
                .modelWith("totalTimeout: 60s, stallTimeout: " + millis(SHORT), "steady", replica.url())
                .modelWith("totalTimeout: 60s, headTimeout: " + millis(SHORT), "prompt", replica.url())
                .modelWith("totalTimeout: 60s", "single", replica.url() + "/single?slots=1")
                .start();
    }

    @AfterAll
    static void stop() throws IOException {
        gateway.close();
        replica.close();
    }

    @BeforeEach
    void mark() {
        replica.answering(Scripts.normal());
        usage = UsageMark.of(gateway);
    }

    // ---- models

    @Test
    void aModelMayBeQuickerThanTheGateway() throws Exception {
        assertTimesOut(chat("quick", false), SHORT);
    }

    @Test
    void aModelMayTakeLongerThanTheGateway() throws Exception {
        assertTimesOut(chat("usual", false), GATEWAYS);
        assertSucceedsAfter(GATEWAYS.multipliedBy(2), chat("slow", false));
    }

    @Test
    void aModelsStallTimeOutEndsASilentStream() throws Exception {
        replica.answering(Scripts.thenHang(Payloads.sseHead() + Payloads.chunk(Payloads.EVENT_A)));
        try (RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = client.exchange(chat("steady", true));

            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.text()).contains(Payloads.EVENT_A);
            assertThat(answer.end().orElseThrow()).isIn(RawResponse.End.CUT_FIN, RawResponse.End.CUT_RST);
        }
        assertTimeout(200, SHORT);
    }

    @Test
    void aModelsHeadTimeOutEndsAStreamThatDoesNotBegin() throws Exception {
        replica.answering(Scripts.thenHang(""));
        try (RawClient client = RawClient.connect(gateway.port())) {
            assertIs504(client.exchange(chat("prompt", true)));
        }
        assertTimeout(504, SHORT);
    }

    // ---- clients

    @ParameterizedTest
    @ValueSource(strings = {"0.3", "300ms", "0.3s", "0.005m"})
    void aClientMayBeQuickerThanItsModel(String value) throws Exception {
        assertTimesOut(chat("slow", false).header(HEADER, value), Duration.ofMillis(300));
    }

    @Test
    void aClientMayTakeLongerThanGatewayAndModel() throws Exception {
        assertSucceedsAfter(GATEWAYS.plusMillis(200), chat("usual", false).header(HEADER, "1.2"));
        assertSucceedsAfter(GATEWAYS.plusMillis(200), chat("quick", false).header(HEADER, "1200ms"));
    }

    @Test
    void noClientMayTakeLongerThanTheMost() throws Exception {
        assertTimesOut(chat("quick", false).header(HEADER, "2h"), MOST);
    }

    @Test
    void aStreamEndsWhenItsTimeIsUpHoweverBusyItIs() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        replica.answering(Scripts.ticking(go));
        try (RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = client.exchange(chat("slow", true).header(HEADER, "0.3"));

            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.end().orElseThrow()).isIn(RawResponse.End.CUT_FIN, RawResponse.End.CUT_RST);
        }
        go.countDown();
        assertTimeout(200, Duration.ofMillis(300));
    }

    @Test
    void whoWaitsInTheQueueIsNotForgotten() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        replica.answering(Scripts.holding(go));
        try (RawClient first = RawClient.connect(gateway.port());
                RawClient second = RawClient.connect(gateway.port())) {
            first.send(chat("single", false).header("X-Request-Id", "first"));
            TestGateway.await(() -> replica.active() == 1, "the first request");
            assertIs504(second.exchange(chat("single", false).header(HEADER, "300ms")));
            TestGateway.await(() -> gateway.queued() == 0, "the end of the wait");
            go.countDown();
            assertThat(first.response().status()).isEqualTo(200);
        }
        assertThat(usage.ends()).containsExactlyInAnyOrder("success 200", "timeout upstream_timeout 504");
    }

    @Test
    void theTimeOfTheBodyCounts() throws Exception {
        byte[] wire = chat("usual", false).header(HEADER, "0.3").bytes();
        try (RawClient client = RawClient.connect(gateway.port())) {
            client.send(Arrays.copyOf(wire, wire.length - 5));
            assertIs504(client.response());
        }
        assertTimeout(504, Duration.ofMillis(300));
    }

    @ParameterizedTest
    @ValueSource(strings = {"soon", "0", "-1", "0ms", "", "1e9", "10 s", "NaN"})
    void aTimeThatIsNoneIsRefusedBeforeTheBodyIsRead(String value) throws Exception {
        int seen = replica.requests().size();
        Requests request = chat("usual", false).header(HEADER, value);
        byte[] wire = request.bytes();
        int head = request.head().length;
        try (RawClient client = RawClient.connect(gateway.port())) {
            client.send(new String(wire, 0, head, StandardCharsets.ISO_8859_1));
            RawResponse answer = client.response();

            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.text())
                    .contains("\"code\":\"bad_request\"", "x-request-timeout", "such as 30 or 2.5", "500ms")
                    .contains("\"type\":\"invalid_request_error\"");
            client.send(new String(wire, head, wire.length - head, StandardCharsets.ISO_8859_1));
            assertThat(client.exchange(chat("usual", false)).status()).isEqualTo(200);
        }
        assertThat(replica.requests()).hasSize(seen + 1);
        assertThat(usage.ends()).containsExactly("success 200");
    }

    @Test
    void theHeaderMayHaveAnotherNameOrNone() throws Exception {
        try (TestGateway named = TestGateway.builder()
                        .property("gateway.timeout-header", "X-Stainless-Timeout")
                        .model("m1", replica.url())
                        .start();
                TestGateway without = TestGateway.builder()
                        .property("gateway.timeout-header", "")
                        .model("m1", replica.url())
                        .start();
                RawClient toNamed = RawClient.connect(named.port());
                RawClient toWithout = RawClient.connect(without.port())) {
            RawResponse refused = toNamed.exchange(chat("m1", false).header("x-stainless-timeout", "never"));
            assertThat(refused.status()).isEqualTo(400);
            assertThat(refused.text()).contains("x-stainless-timeout");
            assertThat(toNamed.exchange(chat("m1", false).header(HEADER, "never"))
                            .status())
                    .isEqualTo(200);
            assertThat(toWithout
                            .exchange(chat("m1", false).header(HEADER, "never"))
                            .status())
                    .isEqualTo(200);
        }
    }

    private void assertTimesOut(Requests request, Duration after) throws IOException {
        usage = UsageMark.of(gateway);
        replica.answering(Scripts.thenHang(""));
        try (RawClient client = RawClient.connect(gateway.port())) {
            assertIs504(client.exchange(request));
        }
        assertTimeout(504, after);
    }

    private static void assertIs504(RawResponse answer) {
        assertThat(answer.status()).isEqualTo(504);
        assertThat(answer.text()).contains("\"code\":\"upstream_timeout\"");
    }

    private void assertTimeout(int status, Duration after) {
        List<JsonNode> lines = usage.lines();
        assertThat(lines).hasSize(1);
        UsageLines.assertEnd(lines.get(0), "timeout", status, "upstream_timeout");
        assertThat(lines.get(0).path("duration_ms").asDouble())
                .isBetween((double) after.toMillis(), (double) SOON.toMillis());
        assertThat(lines.get(0).path("attempts").asInt()).isLessThanOrEqualTo(1);
    }

    private void assertSucceedsAfter(Duration pause, Requests request) throws IOException {
        usage = UsageMark.of(gateway);
        CountDownLatch go = new CountDownLatch(1);
        replica.answering(Scripts.holding(go));
        try (RawClient client = RawClient.connect(gateway.port())) {
            client.send(request);
            // the time that passes is what is tested
            LockSupport.parkNanos(pause.toNanos());
            go.countDown();
            assertThat(client.response().status()).isEqualTo(200);
        }
        assertThat(usage.ends()).containsExactly("success 200");
        assertThat(usage.lines().get(0).path("duration_ms").asDouble())
                .isGreaterThanOrEqualTo(pause.toMillis() - 100.0);
    }

    private static Requests chat(String model, boolean stream) {
        return Requests.chat(model, stream).key(TestGateway.KEY);
    }

    private static String millis(Duration duration) {
        return duration.toMillis() + "ms";
    }
}
