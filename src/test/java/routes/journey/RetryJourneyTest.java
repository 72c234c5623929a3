package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import routes.fixture.Call;
import routes.fixture.Ended;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.RecordedRequest;
import routes.fixture.Requests;
import routes.fixture.Script;
import routes.fixture.Scripts;

/** Second tries: with the whole body, before the first byte of an answer, and never more than configured. */
class RetryJourneyTest {

    private static final String BODY = "x".repeat(100 * 1024);
    private static FakeReplica one;
    private static FakeReplica two;
    private static FakeReplica closed;
    private static FakeReplica closedToo;
    private static BlackHole hole;
    private static TestGateway gateway;

    @BeforeAll
    static void start() throws IOException {
        one = FakeReplica.start();
        two = FakeReplica.start();
        closed = FakeReplica.start();
        closed.refuse();
        closedToo = FakeReplica.start();
        closedToo.refuse();
        hole = BlackHole.open();
        gateway = TestGateway.builder()
                .model("single", one.url())
                .model("both", one.url(), two.url())
                .model("half", closed.url(), two.url())
                .model("none", closed.url(), closedToo.url())
                .model("slow", hole.url(), two.url())
                // one loop, so that every request finds the same pool of connections
                .property("gateway.event-loops", 1)
                .property("gateway.connect-timeout", "300ms")
                // breakers and budgets have a journey of their own
                .property("gateway.retry-budget", 100)
                .property("camel.resilience4j.minimumNumberOfCalls", 1000)
                .property("camel.resilience4j.slidingWindowSize", 1000)
                .start();
    }

    @AfterAll
    static void stop() throws IOException {
        gateway.close();
        one.close();
        two.close();
        hole.close();
    }

    @BeforeEach
    void everybodyIsWell() {
        one.answering(Scripts.normal());
        two.answering(Scripts.normal());
    }

    @AfterEach
    void nothingIsLeft() {
        gateway.awaitIdle();
        assertThat(one.errors()).isEmpty();
        assertThat(two.errors()).isEmpty();
    }

    private static Requests large(String model, String id) {
        return Requests.chat(model, BODY, true).key(TestGateway.KEY).header("X-Request-Id", id);
    }

    private static Requests small(String model, String content, String id) {
        return Requests.chat(model, content, false).key(TestGateway.KEY).header("X-Request-Id", id);
    }

    private static RawResponse ask(Requests request) throws IOException {
        try (RawClient client = RawClient.connect(gateway.port())) {
            return client.exchange(request);
        }
    }

    private static void assertServed(RawResponse answer) {
        assertThat(answer.status()).as("%s", answer).isEqualTo(200);
        assertThat(answer.text()).isIn(Payloads.JSON, String.join("", Payloads.STREAM_WITHOUT_USAGE));
        assertThat(answer.end()).contains(RawResponse.End.CLEAN);
    }

    static Stream<Arguments> deaths() {
        Script rstUnread = Scripts.early(Call::rst);
        return Stream.of(
                Arguments.of("fin-after-reading", (Script) Call::fin),
                Arguments.of("rst-after-reading", (Script) Call::rst),
                Arguments.of("rst-before-reading", rstUnread));
    }

    // ---- connections that were closed meanwhile

    @ParameterizedTest
    @MethodSource("deaths")
    void aStaleConnectionIsReplacedByAFreshOneWithTheSameBody(String name, Script death) throws Exception {
        assertServed(ask(large("single", "warm-" + name)));
        int number = one.requests().size();
        one.answering(Scripts.sequence(death, Scripts.normal()));

        assertServed(ask(large("single", "stale-" + name)));

        RecordedRequest stale = one.request(number);
        RecordedRequest fresh = one.request(number + 1);
        assertThat(stale.index()).isPositive();
        assertThat(fresh.index()).isZero();
        assertThat(fresh.bodyText()).contains(BODY).contains("\"include_usage\":true");
        assertThat(fresh.header("content-length")).contains(String.valueOf(fresh.body().length));
        if (stale.bodyRead().isDone()) {
            assertThat(stale.body()).isEqualTo(fresh.body());
        }
        assertThat(stale.header("x-request-id")).isNotEqualTo(fresh.header("x-request-id"));
        JsonNode line = UsageLines.of(gateway, "stale-" + name);
        UsageLines.assertEnd(line, "success", 200, null);
        UsageLines.assertTokens(line, 5, 2, 7);
        assertThat(line.path("attempts").asInt()).isEqualTo(2);
        assertThat(fresh.header("x-request-id"))
                .contains(line.path("upstream_request_id").asText());
    }

