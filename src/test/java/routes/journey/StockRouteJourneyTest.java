package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import routes.door.Door;
import routes.fixture.Ended;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.Requests;

/** Camel's ordinary routes on the front door's port, on the same connections as inference. */
@ParameterizedClass(name = "native transport: {0}")
@ValueSource(booleans = {true, false})
class StockRouteJourneyTest {

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final String ROUTES = """
            - route:
                id: hello
                from:
                  uri: netty-http:http://{{gateway.host}}:{{gateway.port}}/hello
                  steps:
                    - setBody: { constant: "Hello" }
            - route:
                id: echo
                from:
                  uri: netty-http:http://{{gateway.host}}:{{gateway.port}}/echo
                  parameters: { httpMethodRestrict: POST }
                  steps:
                    - setBody: { simple: "echo: ${body}" }
            - route:
                id: files
                from:
                  uri: netty-http:http://{{gateway.host}}:{{gateway.port}}/files
                  parameters: { matchOnUriPrefix: true }
                  steps:
                    - setBody: { simple: "file ${header.CamelHttpPath} ${header.CamelHttpQuery}" }
            - route:
                id: orders
                from:
                  uri: netty-http:http://{{gateway.host}}:{{gateway.port}}/orders/{id}
                  steps:
                    - setBody: { simple: "order ${header.id}" }
            - route:
                id: stream
                from:
                  uri: netty-http:http://{{gateway.host}}:{{gateway.port}}/stream
                  steps:
                    - setBody: { constant: "streamed" }
                    - convertBodyTo: { type: java.io.InputStream }
            - route:
                id: last
                from:
                  uri: netty-http:http://{{gateway.host}}:{{gateway.port}}/last
                  steps:
                    - setHeader: { name: connection, constant: close }
                    - setBody: { constant: "last" }
            - route:
                id: faulty
                errorHandler: { noErrorHandler: {} }
                from:
                  uri: netty-http:http://{{gateway.host}}:{{gateway.port}}/faulty
                  parameters: { muteException: true }
                  steps:
                    - throwException: { exceptionType: java.lang.IllegalStateException, message: planned }
            """;

    private static FakeReplica replica;
    private static TestGateway gateway;

    @Parameter
    boolean nativeTransport;

    private UsageMark usage;

    @BeforeParameterizedClassInvocation
    static void start(boolean nativeTransport) throws IOException {
        replica = FakeReplica.start();
        gateway = TestGateway.builder()
                .property("gateway.native-transport", nativeTransport)
                .model("m1", replica.url())
                .route(ROUTES)
                .start();
    }

    @AfterParameterizedClassInvocation
    static void stop() throws IOException {
        gateway.close();
        replica.close();
    }

    @BeforeEach
    void mark() {
        usage = UsageMark.of(gateway);
    }

