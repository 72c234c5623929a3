package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import routes.door.Door;
import routes.fixture.Ended;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.RecordedRequest;
import routes.fixture.Requests;
import routes.fixture.Script;
import routes.fixture.Scripts;
import routes.replica.Replica;
import routes.replica.Replicas;

/** How answers end when a side dies, leaves or falls silent. */
class EndsJourneyTest {

    private static final Duration STALL = Duration.ofMillis(300);
    private static final String SSE = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
    private static final String HEAD = Payloads.sseHead();
    private static final String A = Payloads.chunk(Payloads.EVENT_A);
    private static FakeReplica replica;
    private static BlackHole hole;
    private static TestGateway gateway;

    private enum Leaving {
        FIN,
        RST;

        void leave(RawClient client) throws IOException {
            if (this == FIN) {
                client.leaveFin();
            } else {
                client.leaveRst();
            }
        }
    }

    @BeforeAll
    static void start() throws IOException {
        replica = FakeReplica.start();
        hole = BlackHole.open();
        gateway = TestGateway.builder()
                .model("m1", replica.url())
                .model("lost", hole.url())
                // one loop, so that every request finds the same pool of connections
                .property("gateway.event-loops", 1)
                .property("gateway.stall-timeout", STALL.toMillis() + "ms")
                .property("gateway.connect-timeout", "60s")
                .start();
    }

    @AfterAll
    static void stop() throws IOException {
        gateway.close();
        replica.close();
        hole.close();
    }

    @AfterEach
    void theNextRequestIsServed() throws IOException {
        gateway.awaitIdle();
        replica.answering(Scripts.normal());
        try (RawClient client = RawClient.connect(gateway.port())) {
            assertThat(client.exchange(Requests.chat("m1", false).key(TestGateway.KEY))
                            .status())
                    .isEqualTo(200);
        }
        gateway.awaitIdle();
        assertThat(replica.errors()).isEmpty();
    }

    private static Requests stream(String id) {
        return Requests.chat("m1", true).key(TestGateway.KEY).header("X-Request-Id", id);
    }

    private static Requests plain(String id) {
        return Requests.chat("m1", false).key(TestGateway.KEY).header("X-Request-Id", id);
    }

    private static long errors(FakeReplica of) {
        return gateway.bean(Replicas.class).all().stream()
                .filter(known -> known.address().port() == of.port())
                .mapToLong(Replica::errors)
                .sum();
    }

    private static void assertCut(RawResponse answer) {
        assertThat(answer.end().orElseThrow()).isIn(RawResponse.End.CUT_FIN, RawResponse.End.CUT_RST);
        assertThat(answer.text()).doesNotContain("[DONE]", "error");
    }

    // ---- the replica dies

    static Stream<Arguments> deaths() {
        return Stream.of(
                Arguments.of("rst", Scripts.thenRst(HEAD + A), Payloads.EVENT_A),
                Arguments.of("fin", Scripts.thenFin(HEAD + A), Payloads.EVENT_A),
                Arguments.of("fin-in-chunk", Scripts.thenFin(HEAD + A + "40\r\ndata: {\"id\":"), Payloads.EVENT_A),
                Arguments.of("fin-in-size-line", Scripts.thenFin(HEAD + A + "4"), Payloads.EVENT_A),
                Arguments.of("fin-in-last-chunk", Scripts.thenFin(HEAD + A + "0\r\n"), Payloads.EVENT_A),
                Arguments.of("bad-chunk-size", Scripts.thenHang(HEAD + A + "zz\r\nhello"), Payloads.EVENT_A),
                Arguments.of("huge-chunk-size", Scripts.thenHang(HEAD + A + "fffffffffffffffff\r\n"), Payloads.EVENT_A),
                Arguments.of(
                        "length-cut",
                        Scripts.thenFin(SSE + "Content-Length: 5000\r\n\r\n" + Payloads.EVENT_A),
                        Payloads.EVENT_A),
                Arguments.of(
                        "length-rst",
                        Scripts.thenRst(SSE + "Content-Length: 5000\r\n\r\n" + Payloads.EVENT_A),
                        Payloads.EVENT_A),
                Arguments.of("close-rst", Scripts.thenRst(SSE + "\r\n" + Payloads.EVENT_A), Payloads.EVENT_A));
    }