    @ParameterizedTest
    @MethodSource("deaths")
    void aFreshConnectionThatDiesIsTriedElsewhere(String name, Script death) throws Exception {
        Script dies = Scripts.sequence(death, Scripts.normal());
        one.answering(dies);
        two.answering(dies);
        one.resetAll();
        two.resetAll();
        int first = one.requests().size();
        int second = two.requests().size();

        assertServed(ask(large("both", "fresh-" + name)));

        assertThat(one.requests()).hasSize(first + 1);
        assertThat(two.requests()).hasSize(second + 1);
        JsonNode line = UsageLines.of(gateway, "fresh-" + name);
        UsageLines.assertEnd(line, "success", 200, null);
        assertThat(line.path("attempts").asInt()).isBetween(2, 4);
        assertThat(line.path("affinity").asText()).isEqualTo("only_one");
    }

    @ParameterizedTest
    @MethodSource("deaths")
    void whenEverybodyDiesTheClientHearsOfIt(String name, Script death) throws Exception {
        one.answering(death);
        two.answering(death);
        int seen = one.requests().size() + two.requests().size();

        RawResponse answer = ask(large("both", "all-" + name));

        assertThat(answer.status()).isEqualTo(502);
        assertThat(answer.text()).contains("\"code\":\"upstream_reset\"").doesNotContain("127.0.0.1");
        assertThat(answer.header("retry-after")).contains("1");
        JsonNode line = UsageLines.of(gateway, "all-" + name);
        UsageLines.assertEnd(line, "upstream_error", 502, "upstream_reset");
        // each of two attempts may have met a stale connection before its fresh one
        assertThat(line.path("attempts").asInt()).isBetween(2, 4);
        assertThat(one.requests().size() + two.requests().size() - seen)
                .isEqualTo(line.path("attempts").asInt());
        assertThat(two.requests()).isNotEmpty();
    }

    @Test
    void aHeadThatIsCutOffCountsAsNoAnswer() throws Exception {
        Script cut = Scripts.sequence(Scripts.thenFin("HTTP/1.1 200 OK\r\nContent-Ty"), Scripts.normal());
        one.answering(cut);
        two.answering(cut);
        assertServed(ask(small("both", "hi", "half-head")));
        assertThat(UsageLines.of(gateway, "half-head").path("attempts").asInt()).isEqualTo(2);
    }

    @Test
    void clientsNeverSeeThatReplicasCloseIdleConnections() throws Exception {
        try (FakeReplica closing = FakeReplica.start().idleClose(Duration.ofMillis(20));
                TestGateway busy = TestGateway.builder()
                        .model("m1", closing.url())
                        .property("gateway.event-loops", 1)
                        .start();
                RawClient client = RawClient.connect(busy.port())) {
            for (int i = 0; i < 80; i++) {
                assertServed(client.exchange(small("m1", "hi", "idle-" + i)));
                LockSupport.parkNanos(Duration.ofMillis(19).toNanos() + i % 5 * 500_000L);
            }
            Map<String, JsonNode> lines = UsageLines.all(busy);
            assertThat(lines).hasSize(80);
            assertThat(lines.values())
                    .allMatch(line -> line.path("outcome").asText().equals("success"));
            assertThat(closing.connections()).isGreaterThan(1);
        }
    }

    @Test
    void idleConnectionsAreClosedBeforeReplicasDo() throws Exception {
        try (FakeReplica replica = FakeReplica.start();
                TestGateway quick = TestGateway.builder()
                        .model("m1", replica.url())
                        .property("gateway.pool-idle-timeout", "100ms")
                        .start();
                RawClient client = RawClient.connect(quick.port())) {
            assertServed(client.exchange(small("m1", "hi", "first")));
            assertThat(replica.request(0).closed().get(5, TimeUnit.SECONDS)).isEqualTo(Ended.FIN);
            assertServed(client.exchange(small("m1", "hi", "second")));
            assertThat(UsageLines.of(quick, "second").path("attempts").asInt()).isEqualTo(1);
        }
    }

    // ---- connections that never come about

    @Test
    void aRefusedConnectionIsTriedElsewhere() throws Exception {
        for (int i = 0; i < 24; i++) {
            assertServed(ask(small("half", "prefix " + i, "half-" + i)));
        }
        List<Integer> attempts = new ArrayList<>();
        Map<String, JsonNode> lines = UsageLines.all(gateway);
        for (int i = 0; i < 24; i++) {
            JsonNode line = lines.get("half-" + i);
            UsageLines.assertEnd(line, "success", 200, null);
            assertThat(line.path("replica").asText()).isEqualTo(two.url());
            int tries = line.path("attempts").asInt();
            // two tries at home: the first met a connection that an earlier test had closed
            assertThat(line.path("affinity").asText()).isEqualTo(tries == 1 ? "home" : "only_one");
            attempts.add(tries);
        }
        assertThat(attempts).contains(1, 2).allMatch(tries -> tries <= 2);
    }

