package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import routes.fixture.Ended;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.RecordedRequest;
import routes.fixture.Requests;
import routes.fixture.Scripts;
import routes.usage.UsageJournal;

/** Where requests and answers begin and end, on both transports. */
@ParameterizedClass(name = "native transport: {0}")
@ValueSource(booleans = {true, false})
class FramingJourneyTest {

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int MAX_BODY = 12 << 20;
    private static final String HELLO = "Hello";

    private static FakeReplica replica;
    private static FakeReplica cold;
    private static TestGateway gateway;

    @Parameter
    boolean nativeTransport;

    private UsageMark usage;

    @BeforeParameterizedClassInvocation
    static void start(boolean nativeTransport) throws IOException {
        replica = FakeReplica.start();
        cold = FakeReplica.start();
        gateway = TestGateway.builder()
                .property("gateway.native-transport", nativeTransport)
                .property("gateway.max-body-bytes", MAX_BODY)
                .model("m1", replica.url())
                .model("cold", cold.url())
                .modelWithAliases("long", longNames(), replica.url())
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

    @AfterParameterizedClassInvocation
    static void stop() throws IOException {
        gateway.close();
        replica.close();
        cold.close();
    }

    @BeforeEach
    void mark() {
        replica.answering(Scripts.normal());
        usage = UsageMark.of(gateway);
    }

    // ---- two framings in one request

    static final Map<String, String> AMBIGUOUS = Map.ofEntries(
            Map.entry("both", "Content-Length: 6\r\nTransfer-Encoding: chunked"),
            Map.entry("two lengths", "Content-Length: 6\r\nContent-Length: 60"),
            Map.entry("two lengths in one", "Content-Length: 6, 60"),
            Map.entry("a blank before the colon", "Transfer-Encoding : chunked"),
            Map.entry("an unknown coding", "Transfer-Encoding: xchunked"),
            Map.entry("chunked and identity", "Transfer-Encoding: chunked, identity"),
            Map.entry("chunked twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
            Map.entry("a sign", "Content-Length: +6"),
            Map.entry("a negative length", "Content-Length: -6"),
            Map.entry("an empty length", "Content-Length:"),
            Map.entry("a folded length", "Content-Length:\r\n 6"),
            Map.entry("a length without end", "Content-Length: 99999999999999999999"),
            Map.entry("a bare line feed", "Content-Length: 6\nX: y"));

    static List<String> ambiguous() {
        return AMBIGUOUS.keySet().stream().sorted().toList();
    }

    @ParameterizedTest
    @MethodSource("ambiguous")
    void whatTwoServersMightReadDifferentlyEndsTheConnection(String name) throws Exception {
        int seen = replica.requests().size();
        String bad = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + TestGateway.KEY
                + "\r\nContent-Type: application/json\r\n" + AMBIGUOUS.get(name)
                + "\r\n\r\n0\r\n\r\nGET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n";
        for (boolean first : new boolean[] {true, false}) {
            try (RawClient client = connect()) {
                if (!first) {
                    assertThat(client.exchange(models()).status()).isEqualTo(200);
                }
                RawResponse answer = client.send(bad).response();

                assertThat(answer.status()).isIn(400, 501);
                assertThat(answer.header("connection")).contains("close");
                assertThat(answer.end()).contains(RawResponse.End.CLEAN);
                assertThat(client.response().end()).contains(RawResponse.End.NONE);
                assertThat(client.awaitEnd(PATIENCE)).contains(Ended.FIN);
            }
        }
        assertThat(replica.requests()).hasSize(seen);
        assertThat(usage.ends()).containsExactly("success 200");
    }

    @Test
    void theSameLengthTwiceIsThatLength() throws Exception {
        try (RawClient client = connect()) {
            client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + TestGateway.KEY
                    + "\r\nContent-Length: 6, 6\r\n\r\n0\r\n\r\n");
            client.send("!").send(models());

            assertThat(client.response().status()).isEqualTo(400);
            assertThat(client.response().status()).isEqualTo(200);
        }
        assertThat(usage.ends()).containsExactly("rejected invalid_json 400", "success 200");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "zz\r\n",
                "\r\n",
                "-1\r\n",
                "0x5\r\n",
                "5 \r\nhello\r\n",
                "5\nhello\r\n",
                "5\r\nhelloX\r\n",
                "5\r\nhello\n0\r\n\r\n",
                "80000000\r\n",
                "fffffffffffffffff\r\n",
                "5;x=\u0001\r\nhello\r\n",
                "0\r\nX y: 1\r\n\r\n",
                "0\r\nX: 1\n\r\n"
            })
    void aChunkThatIsNoneEndsTheConnection(String chunk) throws Exception {
        int seen = replica.requests().size();
        try (RawClient client = connect()) {
            client.send(good().chunked(5).head()).send(chunk).send(models());
            RawResponse answer = client.response();

            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.text()).contains("bad_request");
            assertThat(answer.header("connection")).contains("close");
            assertThat(client.response().end()).contains(RawResponse.End.NONE);
            assertThat(client.awaitEnd(PATIENCE)).contains(Ended.FIN);
        }
        assertThat(replica.requests()).hasSize(seen);
        assertThat(usage.ends()).containsExactly("rejected bad_request 400");
    }

    // ---- sizes

    @ParameterizedTest
    @ValueSource(ints = {30 << 10, (64 << 10) - 1, 64 << 10, (64 << 10) + 1, 128 << 10, 1 << 20, 10 << 20})
    void aBodyOfAnySizeArrivesWholeAndWithOneLength(int size) throws Exception {
        byte[] json = jsonOf(size);
        try (RawClient client = connect()) {
            assertArrives(client, json, good().body(json).bytes());
            if (size <= 1 << 20) {
                byte[] wire = good().body(json).bytes();
                int seen = replica.requests().size();
                for (int i = 0; i < wire.length; i += 1024) {
                    client.send(Arrays.copyOfRange(wire, i, Math.min(wire.length, i + 1024)));
                }
                assertArrived(client, json, seen);
            }
            if (size <= 30 << 10) {
                assertArrives(
                        client, json, withTrailer(good().body(json).chunked(7).bytes()));
            } else {
                assertArrives(
                        client,
                        json,
                        withTrailer(good().body(json).chunked(size / 10).bytes()));
            }
        }
        assertThat(usage.lines()).allSatisfy(line -> {
            assertThat(line.path("outcome").asText()).isEqualTo("success");
            assertThat(line.path("request_bytes").asInt()).isEqualTo(size);
            assertThat(line.path("attempts").asInt()).isEqualTo(1);
        });
        assertThat(usage.lines()).hasSize(size <= 1 << 20 ? 3 : 2);
    }

    @Test
    void aBodyAtTheLimitIsTakenAndOneByteMoreIsNot() throws Exception {
        byte[] most = jsonOf(MAX_BODY);
        byte[] more = jsonOf(MAX_BODY + 1);
        try (RawClient client = connect()) {
            assertArrives(client, most, good().body(most).bytes());
            assertArrives(client, most, good().body(most).chunked(1 << 20).bytes());
        }
        int seen = replica.requests().size();
        for (Requests request : List.of(good().body(more), good().body(more).chunked(1 << 20))) {
            try (RawClient client = connect()) {
                RawResponse answer = client.exchange(request);

                assertThat(answer.status()).isEqualTo(413);
                assertThat(answer.text()).contains("body_too_large").contains(String.valueOf(MAX_BODY));
                assertThat(answer.header("connection")).contains("close");
                assertThat(client.awaitEnd(PATIENCE)).contains(Ended.FIN);
            }
        }
        assertThat(replica.requests()).hasSize(seen);
        assertThat(usage.ends())
                .containsExactly(
                        "success 200", "success 200", "rejected body_too_large 413", "rejected body_too_large 413");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 4096})
    void bodiesThatDoNotFitTogetherAreRefusedUntilOneIsDone(int chunk) throws Exception {
        CountDownLatch hold = new CountDownLatch(1);
        byte[] json = jsonOf(40 << 10);
        try (FakeReplica slow = FakeReplica.start(Scripts.holding(hold));
                TestGateway small = TestGateway.builder()
                        .property("gateway.native-transport", nativeTransport)
                        .property("gateway.max-body-bytes", "64k")
                        .property("gateway.body-budget-bytes", "64k")
                        .model("m1", slow.url())
                        .start();
                RawClient first = RawClient.connect(small.port());
                RawClient second = RawClient.connect(small.port())) {
            first.send(good().body(json).chunked(chunk));
            slow.awaitRequests(1);
            RawResponse refused = second.exchange(good().body(json).chunked(chunk));

            assertThat(refused.status()).isEqualTo(503);
            assertThat(refused.text()).contains("body_budget_exhausted");
            assertThat(refused.header("retry-after")).contains("1");
            hold.countDown();
            assertThat(first.response().status()).isEqualTo(200);
            assertThat(first.exchange(good().body(json).chunked(chunk)).status())
                    .isEqualTo(200);
            small.awaitIdle();
            assertThat(small.lines())
                    .hasSize(3)
                    .filteredOn(line -> line.contains("body_budget_exhausted"))
                    .hasSize(1);
        }
    }

    // ---- splits and pipelines

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7})
    void aRequestMayComeByteByByte(int chunk) throws Exception {
        Requests request = good().chunked(chunk);
        byte[] wire = chunk == 0 ? request.bytes() : withTrailer(request.bytes());
        int seen = replica.requests().size();
        try (RawClient client = connect()) {
            for (byte one : wire) {
                client.send(new byte[] {one});
                Thread.yield();
            }
            assertArrived(client, Requests.chatJson("m1", "hi", false).getBytes(StandardCharsets.UTF_8), seen);
        }
        assertThat(usage.ends()).containsExactly("success 200");
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void whatIsSentAheadIsAnsweredInOrderHoweverItIsSplit(long seed) throws Exception {
        Random random = new Random(seed);
        ByteArrayOutputStream wire = new ByteArrayOutputStream();
        List<String> expected = new ArrayList<>();
        int accounted = 0;
        int seen = replica.requests().size();
        List<byte[]> bodies = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            switch (random.nextInt(7)) {
                case 0 -> {
                    wire.writeBytes(models().bytes());
                    expected.add("200 {\"object\":\"list\"");
                    accounted++;
                }
                case 1 -> {
                    wire.writeBytes(Requests.post("/nothing", "x".repeat(random.nextInt(5_000)))
                            .bytes());
                    expected.add("404 {\"error\"");
                }
                case 2 -> {
                    wire.writeBytes(Requests.get("/hello").bytes());
                    expected.add("200 " + HELLO);
                }
                case 3 -> {
                    wire.writeBytes(Requests.post("/hello", "y".repeat(random.nextInt(5_000)))
                            .chunked(1 + random.nextInt(900))
                            .bytes());
                    expected.add("200 " + HELLO);
                }
                case 4 -> {
                    wire.writeBytes(good().body("[]").bytes());
                    expected.add("400 {\"error\"");
                    accounted++;
                }
                case 5 -> {
                    byte[] json = jsonOf(200 + random.nextInt(9_000));
                    bodies.add(json);
                    wire.writeBytes(withTrailer(
                            good().body(json).chunked(1 + random.nextInt(3_000)).bytes()));
                    expected.add("200 {\"id\":\"c1\"");
                    accounted++;
                }
                default -> {
                    byte[] json = jsonOf(200 + random.nextInt(9_000));
                    bodies.add(json);
                    wire.writeBytes(good().body(json).bytes());
                    expected.add("200 {\"id\":\"c1\"");
                    accounted++;
                }
            }
        }
        byte[] all = wire.toByteArray();
        try (RawClient client = connect()) {
            for (int at = 0; at < all.length; ) {
                int end = Math.min(all.length, at + 1 + random.nextInt(1 << random.nextInt(14)));
                client.send(Arrays.copyOfRange(all, at, end));
                at = end;
            }
            for (String beginning : expected) {
                RawResponse answer = client.response();
                assertThat(answer.status() + " " + answer.text()).startsWith(beginning);
                assertThat(answer.end()).contains(RawResponse.End.CLEAN);
            }
        }
        List<RecordedRequest> upstream = replica.requests();
        assertThat(upstream.subList(seen, upstream.size()))
                .extracting(request -> request.bodyText().length())
                .containsExactlyElementsOf(
                        bodies.stream().map(body -> body.length).toList());
        for (int i = 0; i < bodies.size(); i++) {
            assertThat(upstream.get(seen + i).body()).isEqualTo(bodies.get(i));
        }
        assertThat(usage.lines()).hasSize(accounted);
    }

    /** The first body waits for a connection to the replica while the second request moves up in the read buffer. */
    @Test
    void aBodyStaysAsItWasWhileTheNextRequestWaitsBehindIt() throws Exception {
        String json = Requests.chatJson("cold", "x".repeat(1_000), false);
        byte[] first =
                Requests.post("/v1/chat/completions", json).key(TestGateway.KEY).bytes();
        byte[] second = Requests.post("/v1/chat/completions", Requests.chatJson("cold", "y".repeat(400), false))
                .key(TestGateway.KEY)
                .bytes();
        try (RawClient client = connect()) {
            // a part of the first head waits in the gateway when its rest comes
            client.send(concat(Requests.get("/nothing").bytes(), Arrays.copyOf(first, 50)));
            assertThat(client.response().status()).isEqualTo(404);
            client.send(concat(Arrays.copyOfRange(first, 50, first.length), second));

            assertThat(client.response().status()).isEqualTo(200);
            assertThat(client.response().status()).isEqualTo(200);
        }
        assertThat(cold.request(0).bodyText()).isEqualTo(json);
        assertThat(usage.ends()).containsExactly("success 200", "success 200");
    }

    @Test
    void aClientThatSendsFarAheadIsHeldBackAndThenAnswered() throws Exception {
        CountDownLatch hold = new CountDownLatch(1);
        replica.answering(Scripts.holding(hold));
        int requests = 1_500;
        byte[] ahead =
                Requests.get("/nothing").header("X-Padding", "x".repeat(30_000)).bytes();
        try (RawClient client = connect()) {
            client.send(good());
            Thread writer = new Thread(() -> {
                try {
                    for (int i = 0; i < requests; i++) {
                        client.send(ahead);
                    }
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            writer.start();
            writer.join(700);
            boolean heldBack = writer.isAlive();
            hold.countDown();
            assertThat(heldBack)
                    .as("45 MB don't fit in the buffers of two sockets")
                    .isTrue();
            assertThat(client.response().text()).isEqualTo(Payloads.JSON);
            for (int i = 0; i < requests; i++) {
                assertThat(client.response().status()).isEqualTo(404);
            }
            writer.join();
        }
        assertThat(usage.ends()).containsExactly("success 200");
    }

    @Test
    void aClientThatSendsAheadAndReadsNothingIsHeldBack() throws Exception {
        int requests = 4_000;
        byte[] list = models().bytes();
        try (RawClient client = RawClient.connect(gateway.port(), 4096)) {
            Thread writer = new Thread(() -> {
                try {
                    for (int i = 0; i < requests; i++) {
                        client.send(list);
                    }
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            writer.start();
            assertThat(answersUntilTheyStop())
                    .as("answers made while nobody reads them")
                    .isLessThan(requests);
            for (int i = 0; i < requests; i++) {
                assertThat(client.response().status()).isEqualTo(200);
            }
            writer.join();
        }
        assertThat(usage.lines()).hasSize(requests);
    }

    // ---- HTTP/1.0

    @Test
    void anOldClientGetsOneAnswerAndTheEnd() throws Exception {
        try (RawClient client = connect()) {
            RawResponse answer = client.exchange(good().version("1.0").host(""));

            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.text()).isEqualTo(Payloads.JSON);
            assertThat(answer.header("connection")).contains("close");
            assertThat(answer.end()).contains(RawResponse.End.CLEAN);
            assertThat(client.awaitEnd(PATIENCE)).contains(Ended.FIN);
        }
        assertThat(usage.ends()).containsExactly("success 200");
    }

    @Test
    void anOldClientMayKeepItsConnection() throws Exception {
        try (RawClient client = connect()) {
            for (int i = 0; i < 2; i++) {
                RawResponse answer = client.exchange(good().version("1.0").header("Connection", "keep-alive"));

                assertThat(answer.text()).isEqualTo(Payloads.JSON);
                assertThat(answer.header("connection")).contains("keep-alive");
            }
            assertThat(client.exchange(Requests.get("/nothing").version("1.0").header("Connection", "keep-alive"))
                            .header("connection"))
                    .contains("keep-alive");
        }
        assertThat(usage.ends()).containsExactly("success 200", "success 200");
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void aStreamToAnOldClientEndsWithItsConnection(boolean keepAlive) throws Exception {
        try (RawClient client = connect()) {
            RawResponse answer = client.exchange(oldStream(keepAlive));

            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.header("transfer-encoding")).isEmpty();
            assertThat(answer.header("content-length")).isEmpty();
            assertThat(answer.header("connection")).contains("close");
            assertThat(answer.text()).isEqualTo(String.join("", Payloads.STREAM_WITHOUT_USAGE));
            assertThat(answer.end()).contains(RawResponse.End.CLOSE);
        }
        assertThat(usage.ends()).containsExactly("success 200");
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void aBrokenStreamToAnOldClientIsReset(boolean keepAlive) throws Exception {
        replica.answering(Scripts.thenRst(Payloads.sseHead() + Payloads.chunk(Payloads.EVENT_A)));
        try (RawClient client = connect()) {
            RawResponse answer = client.exchange(oldStream(keepAlive));

            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.end()).contains(RawResponse.End.CUT_RST);
        }
        assertThat(usage.ends()).containsExactly("upstream_aborted upstream_incomplete 200");
    }

    @Test
    void anOldClientCanNotSendChunks() throws Exception {
        try (RawClient client = connect()) {
            RawResponse answer = client.exchange(good().version("1.0").chunked(9));

            assertThat(answer.status()).isEqualTo(400);
            assertThat(client.awaitEnd(PATIENCE)).contains(Ended.FIN);
        }
        assertThat(usage.ends()).isEmpty();
    }

    @Test
    void aVersionNobodyKnowsIsRefused() throws Exception {
        try (RawClient client = connect()) {
            assertThat(client.exchange(good().version("2.0")).status()).isEqualTo(505);
        }
        assertThat(usage.ends()).isEmpty();
    }

    // ---- pieces

    /** How many usage lines are written until no more come. */
    private static long answersUntilTheyStop() {
        UsageJournal journal = gateway.bean(UsageJournal.class);
        long before = journal.written();
        long seen = -1;
        long since = 0;
        while (seen < journal.written() || seen == before || System.nanoTime() - since < 500_000_000) {
            if (seen < journal.written()) {
                seen = journal.written();
                since = System.nanoTime();
            }
            Thread.onSpinWait();
        }
        return seen - before;
    }

    /** Names that make the list of models large. */
    private static String longNames() {
        return IntStream.range(0, 30).mapToObj(i -> "x".repeat(200) + i).collect(Collectors.joining(","));
    }

    private RawClient connect() throws IOException {
        return RawClient.connect(gateway.port());
    }

    private void assertArrives(RawClient client, byte[] json, byte[] wire) throws Exception {
        int seen = replica.requests().size();
        client.send(wire);
        assertArrived(client, json, seen);
    }

    private void assertArrived(RawClient client, byte[] json, int seen) throws Exception {
        RawResponse answer = client.response();
        assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
        assertThat(answer.text()).isEqualTo(Payloads.JSON);
        RecordedRequest upstream = replica.request(seen);
        assertThat(Arrays.equals(upstream.bodyRead().get(10, TimeUnit.SECONDS), json))
                .as("the same bytes")
                .isTrue();
        assertThat(upstream.allHeaders("content-length")).containsExactly(String.valueOf(json.length));
        assertThat(upstream.header("transfer-encoding")).isEmpty();
        assertThat(upstream.header("trailer")).isEmpty();
    }

    private static Requests good() {
        return Requests.chat("m1", false).key(TestGateway.KEY);
    }

    private static Requests models() {
        return Requests.get("/v1/models").key(TestGateway.KEY);
    }

    private static Requests oldStream(boolean keepAlive) {
        Requests request = Requests.chat("m1", true).key(TestGateway.KEY).version("1.0");
        return keepAlive ? request.header("Connection", "keep-alive") : request;
    }

    /** A chat completion of exactly that many bytes. */
    private static byte[] jsonOf(int size) {
        int frame = Requests.chatJson("m1", "", false).length();
        byte[] json = Requests.chatJson("m1", "x".repeat(size - frame), false).getBytes(StandardCharsets.US_ASCII);
        assertThat(json).hasSize(size);
        return json;
    }

    private static byte[] withTrailer(byte[] chunked) {
        return concat(
                Arrays.copyOf(chunked, chunked.length - 2),
                "X-Checksum: 1\r\nX-Other: two words\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    }

    private static byte[] concat(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }
}
