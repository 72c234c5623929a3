package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.camel.Processor;
import org.junit.jupiter.api.AfterEach;
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
import routes.replica.ReplicaGroup;
import routes.replica.Replicas;
import routes.request.InferenceRequest;

/** Connections to replicas: how long they are used, how long one may be silent, and answers that nobody gets. */
class UpstreamJourneyTest {

    private FakeReplica one;
    private FakeReplica two;

    @BeforeEach
    void start() throws IOException {
        one = FakeReplica.start();
        two = FakeReplica.start();
    }

    @AfterEach
    void stop() throws IOException {
        one.close();
        two.close();
        assertThat(one.errors()).isEmpty();
        assertThat(two.errors()).isEmpty();
    }

    private static TestGateway.Builder builder() {
        // one loop, so that every request finds the same pool of connections
        return TestGateway.builder()
                .property("gateway.event-loops", 1)
                // nobody answers there: names lead where a test says
                .property("gateway.dns.servers", "127.0.0.1:9");
    }

    private static String direct(String model, String... steps) {
        return """
                - route:
                    id: "model-%s"
                    errorHandler: { noErrorHandler: {} }
                    from:
                      uri: "model:%s"
                      steps:
                """.formatted(model, model) + String.join("", steps).indent(8);
    }

    private static Requests request(boolean stream, String id) {
        return Requests.chat("m1", stream).key(TestGateway.KEY).header("X-Request-Id", id);
    }

    private static RawResponse ask(TestGateway gateway, Requests request) throws IOException {
        try (RawClient client = RawClient.connect(gateway.port())) {
            return client.exchange(request);
        }
    }

    private static void askWell(TestGateway gateway, String id) throws IOException {
        assertThat(ask(gateway, request(false, id)).status()).isEqualTo(200);
    }

    // ---- how long a connection is used

    @Test
    void aConnectionThatIsOldIsUsedNoMoreEvenUnderConstantTraffic() throws Exception {
        try (TestGateway gateway = builder()
                .model("m1", one.url())
                .property("gateway.pool-max-age", "150ms")
                .start()) {
            long deadline = System.nanoTime() + Duration.ofSeconds(10).toNanos();
            int asked = 0;
            while (one.connections() < 3) {
                askWell(gateway, "age-" + asked++);
                assertThat(System.nanoTime() - deadline).as("time left").isNegative();
            }
            assertThat(asked).as("connections are used more than once").isGreaterThan(6);
            assertThat(one.request(0).closed().get(10, TimeUnit.SECONDS)).isNotNull();
        }
    }

    @Test
    void aConnectionToAnAddressThatIsLeftIsUsedNoMore() throws Exception {
        try (TestGateway gateway = builder()
                .model("m1", "http://moved.test:8000")
                .property("gateway.connect-timeout", "300ms")
                .start()) {
            lead(gateway, one);
            askWell(gateway, "here-0");
            askWell(gateway, "here-1");
            assertThat(one.connections()).isEqualTo(1);

            lead(gateway, two);
            askWell(gateway, "there");

            assertThat(one.requests()).hasSize(2);
            assertThat(two.requests()).hasSize(1);
            assertThat(one.request(1).closed().get(10, TimeUnit.SECONDS)).isNotNull();
            JsonNode line = UsageLines.of(gateway, "there");
            assertThat(line.path("attempts").asInt()).isEqualTo(1);
        }
    }