    @Test
    void aConnectionThatTakesTooLongIsTriedElsewhere() throws Exception {
        for (int i = 0; i < 8; i++) {
            assertServed(ask(small("slow", "prefix " + i, "slow-" + i)));
        }
        Map<String, JsonNode> lines = UsageLines.all(gateway);
        List<Integer> attempts = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            attempts.add(lines.get("slow-" + i).path("attempts").asInt());
        }
        assertThat(attempts).contains(2).allMatch(tries -> tries <= 2);
    }

    @Test
    void whenNobodyCanBeReachedTheClientHearsOfIt() throws Exception {
        RawResponse answer = ask(large("none", "none"));
        assertThat(answer.status()).isEqualTo(502);
        assertThat(answer.text())
                .contains("\"code\":\"upstream_connect_failed\"")
                .doesNotContain("127.0.0.1");
        assertThat(answer.header("retry-after")).contains("1");
        assertThat(answer.end()).contains(RawResponse.End.CLEAN);
        JsonNode line = UsageLines.of(gateway, "none");
        UsageLines.assertEnd(line, "upstream_error", 502, "upstream_connect_failed");
        UsageLines.assertUnknownTokens(line);
        assertThat(line.path("attempts").asInt()).isEqualTo(2);
    }

    @Test
    void oneTryIsOneTry() throws Exception {
        try (FakeReplica alive = FakeReplica.start();
                TestGateway once = TestGateway.builder()
                        .model("m1", closed.url(), closedToo.url(), alive.url())
                        .property("gateway.max-attempts", 1)
                        .start();
                RawClient client = RawClient.connect(once.port())) {
            int refused = 0;
            for (int i = 0; i < 20; i++) {
                RawResponse answer = client.exchange(small("m1", "prefix " + i, "once-" + i));
                refused += answer.status() == 502 ? 1 : 0;
                assertThat(UsageLines.of(once, "once-" + i).path("attempts").asInt())
                        .isEqualTo(1);
            }
            assertThat(refused).isPositive();
        }
    }

    // ---- what is not tried again

    @Test
    void anErrorThatNobodyElseKnowsBetterIsRelayedAsItCame() throws Exception {
        for (int status : new int[] {429, 502, 503}) {
            String body = Payloads.error(status, "Busy", "not now");
            one.answering(Scripts.status(status, body));
            two.answering(Scripts.status(status, body));
            int seen = one.requests().size() + two.requests().size();
            RawResponse answer = ask(small("both", "hi", "status-" + status));
            assertThat(answer.status()).isEqualTo(status);
            assertThat(answer.text()).isEqualTo(body);
            assertThat(one.requests().size() + two.requests().size()).isEqualTo(seen + 2);
            JsonNode line = UsageLines.of(gateway, "status-" + status);
            UsageLines.assertEnd(line, "upstream_error", status, "upstream_error");
            assertThat(line.path("attempts").asInt()).isEqualTo(2);
        }
    }

    @Test
    void anErrorOfTheRequestIsNotTriedAgain() throws Exception {
        for (int status : new int[] {400, 404, 422, 500}) {
            String body = Payloads.error(status, "Wrong", "never");
            one.answering(Scripts.status(status, body));
            two.answering(Scripts.status(status, body));
            int seen = one.requests().size() + two.requests().size();
            RawResponse answer = ask(small("both", "hi", "wrong-" + status));
            assertThat(answer.status()).isEqualTo(status);
            assertThat(answer.text()).isEqualTo(body);
            assertThat(one.requests().size() + two.requests().size()).isEqualTo(seen + 1);
            assertThat(UsageLines.of(gateway, "wrong-" + status)
                            .path("attempts")
                            .asInt())
                    .isEqualTo(1);
        }
    }

    @Test
    void onceAByteWentToTheClientNothingIsTriedAgain() throws Exception {
        CountDownLatch read = new CountDownLatch(1);
        Script dying = call -> {
            call.sseHead();
            call.await(read);
            call.rst();
        };
        one.answering(dying);
        two.answering(dying);
        int seen = one.requests().size() + two.requests().size();
        try (RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = client.send(large("both", "begun")).begin();
            assertThat(answer.status()).isEqualTo(200);
            read.countDown();
            assertThat(answer.finish().end().orElseThrow()).isIn(RawResponse.End.CUT_FIN, RawResponse.End.CUT_RST);
        }
        assertThat(one.requests().size() + two.requests().size()).isEqualTo(seen + 1);
        JsonNode line = UsageLines.of(gateway, "begun");
        UsageLines.assertEnd(line, "upstream_aborted", 200, "upstream_incomplete");
        assertThat(line.path("attempts").asInt()).isEqualTo(1);
    }
}