    @ParameterizedTest
    @MethodSource("deaths")
    void aStreamThatBreaksOffIsNeverEndedTidily(String name, Script script, String received) throws Exception {
        for (boolean asking : List.of(false, true)) {
            long errors = errors(replica);
            int before = replica.requests().size();
            replica.answering(script);
            String id = "death-" + name + asking;
            Requests request = asking
                    ? Requests.post(
                                    "/v1/chat/completions",
                                    "{\"model\":\"m1\",\"stream\":true,\"stream_options\":{\"include_usage\":true}}")
                            .key(TestGateway.KEY)
                            .header("X-Request-Id", id)
                    : stream(id);
            try (RawClient client = RawClient.connect(gateway.port())) {
                RawResponse answer = client.exchange(request);
                assertThat(answer.status()).isEqualTo(200);
                assertThat(answer.text()).startsWith(received);
                assertCut(answer);
            }
            JsonNode line = UsageLines.of(gateway, id);
            UsageLines.assertEnd(line, "upstream_aborted", 200, "upstream_incomplete");
            UsageLines.assertEstimate(line, 1);
            assertThat(line.path("attempts").asInt()).isEqualTo(1);
            assertThat(replica.requests()).hasSize(before + 1);
            assertThat(errors(replica)).isEqualTo(errors + 1);
        }
    }

    @Test
    void aPlainAnswerThatBreaksOffIsCutToo() throws Exception {
        replica.answering(Scripts.thenFin(Payloads.plainHead(200, 500) + Payloads.JSON));
        try (RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = client.exchange(plain("plain-cut"));
            assertThat(answer.header("content-length")).contains("500");
            assertThat(answer.text()).isEqualTo(Payloads.JSON);
            assertCut(answer);
        }
        UsageLines.assertEnd(UsageLines.of(gateway, "plain-cut"), "upstream_aborted", 200, "upstream_incomplete");
    }

    @Test
    void tokensSeenBeforeABreakAreMarkedAsPartial() throws Exception {
        String running = Payloads.event("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"A\"}}],"
                + "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":1,\"total_tokens\":6}}");
        replica.answering(Scripts.thenFin(HEAD + Payloads.chunk(running)));
        try (RawClient client = RawClient.connect(gateway.port())) {
            assertCut(client.exchange(stream("partial")));
        }
        JsonNode line = UsageLines.of(gateway, "partial");
        UsageLines.assertEnd(line, "upstream_aborted", 200, "upstream_incomplete");
        assertThat(line.path("completion_tokens").asLong()).isEqualTo(1);
        assertThat(line.path("usage_source").asText()).isEqualTo("running");
        assertThat(line.path("partial").asBoolean()).isTrue();
    }

    @Test
    void aStreamThatEndsTidilyButTooEarlyIsNoSuccess() throws Exception {
        replica.answering(Scripts.events(List.of(Payloads.EVENT_A)));
        try (RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = client.exchange(stream("early-end"));
            assertThat(answer.text()).isEqualTo(Payloads.EVENT_A);
            assertThat(answer.end()).contains(RawResponse.End.CLEAN);
        }
        UsageLines.assertEnd(UsageLines.of(gateway, "early-end"), "upstream_aborted", 200, "upstream_incomplete");
    }

    @Test
    void anErrorInsideAStreamIsRelayedAndIsNoSuccess() throws Exception {
        String error = Payloads.event(Payloads.error(500, "InternalServerError", "engine died"));
        replica.answering(Scripts.events(List.of(Payloads.EVENT_A, error, Payloads.EVENT_DONE)));
        try (RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = client.exchange(stream("error-event"));
            assertThat(answer.text()).isEqualTo(Payloads.EVENT_A + error + Payloads.EVENT_DONE);
            assertThat(answer.end()).contains(RawResponse.End.CLEAN);
        }
        UsageLines.assertEnd(UsageLines.of(gateway, "error-event"), "upstream_error", 200, "upstream_error");
    }

    // ---- the client leaves

    @ParameterizedTest
    @EnumSource
    void leavingBeforeTheAnswerEndsTheReplicasWork(Leaving leaving) throws Exception {
        for (boolean streaming : List.of(true, false)) {
            String id = "left-before-" + leaving + streaming;
            long errors = errors(replica);
            int number = replica.requests().size();
            replica.answering(Scripts.thenHang(""));
            RawClient client = RawClient.connect(gateway.port()).send(streaming ? stream(id) : plain(id));
            RecordedRequest seen = replica.request(number);
            leaving.leave(client);
            assertThat(seen.closed().get(5, TimeUnit.SECONDS)).isIn(Ended.FIN, Ended.RST);
            JsonNode line = UsageLines.of(gateway, id);
            UsageLines.assertEnd(line, "client_closed", 499, null);
            UsageLines.assertUnknownTokens(line);
            assertThat(line.path("attempts").asInt()).isEqualTo(1);
            assertThat(errors(replica)).isEqualTo(errors);
            assertNotUsedAgain(seen);
        }
    }