    @Test
    void aReplicaThatIsGoneKeepsItsStreamAndLosesItsIdleConnections() throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        one.answering(Scripts.sequence(
                Scripts.normal(),
                Scripts.held(latch, Payloads.STREAM.subList(0, 1), Payloads.STREAM.subList(1, 4)),
                Scripts.normal()));
        try (TestGateway gateway = builder()
                        .model("m1", "http://many.test:8000?resolve=all")
                        .property("gateway.connect-timeout", "300ms")
                        .property("gateway.pool-idle-timeout", "60s")
                        .start();
                RawClient client = RawClient.connect(gateway.port())) {
            lead(gateway, one);
            askWell(gateway, "first");
            RawResponse stream = client.send(request(true, "stream")).begin();
            assertThat(stream.until("\"A\"")).isTrue();
            askWell(gateway, "beside");
            assertThat(one.connections()).isEqualTo(2);

            lead(gateway, two);
            assertThat(one.request(2).closed().get(10, TimeUnit.SECONDS))
                    .as("the idle one")
                    .isNotNull();
            askWell(gateway, "elsewhere");
            latch.countDown();

            assertThat(stream.finish().end()).contains(RawResponse.End.CLEAN);
            assertThat(one.request(1).closed().get(10, TimeUnit.SECONDS))
                    .as("the busy one, when it was done")
                    .isNotNull();
            assertThat(two.requests()).hasSize(1);
        }
    }

    /** The only name leads there from now on. */
    private static void lead(TestGateway gateway, FakeReplica replica) {
        ReplicaGroup group = gateway.bean(Replicas.class).groups().iterator().next();
        group.members(List.of(
                new ReplicaGroup.Member(new InetSocketAddress(InetAddress.getLoopbackAddress(), replica.port()))));
    }

    // ---- silence

    @Test
    void aStreamThatDoesNotBeginIsATimeOutAndTriedNowhereElse() throws Exception {
        one.answering(Scripts.thenHang(""));
        two.answering(Scripts.thenHang(""));
        try (TestGateway gateway = builder()
                .model("m1", one.url(), two.url())
                .property("gateway.head-timeout", "200ms")
                .start()) {
            RawResponse answer = ask(gateway, request(true, "head"));

            assertThat(answer.status()).isEqualTo(504);
            assertThat(answer.text()).contains("upstream_timeout");
            JsonNode line = UsageLines.of(gateway, "head");
            UsageLines.assertEnd(line, "timeout", 504, "upstream_timeout");
            assertThat(line.path("attempts").asInt()).isEqualTo(1);
            assertThat(gateway.bean(Replicas.class).all()).allMatch(replica -> replica.isUp() && replica.errors() == 0);
            assertThat(one.requests().size() + two.requests().size()).isEqualTo(1);
        }
    }

    @Test
    void aStreamWithAHeadAndNoEventIsCutOff() throws Exception {
        one.answering(Scripts.thenHang(Payloads.sseHead() + Payloads.chunk(": ping\n\n")));
        try (TestGateway gateway = builder()
                .model("m1", one.url())
                .property("gateway.head-timeout", "300ms")
                .start()) {
            RawResponse answer = ask(gateway, request(true, "no-event"));

            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.end().orElseThrow()).isIn(RawResponse.End.CUT_FIN, RawResponse.End.CUT_RST);
            UsageLines.assertEnd(UsageLines.of(gateway, "no-event"), "timeout", 200, "upstream_timeout");
        }
    }

    @Test
    void afterTheFirstEventAnotherLimitHolds() throws Exception {
        one.answering(Scripts.thenHang(Payloads.sseHead() + Payloads.chunk(Payloads.EVENT_A)));
        try (TestGateway gateway = builder()
                .model("m1", one.url())
                .property("gateway.head-timeout", "60s")
                .property("gateway.stall-timeout", "200ms")
                .start()) {
            RawResponse answer = ask(gateway, request(true, "stall"));

            assertThat(answer.text()).contains("\"A\"");
            assertThat(answer.end().orElseThrow()).isIn(RawResponse.End.CUT_FIN, RawResponse.End.CUT_RST);
            UsageLines.assertEnd(UsageLines.of(gateway, "stall"), "timeout", 200, "upstream_timeout");
        }
    }

    @Test
    void aRequestWithoutAStreamMayBeSilentForLonger() throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        one.answering(Scripts.holding(latch));
        try (TestGateway gateway = builder()
                        .model("m1", one.url())
                        .property("gateway.head-timeout", "100ms")
                        .property("gateway.stall-timeout", "100ms")
                        .start();
                RawClient client = RawClient.connect(gateway.port())) {
            client.send(request(false, "silent"));
            one.awaitRequests(1);
            RawResponse nothing = client.begin(Duration.ofMillis(400));
            assertThat(nothing.end()).contains(RawResponse.End.TIMEOUT);
            latch.countDown();

            assertThat(client.response().status()).isEqualTo(200);
        }
    }

    // ---- answers that nobody gets

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anAnswerThatIsDiscardedLeavesNoTrace(boolean whole) throws Exception {
        String usage = "{\"usage\":{\"prompt_tokens\":900,\"completion_tokens\":800,\"total_tokens\":1700}}";
        one.answering(
                whole
                        ? Scripts.status(503, usage)
                        : Scripts.thenHang("HTTP/1.1 503 Busy\r\nContent-Length: 900\r\n\r\n" + usage));
        Processor again = exchange -> exchange.getMessage()
                .getBody(InferenceRequest.class)
                .retries(new InferenceRequest.Retries() {
                    @Override
                    public boolean insteadOf(int status, int retryAfterSeconds) {
                        return true;
                    }

                    @Override
                    public void answered() {}

                    @Override
                    public void firstToken() {}
                });
        try (TestGateway gateway = builder()
                .bean("again", again)
                .route(direct(
                        "m1",
                        "- process: { ref: again }\n",
                        "- doTry:\n    steps:\n      - to: \"vllm:" + one.url() + "\"\n",
                        "    doCatch:\n      - exception: [ routes.error.GatewayException ]\n",
                        "        steps:\n          - to: \"vllm:" + two.url() + "\"\n"))
                .start()) {
            RawResponse answer = ask(gateway, request(false, "discarded"));

            assertThat(answer.status()).as("%s", answer).isEqualTo(200);
            assertThat(answer.text()).isEqualTo(Payloads.JSON);
            JsonNode line = UsageLines.of(gateway, "discarded");
            UsageLines.assertEnd(line, "success", 200, null);
            UsageLines.assertTokens(line, 5, 2, 7);
            assertThat(line.path("attempts").asInt()).isEqualTo(2);
            assertThat(one.request(0).header("x-request-id"))
                    .isNotEqualTo(two.request(0).header("x-request-id"));
            ask(gateway, request(false, "once-more"));
            assertThat(one.request(1).index()).as("place on its connection").isEqualTo(whole ? 1 : 0);
        }
    }
}
