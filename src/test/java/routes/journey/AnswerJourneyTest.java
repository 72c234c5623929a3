package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import routes.fixture.Ended;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.RecordedRequest;
import routes.fixture.Requests;
import routes.fixture.Script;
import routes.fixture.Scripts;

/** Heads of answers, usual and unusual, and answers that are errors. */
class AnswerJourneyTest {

    private static final int LENGTH = Payloads.JSON.length();
    private static FakeReplica replica;
    private static FakeReplica other;
    private static TestGateway gateway;

    @BeforeAll
    static void start() throws IOException {
        replica = FakeReplica.start();
        other = FakeReplica.start();
        gateway = TestGateway.builder()
                .model("m1", replica.url())
                .model("both", replica.url(), other.url())
                // one loop, so that every request finds the same pool of connections
                .property("gateway.event-loops", 1)
                .start();
    }

    @AfterAll
    static void stop() throws IOException {
        gateway.close();
        replica.close();
        other.close();
    }

    @AfterEach
    void theNextRequestIsServed() throws IOException {
        gateway.awaitIdle();
        replica.answering(Scripts.normal());
        other.answering(Scripts.normal());
        try (RawClient client = RawClient.connect(gateway.port())) {
            assertThat(client.exchange(Requests.chat("m1", true).key(TestGateway.KEY))
                            .status())
                    .isEqualTo(200);
        }
        gateway.awaitIdle();
        assertThat(replica.errors()).isEmpty();
    }

    private static Requests plain(String model, String id) {
        return Requests.chat(model, false).key(TestGateway.KEY).header("X-Request-Id", id);
    }

    private static RawResponse ask(String id, Script script) throws IOException {
        replica.answering(script);
        other.answering(script);
        try (RawClient client = RawClient.connect(gateway.port())) {
            return client.exchange(plain("m1", id));
        }
    }