    @ParameterizedTest
    @EnumSource
    void leavingInsideAStreamEndsTheReplicasWork(Leaving leaving) throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        Script silent = Scripts.held(never, List.of(Payloads.tick(0), Payloads.tick(1)), List.of());
        for (Script script : List.of(silent, Scripts.ticking(never))) {
            String id = "left-inside-" + leaving + script.hashCode();
            long errors = errors(replica);
            int number = replica.requests().size();
            replica.answering(script);
            RawClient client = RawClient.connect(gateway.port()).send(stream(id));
            assertThat(client.begin().until("t1")).isTrue();
            leaving.leave(client);
            RecordedRequest seen = replica.request(number);
            assertThat(seen.closed().get(5, TimeUnit.SECONDS)).isIn(Ended.FIN, Ended.RST);
            JsonNode line = UsageLines.of(gateway, id);
            UsageLines.assertEnd(line, "client_closed", 200, null);
            long events = line.path("completion_tokens").asLong();
            assertThat(events).isGreaterThanOrEqualTo(2);
            UsageLines.assertEstimate(line, script == silent ? 2 : events);
            assertThat(errors(replica)).isEqualTo(errors);
            assertNotUsedAgain(seen);
        }
    }

    private static void assertNotUsedAgain(RecordedRequest seen) throws Exception {
        int number = replica.requests().size();
        replica.answering(Scripts.normal());
        try (RawClient client = RawClient.connect(gateway.port())) {
            assertThat(client.exchange(Requests.chat("m1", true).key(TestGateway.KEY))
                            .status())
                    .isEqualTo(200);
        }
        assertThat(replica.request(number).connection()).isNotEqualTo(seen.connection());
    }

    @ParameterizedTest
    @EnumSource
    void leavingWhileTheConnectionIsPendingEndsTheRequest(Leaving leaving) throws Exception {
        String id = "left-connecting-" + leaving;
        RawClient client = RawClient.connect(gateway.port())
                .send(Requests.chat("lost", true).key(TestGateway.KEY).header("X-Request-Id", id));
        TestGateway.await(
                () -> gateway.bean(Replicas.class).all().stream().anyMatch(r -> r.inFlight() == 1), "the attempt");
        leaving.leave(client);
        JsonNode line = UsageLines.of(gateway, id);
        UsageLines.assertEnd(line, "client_closed", 499, null);
        assertThat(line.path("attempts").asInt()).isEqualTo(1);
        assertThat(line.path("connect_ms").isNull()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void leavingInTheMiddleOfTheBodyEndsTheRequest(Leaving leaving) throws Exception {
        int before = replica.requests().size();
        String json = Requests.chatJson("m1", "x".repeat(100_000), false);
        for (boolean chunked : List.of(false, true)) {
            String id = "left-body-" + leaving + chunked;
            Requests request = Requests.post("/v1/chat/completions", json)
                    .key(TestGateway.KEY)
                    .header("X-Request-Id", id);
            byte[] wire = (chunked ? request.chunked(1000) : request).bytes();
            RawClient client = RawClient.connect(gateway.port()).send(Arrays.copyOf(wire, 30_000));
            TestGateway.await(() -> gateway.bean(Door.class).inFlight() == 1, "the request");
            leaving.leave(client);
            JsonNode line = UsageLines.of(gateway, id);
            UsageLines.assertEnd(line, "client_closed", 499, null);
            assertThat(line.path("attempts").asInt()).isZero();
            assertThat(line.path("replica").isNull()).isTrue();
            assertThat(line.path("model_asked").isNull()).isTrue();
        }
        assertThat(replica.requests()).hasSize(before);
    }

    // ---- silence

    @Test
    void aLongSilenceBeforeAPlainAnswerIsNoStall() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        int before = replica.requests().size();
        replica.answering(Scripts.holding(go));
        try (RawClient client = RawClient.connect(gateway.port()).send(plain("long-plain"))) {
            replica.request(before);
            LockSupport.parkNanos(STALL.multipliedBy(3).toNanos());
            go.countDown();
            RawResponse answer = client.response();
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.text()).isEqualTo(Payloads.JSON);
        }
        assertThat(replica.requests()).hasSize(before + 1);
        JsonNode line = UsageLines.of(gateway, "long-plain");
        UsageLines.assertEnd(line, "success", 200, null);
        assertThat(line.path("attempts").asInt()).isEqualTo(1);
    }

    @Test
    void aLongSilenceBeforeTheFirstEventIsNoStall() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        replica.answering(Scripts.held(go, List.of(": queued\n\n"), Payloads.STREAM));
        try (RawClient client = RawClient.connect(gateway.port()).send(stream("long-first"))) {
            RawResponse answer = client.begin();
            assertThat(answer.until(": queued")).isTrue();
            LockSupport.parkNanos(STALL.multipliedBy(3).toNanos());
            go.countDown();
            assertThat(answer.finish().end()).contains(RawResponse.End.CLEAN);
        }
        UsageLines.assertEnd(UsageLines.of(gateway, "long-first"), "success", 200, null);
    }

    @Test
    void aStreamThatFallsSilentIsBrokenOff() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        int before = replica.requests().size();
        replica.answering(Scripts.held(never, List.of(Payloads.EVENT_A), List.of()));
        try (RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = client.exchange(stream("stall"));
            assertThat(answer.text()).isEqualTo(Payloads.EVENT_A);
            assertCut(answer);
        }
        assertThat(replica.request(before).closed().get(5, TimeUnit.SECONDS)).isIn(Ended.FIN, Ended.RST);
        assertThat(replica.requests()).hasSize(before + 1);
        JsonNode line = UsageLines.of(gateway, "stall");
        UsageLines.assertEnd(line, "timeout", 200, "upstream_timeout");
        assertThat(line.path("attempts").asInt()).isEqualTo(1);
        assertThat(line.path("duration_ms").asDouble()).isGreaterThanOrEqualTo(STALL.toMillis());
    }

    @Test
    void theTotalTimeOutAnswers504AndTriesNobodyElse() throws Exception {
        try (FakeReplica other = FakeReplica.start(Scripts.thenHang(""));
                FakeReplica one = FakeReplica.start(Scripts.thenHang(""));
                TestGateway impatient = TestGateway.builder()
                        .model("m1", one.url(), other.url())
                        .property("gateway.total-timeout", "400ms")
                        .start();
                RawClient client = RawClient.connect(impatient.port())) {
            RawResponse answer = client.exchange(plain("total"));
            assertThat(answer.status()).isEqualTo(504);
            assertThat(answer.text()).contains("\"code\":\"upstream_timeout\"");
            assertThat(answer.header("content-type")).contains("application/json");
            assertThat(answer.end()).contains(RawResponse.End.CLEAN);
            assertThat(one.requests().size() + other.requests().size()).isEqualTo(1);
            FakeReplica asked = one.requests().isEmpty() ? other : one;
            assertThat(asked.request(0).closed().get(5, TimeUnit.SECONDS)).isIn(Ended.FIN, Ended.RST);
            JsonNode line = UsageLines.of(impatient, "total");
            UsageLines.assertEnd(line, "timeout", 504, "upstream_timeout");
            assertThat(line.path("attempts").asInt()).isEqualTo(1);

            // on the same connection: a stream whose first event never comes, and a body that never comes
            asked.answering(Scripts.thenHang(HEAD));
            other.answering(Scripts.thenHang(HEAD));
            one.answering(Scripts.thenHang(HEAD));
            RawResponse stream = client.exchange(stream("total-stream"));
            assertThat(stream.status()).isEqualTo(200);
            assertCut(stream);
            UsageLines.assertEnd(UsageLines.of(impatient, "total-stream"), "timeout", 200, "upstream_timeout");
            try (RawClient slow = RawClient.connect(impatient.port())) {
                slow.send(plain("total-body").head());
                RawResponse refused = slow.response();
                assertThat(refused.status()).isEqualTo(504);
                assertThat(refused.header("connection")).contains("close");
                assertThat(slow.awaitEnd(Duration.ofSeconds(10))).isPresent();
            }
            UsageLines.assertEnd(UsageLines.of(impatient, "total-body"), "timeout", 504, "upstream_timeout");
        }
    }
}