    @Test
    void bothKindsAlternateOnOneConnection() throws Exception {
        try (RawClient client = connect()) {
            for (int i = 0; i < 5; i++) {
                RawResponse hello = client.exchange(Requests.get("/hello"));
                assertThat(hello.status()).isEqualTo(200);
                assertThat(hello.text()).isEqualTo("Hello");

                assertThat(client.exchange(good()).text()).isEqualTo(Payloads.JSON);
                assertThat(client.exchange(Requests.chat("m1", true).key(TestGateway.KEY))
                                .text())
                        .isEqualTo(String.join("", Payloads.STREAM_WITHOUT_USAGE));
                assertThat(client.exchange(Requests.post("/echo", "x" + i)).text())
                        .isEqualTo("echo: x" + i);
            }
        }
        assertThat(usage.ends()).hasSize(10).containsOnly("success 200");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 5_000})
    void aBodyReachesAnOrdinaryRouteHoweverItIsFramedAndSplit(int chunk) throws Exception {
        String text = "0123456789".repeat(chunk == 1 ? 30 : 3_000);
        byte[] wire = Requests.post("/echo", text).chunked(chunk).bytes();
        try (RawClient client = connect()) {
            assertThat(client.send(wire).response().text()).isEqualTo("echo: " + text);
            int step = Math.max(1, wire.length / 97);
            for (int i = 0; i < wire.length; i += step) {
                client.send(Arrays.copyOfRange(wire, i, Math.min(wire.length, i + step)));
                Thread.yield();
            }
            client.send(good());
            assertThat(client.response().text()).isEqualTo("echo: " + text);
            assertThat(client.response().text()).isEqualTo(Payloads.JSON);
        }
        assertThat(usage.ends()).containsExactly("success 200");
    }

    @ParameterizedTest
    @CsvSource({
        "/files, file",
        "/files/a, file /a",
        "/files/a/b?x=1, file /a/b x=1",
        "/orders/7, order 7",
        "/hello?x=1, Hello",
    })
    void aPrefixAndATemplateMatch(String target, String text) throws Exception {
        try (RawClient client = connect()) {
            RawResponse answer = client.exchange(Requests.get(target));

            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.text().strip()).startsWith(text);
            assertThat(client.exchange(good()).status()).isEqualTo(200);
        }
        assertThat(usage.ends()).containsExactly("success 200");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/orders", "/orders/7/8", "/hello/x", "/file", "/echo/x"})
    void whatNoRouteServesIsTheDoorsNotFound(String target) throws Exception {
        try (RawClient client = connect()) {
            RawResponse answer = client.exchange(Requests.get(target));

            assertThat(answer.status()).isEqualTo(404);
            assertThat(answer.text()).contains("not_found");
            assertThat(client.exchange(Requests.get("/hello")).text()).isEqualTo("Hello");
        }
        assertThat(usage.ends()).isEmpty();
    }

    @Test
    void anAnswerToHeadHasNoBody() throws Exception {
        try (RawClient client = connect()) {
            client.send(Requests.request("HEAD", "/hello")).send(good());

            assertThat(client.beginWithoutBody().status()).isEqualTo(200);
            assertThat(client.response().text()).isEqualTo(Payloads.JSON);
        }
        assertThat(usage.ends()).containsExactly("success 200");
    }

    @Test
    void aMethodThatARouteDoesNotTakeIsRefused() throws Exception {
        try (RawClient client = connect()) {
            assertThat(client.exchange(Requests.get("/echo")).status()).isEqualTo(405);
        }
    }

    @Test
    void aStreamOfAnOrdinaryRouteIsFollowedByTheNextAnswer() throws Exception {
        try (RawClient client = connect()) {
            for (int i = 0; i < 2; i++) {
                client.send(Requests.get("/stream")).send(good());
                assertThat(client.response().text()).isEqualTo("streamed");
                assertThat(client.response().text()).isEqualTo(Payloads.JSON);
            }
        }
        assertThat(usage.ends()).containsExactly("success 200", "success 200");
    }

    @ParameterizedTest
    @CsvSource({"/last, keep-alive", "/hello, close"})
    void eitherSideMayEndTheConnection(String path, String connection) throws Exception {
        try (RawClient client = connect()) {
            RawResponse answer = client.exchange(Requests.get(path).header("Connection", connection));

            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.end()).contains(RawResponse.End.CLEAN);
            assertThat(client.awaitEnd(PATIENCE)).contains(Ended.FIN);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anOldClientIsServed(boolean keepAlive) throws Exception {
        try (RawClient client = connect()) {
            Requests request = Requests.get("/hello").version("1.0");
            RawResponse answer = client.exchange(keepAlive ? request.header("Connection", "keep-alive") : request);

            assertThat(answer.text()).isEqualTo("Hello");
            if (keepAlive) {
                assertThat(client.exchange(good()).status()).isEqualTo(200);
            } else {
                assertThat(client.awaitEnd(PATIENCE)).contains(Ended.FIN);
            }
        }
        assertThat(usage.ends()).hasSize(keepAlive ? 1 : 0);
    }

    @Test
    void aRouteThatFailsDoesNotHarmTheConnection() throws Exception {
        try (RawClient client = connect()) {
            RawResponse answer = client.exchange(Requests.get("/faulty"));

            assertThat(answer.status()).isEqualTo(500);
            assertThat(answer.text()).doesNotContain("IllegalState");
            assertThat(client.exchange(good()).status()).isEqualTo(200);
        }
        assertThat(usage.ends()).containsExactly("success 200");
    }

    @Test
    void aBodyThatIsAskedForReachesAnOrdinaryRoute() throws Exception {
        try (RawClient client = connect()) {
            client.send(Requests.post("/echo", "asked")
                    .header("Expect", "100-continue")
                    .head());
            RawResponse interim = client.begin(Duration.ofMillis(20));
            while (interim.interim().isEmpty()) {
                assertThat(interim.end()).contains(RawResponse.End.TIMEOUT);
                interim = client.begin(Duration.ofMillis(20));
            }

            assertThat(client.send("asked").response().text()).isEqualTo("echo: asked");
            assertThat(client.exchange(good()).status()).isEqualTo(200);
        }
        assertThat(usage.ends()).containsExactly("success 200");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 100_000})
    void aBodyThatIsTooLargeForAnOrdinaryRouteIsRefused(int chunk) throws Exception {
        try (RawClient client = connect()) {
            client.send(Requests.post("/echo", "x".repeat(2 << 20)).chunked(chunk));
            RawResponse answer = client.response();

            assertThat(answer.status()).isEqualTo(413);
            assertThat(client.awaitEnd(PATIENCE)).isPresent();
        }
        TestGateway.await(() -> gateway.bean(Door.class).connections() == 0, "connections");
    }

    @Test
    void aChunkThatIsNoneEndsTheConnection() throws Exception {
        try (RawClient client = connect()) {
            client.send(Requests.post("/echo", "").chunked(3).head())
                    .send("3\r\nabc\r\nzz\r\n")
                    .send(good());
            RawResponse answer = client.response();

            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.text()).contains("bad_request");
            assertThat(client.response().end()).contains(RawResponse.End.NONE);
            assertThat(client.awaitEnd(PATIENCE)).contains(Ended.FIN);
        }
        assertThat(usage.ends()).isEmpty();
    }

    @Test
    void aClientMayLeaveInTheMiddleOfABody() throws Exception {
        for (int i = 0; i < 3; i++) {
            try (RawClient client = connect()) {
                assertThat(client.exchange(Requests.get("/hello")).text()).isEqualTo("Hello");
                client.send(Requests.post("/echo", "x".repeat(20_000)).head()).send("x".repeat(10_000));
                client.leaveRst();
            }
        }
        TestGateway.await(() -> gateway.bean(Door.class).connections() == 0, "connections");
        assertThat(usage.ends()).isEmpty();
    }

    private static RawClient connect() throws IOException {
        return RawClient.connect(gateway.port());
    }

    private static Requests good() {
        return Requests.chat("m1", false).key(TestGateway.KEY);
    }
}