    private static void assertServed(RawResponse answer, String id) {
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.text()).isEqualTo(Payloads.JSON);
        assertThat(answer.end()).contains(RawResponse.End.CLEAN);
        JsonNode line = UsageLines.of(gateway, id);
        UsageLines.assertEnd(line, "success", 200, null);
        UsageLines.assertTokens(line, 5, 2, 7);
        assertThat(line.path("attempts").asInt()).isEqualTo(1);
    }

    @Test
    void interimAnswersArePassedOver() throws Exception {
        RawResponse answer = ask(
                "interim",
                Scripts.wire("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n"
                        + "Content-Length: 3\r\n\r\n" + Payloads.answer(200, Payloads.JSON)));
        assertThat(answer.interim()).isEmpty();
        assertThat(answer.header("link")).isEmpty();
        assertServed(answer, "interim");
    }

    @Test
    void anAnswerWithoutFramingEndsWithItsConnection() throws Exception {
        for (String version : List.of("1.0", "1.1")) {
            int number = replica.requests().size();
            RawResponse answer = ask(
                    "unframed-" + version,
                    Scripts.thenFin(
                            "HTTP/" + version + " 200 OK\r\nContent-Type: application/json\r\n\r\n" + Payloads.JSON));
            assertThat(answer.header("transfer-encoding")).contains("chunked");
            assertServed(answer, "unframed-" + version);
            assertThat(replica.request(number).closed().get(5, TimeUnit.SECONDS))
                    .isEqualTo(Ended.OURS);
        }
    }

    @Test
    void aHttp10AnswerIsServedAndItsConnectionNotUsedAgainUnlessItSaysSo() throws Exception {
        String rest = " 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + LENGTH + "\r\n";
        int number = replica.requests().size();
        assertServed(ask("http10", Scripts.wire("HTTP/1.0" + rest + "\r\n" + Payloads.JSON)), "http10");
        assertServed(
                ask("http10-kept", Scripts.wire("HTTP/1.0" + rest + "Connection: keep-alive\r\n\r\n" + Payloads.JSON)),
                "http10-kept");
        assertServed(
                ask("http11-close", Scripts.wire("HTTP/1.1" + rest + "Connection: Close\r\n\r\n" + Payloads.JSON)),
                "http11-close");
        ask("http11-after", Scripts.normal());
        int first = replica.request(number).connection();
        assertThat(replica.request(number + 1).connection()).isNotEqualTo(first);
        assertThat(replica.request(number + 2).connection())
                .isEqualTo(replica.request(number + 1).connection());
        assertThat(replica.request(number + 3).connection())
                .isNotEqualTo(replica.request(number + 2).connection());
    }

    @Test
    void anAnswerWithoutABodyLeavesTheConnectionFit() throws Exception {
        int number = replica.requests().size();
        for (String wire : List.of(
                "HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")) {
            String id = "bodyless-" + wire.hashCode();
            RawResponse answer = ask(id, Scripts.wire(wire));
            assertThat(answer.status()).isIn(200, 204);
            assertThat(answer.body()).isEmpty();
            assertThat(answer.end()).contains(RawResponse.End.CLEAN);
            if (answer.status() == 204) {
                assertThat(answer.header("content-length")).isEmpty();
                assertThat(answer.header("transfer-encoding")).isEmpty();
                assertThat(answer.header("x-a")).contains("b");
            }
            JsonNode line = UsageLines.of(gateway, id);
            UsageLines.assertEnd(line, "success", answer.status(), null);
            UsageLines.assertUnknownTokens(line);
        }
        assertThat(replica.request(number + 2).connection())
                .isEqualTo(replica.request(number).connection());
    }

    static Stream<Arguments> garbage() {
        String ok = "HTTP/1.1 200 OK\r\n";
        return Stream.of(
                Arguments.of("ssh", "SSH-2.0-OpenSSH_9.6\r\n\r\n"),
                Arguments.of("no-status", "HTTP/1.1 abc\r\n\r\n"),
                Arguments.of("short-status-line", "HTTP/1.1 20\r\n\r\n"),
                Arguments.of("http2", "HTTP/2 200 OK\r\n\r\n"),
                Arguments.of("status-999", "HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n"),
                Arguments.of("switching", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n"),
                Arguments.of("endless-interim", "HTTP/1.1 102 Processing\r\n\r\n".repeat(50)),
                Arguments.of("two-lengths", ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
                Arguments.of("signed-length", ok + "Content-Length: +5\r\n\r\nhello"),
                Arguments.of("other-coding", ok + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
                Arguments.of("folded", ok + "X-A: b\r\n  c\r\nContent-Length: 0\r\n\r\n"),
                Arguments.of("no-colon", ok + "X-A\r\nContent-Length: 0\r\n\r\n"),
                Arguments.of("space-in-name", ok + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"),
                Arguments.of("lone-cr", ok + "X-A: b\rX-Evil: 1\r\nContent-Length: 0\r\n\r\n"),
                Arguments.of("lone-lf", ok + "X-A: b\nX-Evil: 1\r\nContent-Length: 0\r\n\r\n"),
                Arguments.of("only-lf", "HTTP/1.1 200 OK\nContent-Length: 0\n\n"),
                Arguments.of("nul", ok + "X-A: b\0c\r\nContent-Length: 0\r\n\r\n"),
                Arguments.of("huge-head", ok + "X-A: " + "a".repeat(70_000) + "\r\nContent-Length: 0\r\n\r\n"),
                Arguments.of("endless-head", "x".repeat(70_000)));
    }

    @ParameterizedTest
    @MethodSource("garbage")
    void whatIsNotHttpIsABadGatewayAndNotTriedElsewhere(String name, String wire) throws Exception {
        int before = replica.requests().size() + other.requests().size();
        replica.answering(Scripts.thenHang(wire));
        other.answering(Scripts.thenHang(wire));
        String id = "garbage-" + name;
        try (RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = client.exchange(plain("both", id));
            assertThat(answer.status()).isEqualTo(502);
            assertThat(answer.text()).contains("\"code\":\"upstream_invalid\"").doesNotContain("127.0.0.1");
            assertThat(answer.header("content-type")).contains("application/json");
            assertThat(answer.header("x-evil")).isEmpty();
            assertThat(answer.end()).contains(RawResponse.End.CLEAN);
            // the client's connection is still good
            replica.answering(Scripts.normal());
            other.answering(Scripts.normal());
            assertServed(client.exchange(plain("both", id + "-next")), id + "-next");
        }
        assertThat(replica.requests().size() + other.requests().size()).isEqualTo(before + 2);
        JsonNode line = UsageLines.of(gateway, id);
        UsageLines.assertEnd(line, "upstream_error", 502, "upstream_invalid");
        assertThat(line.path("attempts").asInt()).isEqualTo(1);
    }

    @Test
    void aHeadMayComeByteByByteAndBeLarge() throws Exception {
        byte[] wire = Payloads.answer(200, Payloads.JSON, "X-Long: " + "a".repeat(300))
                .getBytes(StandardCharsets.UTF_8);
        assertServed(
                ask("byte-by-byte", call -> {
                    for (byte each : wire) {
                        call.write(new byte[] {each});
                    }
                }),
                "byte-by-byte");
        String value = "b".repeat(60_000);
        RawResponse large = ask("large-head", Scripts.status(200, Payloads.JSON, "X-Large: " + value));
        assertThat(large.header("x-large")).contains(value);
        assertServed(large, "large-head");
    }

    @Test
    void headersOfTheConnectionStayOnIt() throws Exception {
        RawResponse answer = ask(
                "hop-by-hop",
                Scripts.status(
                        200,
                        Payloads.JSON,
                        "Connection: keep-alive, X-Hop, x-other",
                        "Keep-Alive: timeout=5",
                        "Proxy-Connection: keep-alive",
                        "Proxy-Authenticate: Basic",
                        "TE: trailers",
                        "Trailer: X-T",
                        "Upgrade: h2c",
                        "x-HOP: 1",
                        "X-Other: 2",
                        "X-Kept: 3",
                        "x-kept: 4",
                        "X-Request-Id: from-the-replica",
                        "openai-processing-ms: 12"));
        for (String name : List.of(
                "connection",
                "keep-alive",
                "proxy-connection",
                "proxy-authenticate",
                "te",
                "trailer",
                "upgrade",
                "x-hop",
                "x-other")) {
            assertThat(answer.header(name)).as(name).isEmpty();
        }
        assertThat(answer.allHeaders("x-kept")).containsExactly("3", "4");
        assertThat(answer.header("openai-processing-ms")).contains("12");
        assertThat(answer.allHeaders("x-request-id")).containsExactly("hop-by-hop");
        assertThat(answer.allHeaders("content-length")).containsExactly(String.valueOf(LENGTH));
        assertServed(answer, "hop-by-hop");
    }

    @Test
    void theReplicasOwnRefusalsAreRelayedUnchanged() throws Exception {
        String json = Payloads.error(429, "RateLimitError", "slow down \\u00e9");
        String long400 = Payloads.error(400, "BadRequestError", "x".repeat(20_000));
        record Refusal(int status, String type, String body) {}
        for (Refusal refusal : List.of(
                new Refusal(429, "application/json", json),
                new Refusal(400, "application/json; charset=utf-8", long400),
                new Refusal(404, "application/json", Payloads.error(404, "NotFoundError", "no such model")),
                new Refusal(500, "text/plain; charset=utf-8", "Internal Server Error"),
                new Refusal(503, "application/json", Payloads.error(503, "QueueOverflowError", "busy")))) {
            String wire = "HTTP/1.1 " + refusal.status + " Whatever\r\nContent-Type: " + refusal.type
                    + "\r\nretry-AFTER: 7\r\nX-RateLimit-Remaining-Requests: 0\r\nContent-Length: "
                    + refusal.body.length() + "\r\n\r\n" + refusal.body;
            int before = replica.requests().size();
            String id = "refusal-" + refusal.status;
            RawResponse answer = ask(id, Scripts.wire(wire));
            assertThat(answer.status()).isEqualTo(refusal.status);
            assertThat(answer.text()).isEqualTo(refusal.body);
            assertThat(answer.header("content-type")).contains(refusal.type);
            assertThat(answer.header("retry-after")).contains("7");
            assertThat(answer.header("x-ratelimit-remaining-requests")).contains("0");
            assertThat(answer.end()).contains(RawResponse.End.CLEAN);
            assertThat(replica.requests()).hasSize(before + 1);
            JsonNode line = UsageLines.of(gateway, id);
            UsageLines.assertEnd(line, "upstream_error", refusal.status, "upstream_error");
            UsageLines.assertUnknownTokens(line);
            assertThat(line.path("attempts").asInt()).isEqualTo(1);
        }
    }

    @Test
    void anAnswerThatComesBeforeTheBodyIsReadIsRelayedAndItsConnectionNotUsedAgain() throws Exception {
        String body = Payloads.error(413, "RequestTooLarge", "too large");
        int number = replica.requests().size();
        replica.answering(Scripts.early(call -> {
            call.deaf();
            call.write(Payloads.answer(413, body)).hang();
        }));
        String huge = "x".repeat(24 << 20);
        try (RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = client.exchange(
                    Requests.chat("m1", huge, false).key(TestGateway.KEY).header("X-Request-Id", "early"));
            assertThat(answer.status()).isEqualTo(413);
            assertThat(answer.text()).isEqualTo(body);
            assertThat(answer.end()).contains(RawResponse.End.CLEAN);
            UsageLines.assertEnd(UsageLines.of(gateway, "early"), "upstream_error", 413, "upstream_error");
            replica.answering(Scripts.normal());
            assertServed(client.exchange(plain("m1", "early-next")), "early-next");
        }
        RecordedRequest early = replica.request(number);
        assertThat(replica.request(number + 1).connection()).isNotEqualTo(early.connection());
        replica.resetAll();
        // deaf as it is, it only notices when it writes
        assertThat(early.closed().get(5, TimeUnit.SECONDS)).isNotNull();
    }

    @Test
    void anErrorThatIsAStreamKeepsItsBytes() throws Exception {
        String event = Payloads.event(Payloads.error(400, "BadRequestError", "no")) + Payloads.EVENT_USAGE;
        replica.answering(Scripts.wire("HTTP/1.1 400 Bad\r\nContent-Type: text/event-stream\r\nContent-Length: "
                + event.length() + "\r\n\r\n" + event));
        try (RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = client.exchange(
                    Requests.chat("m1", true).key(TestGateway.KEY).header("X-Request-Id", "stream-400"));
            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.text()).isEqualTo(event);
            assertThat(answer.header("content-length")).contains(String.valueOf(event.length()));
        }
        UsageLines.assertEnd(UsageLines.of(gateway, "stream-400"), "upstream_error", 400, "upstream_error");
    }

    @Test
    void idsOfTheClientComeBackAndReplicasGetTheirOwn() throws Exception {
        int number = replica.requests().size();
        try (RawClient client = RawClient.connect(gateway.port())) {
            for (String asked : List.of("same.id_1-2", "same.id_1-2", "no spaces", "", "x".repeat(129))) {
                RawResponse answer = client.exchange(
                        Requests.chat("m1", false).key(TestGateway.KEY).header("X-Request-Id", asked));
                String id = answer.header("x-request-id").orElseThrow();
                assertThat(id).matches("[A-Za-z0-9._-]{1,128}");
                assertThat(id.equals(asked)).isEqualTo(asked.equals("same.id_1-2"));
            }
        }
        List<RecordedRequest> seen = replica.requests().subList(number, number + 5);
        assertThat(seen).extracting(r -> r.header("x-request-id").orElseThrow()).doesNotHaveDuplicates();
        assertThat(seen).noneMatch(r -> r.header("x-request-id").orElseThrow().contains("same.id"));
        // two lines have the same id here, as the client wanted
        gateway.awaitIdle();
        assertThat(gateway.lines().stream().filter(line -> line.contains("same.id_1-2")))
                .hasSize(2);
    }
}
