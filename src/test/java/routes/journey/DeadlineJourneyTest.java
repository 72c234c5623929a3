package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import routes.door.Door;
import routes.fixture.Ended;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.Requests;
import routes.fixture.Script;
import routes.fixture.Scripts;

/** How long the door waits for a client: for its head, its body, its next request, and until it takes its answer. */
class DeadlineJourneyTest {

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int LARGE = 24 << 20;

    private static FakeReplica replica;
    private static TestGateway gateway;
    private UsageMark usage;

    @BeforeAll
    static void start() throws IOException {
        replica = FakeReplica.start();
        gateway = TestGateway.builder()
                .property("gateway.header-timeout", "300ms")
                .property("gateway.body-timeout", "400ms")
                .property("gateway.idle-timeout", "500ms")
                .property("gateway.write-stall-timeout", "600ms")
                .model("m1", replica.url())
                .route("""
                        - route:
                            id: hello
                            from:
                              uri: netty-http:http://{{gateway.host}}:{{gateway.port}}/hello
                              steps:
                                - setBody: { constant: "Hello" }
                        """)
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

    // ---- heads

    @Test
    void aConnectionWithoutARequestIsClosed() throws Exception {
        try (RawClient client = connect()) {
            RawResponse nothing = client.response();

            assertThat(nothing.end()).contains(RawResponse.End.NONE);
            assertThat(client.awaitEnd(PATIENCE)).contains(Ended.FIN);
        }
        TestGateway.await(() -> gateway.bean(Door.class).connections() == 0, "connections");
        assertThat(usage.ends()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aHeadThatStopsHalfWayIsAnsweredAndTheConnectionEnds(boolean first) throws Exception {
        try (RawClient client = connect()) {
            if (!first) {
                assertThat(client.exchange(good()).status()).isEqualTo(200);
            }
            client.send("GET /v1/models HTTP/1.1\r\nHost: x\r\n");

            assertTimedOut(client);
        }
        assertThat(usage.ends()).hasSize(first ? 0 : 1);
    }

    @Test
    void aHeadThatDripsIsNoBetter() throws Exception {
        byte[] head = good().header("X-Long", "x".repeat(5_000)).bytes();
        long started = System.nanoTime();
        try (RawClient client = connect()) {
            RawResponse answer = null;
            for (int i = 0; i < head.length && (answer == null || answer.end().isEmpty() || timedOut(answer)); i++) {
                client.send(new byte[] {head[i]});
                answer = client.begin(Duration.ofMillis(20));
            }

            assertThat(answer).isNotNull();
            assertThat(answer.status()).isEqualTo(408);
            assertThat(Duration.ofNanos(System.nanoTime() - started)).isGreaterThanOrEqualTo(Duration.ofMillis(300));
        }
        assertThat(usage.ends()).isEmpty();
    }

    // ---- bodies

    @ParameterizedTest
    @ValueSource(ints = {0, 16})
    void aBodyThatStopsHalfWayIsAnsweredAndTheConnectionEnds(int chunk) throws Exception {
        int seen = replica.requests().size();
        byte[] wire = good().chunked(chunk).bytes();
        try (RawClient client = connect()) {
            client.send(Arrays.copyOf(wire, wire.length - 10));

            assertTimedOut(client);
        }
        assertThat(replica.requests()).hasSize(seen);
        assertThat(usage.ends()).containsExactly("rejected request_timeout 408");
    }

    @Test
    void aBodyThatDripsIsNoBetter() throws Exception {
        try (RawClient client = connect()) {
            client.send(good().declaredLength(5_000).head());
            RawResponse answer = null;
            for (int i = 0; i < 5_000 && (answer == null || timedOut(answer)); i++) {
                client.send(" ");
                answer = client.begin(Duration.ofMillis(20));
            }

            assertThat(answer).isNotNull();
            assertThat(answer.status()).isEqualTo(408);
        }
        assertThat(usage.ends()).containsExactly("rejected request_timeout 408");
    }

    @Test
    void aBodyThatIsAskedForAndNeverComesIsAnsweredToo() throws Exception {
        try (RawClient client = connect()) {
            client.send(good().header("Expect", "100-continue").head());
            RawResponse answer = client.response();

            assertThat(answer.interim()).containsExactly(100);
            assertThat(answer.status()).isEqualTo(408);
        }
        assertThat(usage.ends()).containsExactly("rejected request_timeout 408");
    }

    @Test
    void aRefusedBodyThatNeverComesEndsTheConnection() throws Exception {
        try (RawClient client = connect()) {
            client.send(Requests.chat("m1", false).key("sk-wrong").head());
            RawResponse answer = client.response();

            assertThat(answer.status()).isEqualTo(401);
            assertThat(answer.header("connection")).isEmpty();
            assertThat(client.awaitEnd(PATIENCE)).contains(Ended.FIN);
        }
        assertThat(usage.ends()).isEmpty();
    }

    @Test
    void aBodyForAnOrdinaryRouteHasADeadlineAsWell() throws Exception {
        try (RawClient client = connect()) {
            client.send(Requests.post("/hello", "x".repeat(100)).head()).send("half");

            assertThat(client.awaitEnd(PATIENCE)).contains(Ended.FIN);
        }
        assertThat(usage.ends()).isEmpty();
    }

    // ---- between requests

    @Test
    void anIdleConnectionIsClosedWithoutAWord() throws Exception {
        try (RawClient client = connect()) {
            assertThat(client.exchange(good()).status()).isEqualTo(200);
            long idle = System.nanoTime();
            RawResponse nothing = client.response();

            assertThat(nothing.end()).contains(RawResponse.End.NONE);
            assertThat(client.awaitEnd(PATIENCE)).contains(Ended.FIN);
            assertThat(Duration.ofNanos(System.nanoTime() - idle)).isGreaterThan(Duration.ofMillis(400));
        }
        assertThat(usage.ends()).containsExactly("success 200");
    }

    @Test
    void aRequestMayTakeLongerThanEveryDeadlineOfItsClient() throws Exception {
        replica.answering(call -> {
            // longer than any of the door's deadlines, which must not count here
            Thread.sleep(900);
            call.write(Payloads.answer(200, Payloads.JSON));
        });
        try (RawClient client = connect()) {
            assertThat(client.exchange(good()).text()).isEqualTo(Payloads.JSON);
        }
        assertThat(usage.ends()).containsExactly("success 200");
    }

    // ---- answers that nobody takes

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aClientThatTakesNothingIsGivenUp(boolean stream) throws Exception {
        int seen = replica.requests().size();
        replica.answering(stream ? endless() : plain());
        try (RawClient client = RawClient.connect(gateway.port(), 4096)) {
            client.send(Requests.chat("m1", stream).key(TestGateway.KEY));

            assertThat(replica.request(seen).closed().get(20, TimeUnit.SECONDS)).isNotNull();
            assertThat(usage.ends()).containsExactly("client_closed 200");
            TestGateway.await(() -> gateway.bean(Door.class).connections() == 0, "connections");
        }
    }

    @Test
    void aClientThatTakesLittleButSteadilyIsServedToTheEnd() throws Exception {
        replica.answering(plain());
        try (RawClient client = RawClient.connect(gateway.port(), 65_536)) {
            client.send(good());
            RawResponse answer = client.begin().finishSlowly(65_536, Duration.ofMillis(5));

            assertThat(answer.end()).contains(RawResponse.End.CLEAN);
            assertThat(answer.body()).hasSize(LARGE);
        }
        assertThat(usage.ends()).containsExactly("success 200");
    }

    @Test
    void aClientThatAsksOnAndReadsNothingIsGivenUp() throws Exception {
        byte[] request = Requests.get("/nothing").bytes();
        byte[] batch = new byte[request.length * 1_000];
        for (int i = 0; i < 1_000; i++) {
            System.arraycopy(request, 0, batch, i * request.length, request.length);
        }
        try (RawClient client = RawClient.connect(gateway.port(), 4096)) {
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 1_000; i++) {
                            client.send(batch);
                        }
                    })
                    .isInstanceOf(IOException.class);
        }
        TestGateway.await(() -> gateway.bean(Door.class).connections() == 0, "connections");
        assertThat(usage.ends()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.1", "1.0"})
    void aLastAnswerThatNobodyTakesIsGivenUpToo(String version, @TempDir Path folder) throws Exception {
        Path large = Files.writeString(folder.resolve("large.json"), " ".repeat(LARGE));
        try (TestGateway own = TestGateway.builder()
                        .property("gateway.write-stall-timeout", "300ms")
                        .steps("        - setBody: { constant: \"resource:file:" + large + "\" }")
                        .start();
                RawClient client = RawClient.connect(own.port(), 4096)) {
            client.send(good().version(version).header("Connection", "close"));
            assertThat(client.begin().header("connection")).contains("close");

            assertThat(own.usageLines(1)).singleElement().asString().contains("\"outcome\":\"success\"");
            TestGateway.await(() -> own.bean(Door.class).connections() == 0, "the end of the connection");
        }
    }

    // ---- pieces

    private static Script endless() {
        return call -> {
            call.sseHead();
            String chunk = Payloads.chunk(Payloads.event(
                    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + "x".repeat(8_000) + "\"}}]}"));
            while (!call.ended()) {
                call.write(chunk);
            }
        };
    }

    private static Script plain() {
        String padding = " ".repeat(1 << 20);
        return call -> {
            call.write(Payloads.plainHead(200, LARGE));
            call.write(Payloads.JSON + " ".repeat((1 << 20) - Payloads.JSON.length()));
            for (int i = 1; i < LARGE >> 20; i++) {
                call.write(padding);
            }
        };
    }

    private static RawClient connect() throws IOException {
        return RawClient.connect(gateway.port());
    }

    private static Requests good() {
        return Requests.chat("m1", false).key(TestGateway.KEY);
    }

    private static boolean timedOut(RawResponse answer) {
        return answer.end().filter(RawResponse.End.TIMEOUT::equals).isPresent();
    }

    private static void assertTimedOut(RawClient client) throws IOException {
        RawResponse answer = client.response();
        assertThat(answer.status()).isEqualTo(408);
        assertThat(answer.text()).contains("request_timeout");
        assertThat(answer.header("connection")).contains("close");
        assertThat(client.response().end()).contains(RawResponse.End.NONE);
        assertThat(client.awaitEnd(PATIENCE)).contains(Ended.FIN);
    }
}
