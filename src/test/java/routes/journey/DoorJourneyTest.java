package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import routes.fixture.Ended;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.RecordedRequest;
import routes.fixture.Requests;
import routes.fixture.Scripts;

/** What the front door answers itself, and what it lets through. */
class DoorJourneyTest {

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final String MODEL_JSON =
            "{\"id\":\"%s\",\"object\":\"model\",\"created\":0,\"owned_by\":\"dromedary\"}";
    private static final ObjectMapper JSON = new ObjectMapper();

    private static FakeReplica replica;
    private static TestGateway gateway;
    private UsageMark usage;

    @BeforeAll
    static void start() throws IOException {
        replica = FakeReplica.start();
        gateway = TestGateway.builder()
                .property("gateway.event-loops", 1)
                .property("gateway.max-body-bytes", "1m")
                .model("m1", replica.url())
                .model("org/name-7b", replica.url())
                .model("org/name:free", replica.url())
                .model("a/b/c", replica.url())
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

    // ---- Expect

    @Test
    void aClientThatWaitsForAnInterimAnswerGetsItAndThenKeepsItsConnection() throws Exception {
        int seen = replica.requests().size();
        Requests request = large(5_000).key(TestGateway.KEY).header("Expect", "100-continue");
        try (RawClient client = connect()) {
            for (int round = 0; round < 2; round++) {
                client.send(request.head());
                awaitContinue(client);
                RawResponse answer = client.send(body(request)).response();

                assertThat(answer.status()).isEqualTo(200);
                assertThat(answer.header("connection")).isEmpty();
            }
            assertThat(client.exchange(good()).status()).isEqualTo(200);
        }
        RecordedRequest upstream = replica.request(seen);
        assertThat(upstream.header("expect")).isEmpty();
        assertThat(upstream.body()).isEqualTo(body(request));
        assertThat(usage.ends()).containsExactly("success 200", "success 200", "success 200");
    }

    @Test
    void aStrangersBodyIsNotAskedFor() throws Exception {
        try (RawClient client = connect()) {
            client.send(large(5_000)
                    .key("sk-wrong")
                    .header("Expect", "100-continue")
                    .head());
            RawResponse answer = client.response();

            assertThat(answer.status()).isEqualTo(401);
            assertThat(answer.interim()).isEmpty();
            assertThat(answer.header("connection")).contains("close");
            assertThat(client.awaitEnd(PATIENCE)).contains(Ended.FIN);
        }
        assertThat(usage.ends()).isEmpty();
    }

    @Test
    void aBodyThatWillBeTooLargeIsNotAskedFor() throws Exception {
        try (RawClient client = connect()) {
            client.send(Requests.chat("m1", false)
                    .key(TestGateway.KEY)
                    .header("Expect", "100-continue")
                    .declaredLength((1 << 20) + 1)
                    .head());
            RawResponse answer = client.response();

            assertThat(answer.status()).isEqualTo(413);
            assertThat(answer.interim()).isEmpty();
            assertThat(error(answer)).isEqualTo("body_too_large");
        }
        assertThat(usage.ends()).containsExactly("rejected body_too_large 413");
    }

    @Test
    void anExpectationNobodyKnowsIsRefused() throws Exception {
        try (RawClient client = connect()) {
            RawResponse answer = client.exchange(good().header("Expect", "fancy"));

            assertThat(answer.status()).isEqualTo(417);
            assertThat(error(answer)).isEqualTo("expectation_failed");
        }
        assertThat(usage.ends()).isEmpty();
    }

    @Test
    void interimAnswersOfAReplicaAreNotTheAnswer() throws Exception {
        replica.answering(Scripts.wire("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                + Payloads.answer(200, Payloads.JSON)));
        try (RawClient client = connect()) {
            for (int round = 0; round < 2; round++) {
                RawResponse answer = client.exchange(good());

                assertThat(answer.status()).isEqualTo(200);
                assertThat(answer.text()).isEqualTo(Payloads.JSON);
            }
        }
        assertThat(usage.ends()).containsExactly("success 200", "success 200");
    }

    // ---- unread bodies

    @ParameterizedTest
    @CsvSource({
        "/v1/chat/completions, sk-wrong, 401",
        "/v1/nothing, sk-test-k1, 404",
        "/v1/models, sk-test-k1, 405",
    })
    void aSmallUnreadBodyIsSkippedAndTheNextRequestIsAnswered(String path, String key, int status) throws Exception {
        Requests refused = Requests.post(path, chatJson(60_000)).key(key);
        try (RawClient client = connect()) {
            client.send(concat(refused.bytes(), good().bytes()));
            RawResponse first = client.response();

            assertThat(first.status()).isEqualTo(status);
            assertThat(first.header("connection")).isEmpty();
            assertThat(client.response().status()).isEqualTo(200);
        }
        assertThat(usage.ends()).containsExactly("success 200");
    }

    @Test
    void theBodyOfARequestThatNeedsNoneIsSkipped() throws Exception {
        Requests list = Requests.get("/v1/models").key(TestGateway.KEY).body("x".repeat(3_000));
        try (RawClient client = connect()) {
            client.send(concat(list.bytes(), good().bytes()));

            assertThat(client.response().status()).isEqualTo(200);
            assertThat(client.response().text()).isEqualTo(Payloads.JSON);
        }
        assertThat(usage.ends()).containsExactly("success 200", "success 200");
    }

    @ParameterizedTest
    @CsvSource({
        "/v1/chat/completions, sk-wrong, 401",
        "/v1/nothing, sk-test-k1, 404",
        "/v1/models, sk-test-k1, 405",
    })
    void aLargeUnreadBodyEndsTheConnectionAfterAReadableAnswer(String path, String key, int status) throws Exception {
        for (int chunk : new int[] {0, 9_000}) {
            Requests refused = Requests.post(path, chatJson(70_000)).key(key).chunked(chunk);
            try (RawClient client = connect()) {
                client.send(concat(refused.bytes(), good().bytes()));
                RawResponse first = client.response();

                assertThat(first.status()).isEqualTo(status);
                assertThat(first.header("connection")).contains("close");
                assertThat(first.end()).contains(RawResponse.End.CLEAN);
                assertThat(client.response().end()).contains(RawResponse.End.NONE);
                assertThat(client.awaitEnd(PATIENCE)).contains(Ended.FIN);
            }
        }
        assertThat(usage.ends()).isEmpty();
    }

    @Test
    void aClientThatWritesOnAfterItsBodyWasRefusedCanReadWhy() throws Exception {
        byte[] piece = new byte[1 << 20];
        Requests request = good().declaredLength(20 << 20);
        try (RawClient client = connect()) {
            client.send(request.head());
            for (int i = 0; i < 20; i++) {
                client.send(piece);
            }
            RawResponse answer = client.response();

            assertThat(answer.status()).isEqualTo(413);
            assertThat(error(answer)).isEqualTo("body_too_large");
            assertThat(answer.header("connection")).contains("close");
            assertThat(client.awaitEnd(PATIENCE)).contains(Ended.FIN);
        }
        assertThat(usage.ends()).containsExactly("rejected body_too_large 413");
    }

    @Test
    void aClientThatNeverStopsWritingIsCutOff() throws Exception {
        byte[] piece = new byte[1 << 20];
        try (RawClient client = connect()) {
            client.send(good().declaredLength(1L << 40).head());
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 1_000; i++) {
                            client.send(piece);
                        }
                    })
                    .isInstanceOf(IOException.class);
        }
        assertThat(usage.ends()).containsExactly("rejected body_too_large 413");
    }

    // ---- what stays at the door

    @Test
    void anUpgradeIsIgnoredAndHopByHopHeadersStayHere() throws Exception {
        int seen = replica.requests().size();
        try (RawClient client = connect()) {
            RawResponse upgrade = client.exchange(good().header("Connection", "Upgrade, HTTP2-Settings")
                    .header("Upgrade", "h2c")
                    .header("HTTP2-Settings", "AAMAAABkAAQAAP__")
                    .chunked(20));
            RawResponse last = client.exchange(good().header("Connection", "close")
                    .header("Keep-Alive", "timeout=1")
                    .header("TE", "trailers")
                    .header("Proxy-Connection", "keep-alive")
                    .header("Cookie", "s=1"));

            assertThat(upgrade.status()).isEqualTo(200);
            assertThat(upgrade.header("connection")).isEmpty();
            assertThat(last.status()).isEqualTo(200);
            assertThat(last.header("connection")).contains("close");
            assertThat(client.awaitEnd(PATIENCE)).contains(Ended.FIN);
        }
        try (RawClient client = connect()) {
            assertThat(client.exchange(good()).status()).isEqualTo(200);
        }
        List<RecordedRequest> upstream = replica.awaitRequests(seen + 3).subList(seen, seen + 3);
        assertThat(upstream)
                .extracting(RecordedRequest::connection)
                .containsOnly(upstream.get(0).connection());
        for (RecordedRequest request : upstream) {
            assertThat(request.bodyText()).isEqualTo(Requests.chatJson("m1", "hi", false));
            for (String name : List.of(
                    "upgrade",
                    "http2-settings",
                    "connection",
                    "keep-alive",
                    "te",
                    "proxy-connection",
                    "cookie",
                    "transfer-encoding")) {
                assertThat(request.header(name)).as(name).isEmpty();
            }
        }
        assertThat(usage.ends()).containsExactly("success 200", "success 200", "success 200");
    }

    @ParameterizedTest
    @ValueSource(strings = {"mine", "A.b_c-9"})
    void anAcceptableRequestIdComesBackAndIsAccounted(String id) throws Exception {
        try (RawClient client = connect()) {
            assertThat(client.exchange(good().header("X-Request-Id", id)).header("x-request-id"))
                    .contains(id);
            assertThat(client.exchange(good().body("[]").header("X-Request-Id", id))
                            .header("x-request-id"))
                    .contains(id);
        }
        assertThat(usage.lines())
                .extracting(line -> line.path("request_id").asText())
                .containsExactly(id, id);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\"b\\c", "", "id%0d%0aX-Evil: 1", "a b", "\u00c3("})
    void anyOtherRequestIdIsReplaced(String id) throws Exception {
        assertReplaced(id);
    }

    @Test
    void aLongRequestIdIsReplaced() throws Exception {
        assertReplaced("x".repeat(129));
        assertReplaced("x".repeat(8192));
    }

    private void assertReplaced(String id) throws IOException {
        int before = usage.lines().size();
        try (RawClient client = connect()) {
            RawResponse answer = client.exchange(good().header("X-Request-Id", id));

            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.allHeaders("x-request-id"))
                    .singleElement()
                    .asString()
                    .matches("[A-Za-z0-9._-]{1,128}");
            assertThat(answer.header("x-evil")).isEmpty();
            List<JsonNode> lines = usage.lines();
            assertThat(lines).hasSize(before + 1);
            assertThat(lines.get(before).path("request_id").asText())
                    .isEqualTo(answer.header("x-request-id").orElseThrow());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"\u0001", "\u007f", "a\u0000b"})
    void aControlCharacterInARequestIdIsNoHttp(String id) throws Exception {
        try (RawClient client = connect()) {
            RawResponse answer = client.exchange(good().header("X-Request-Id", id));

            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.header("x-request-id")).isEmpty();
        }
        assertThat(usage.ends()).isEmpty();
    }

    @Test
    void hostileTextMakesOneLineOfJsonEach() throws Exception {
        try (RawClient client = connect()) {
            client.exchange(
                    good().body("{\"model\":\"m1\",\"user\":\"u\\nlevel=ERROR forged\\u0000\\u2028\",\"messages\":[]}")
                            .header("User-Agent", "\u00e9 x"));
            RawResponse unknown = client.exchange(good().body("{\"model\":\"m1\\r\\nfake<b>\\\"\",\"messages\":[]}"));

            assertThat(unknown.status()).isEqualTo(404);
            assertThat(error(unknown)).isEqualTo("model_not_found");
            assertThat(unknown.text()).doesNotContain("\\r").doesNotContain("<b>");
        }
        assertThat(usage.ends()).containsExactly("success 200", "rejected model_not_found 404");
        assertThat(usage.lines().get(0).path("user").asText()).startsWith("u").contains("forged");
    }

    // ---- models

    @ParameterizedTest
    @CsvSource({
        "/v1/models/org/name-7b, org/name-7b",
        "/v1/models/org%2Fname-7b, org/name-7b",
        "/v1/models/org%2fname%2D7b, org/name-7b",
        "/v1/models/org/name:free, org/name:free",
        "/v1/models/org%2Fname%3Afree, org/name:free",
        "/v1/models/a/b/c, a/b/c",
        "/v1/models/m1?x=1, m1",
    })
    void aModelIsFoundHoweverItsNameIsEscaped(String target, String model) throws Exception {
        try (RawClient client = connect()) {
            RawResponse answer = client.exchange(Requests.get(target).key(TestGateway.KEY));

            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.text()).isEqualTo(MODEL_JSON.formatted(model));
        }
        assertThat(usage.ends()).containsExactly("success 200");
    }

    @ParameterizedTest
    @ValueSource(strings = {"org/name:free", "org/name-7b", "a/b/c"})
    void aModelWithASlashIsAskedForByItsWholeName(String model) throws Exception {
        int seen = replica.requests().size();
        try (RawClient client = connect()) {
            assertThat(client.exchange(Requests.chat(model, false).key(TestGateway.KEY))
                            .status())
                    .isEqualTo(200);
        }
        assertThat(replica.request(seen).json().path("model").asText()).isEqualTo(model);
        assertThat(usage.lines())
                .singleElement()
                .satisfies(
                        line -> assertThat(line.path("model_served").asText()).isEqualTo(model));
    }

    @Test
    void allModelsAreListed() throws Exception {
        try (RawClient client = connect()) {
            RawResponse answer = client.exchange(Requests.get("/v1/models").key(TestGateway.KEY));

            assertThat(JSON.readTree(answer.body()).path("data"))
                    .extracting(model -> model.path("id").asText())
                    .containsExactly("a/b/c", "m1", "org/name-7b", "org/name:free");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v1/models/nope", "/v1/models/M1", "/v1/models/m1%20", "/v1/models/%C3%28"})
    void aModelThatDoesNotExistIsNotFound(String target) throws Exception {
        try (RawClient client = connect()) {
            RawResponse answer = client.exchange(Requests.get(target).key(TestGateway.KEY));

            assertThat(answer.status()).isEqualTo(404);
            assertThat(error(answer)).isEqualTo("model_not_found");
        }
        assertThat(usage.ends()).containsExactly("rejected model_not_found 404");
    }

    // ---- paths and methods

    @ParameterizedTest
    @CsvSource({
        "GET, /v1/chat/completions, POST",
        "PUT, /v1/completions, POST",
        "OPTIONS, /v1/embeddings, POST",
        "DELETE, /v1/models/m1, 'GET, HEAD'",
        "FANCY, /v1/models, 'GET, HEAD'",
        "PUT, /health, 'GET, HEAD'",
    })
    void aWrongMethodIsToldTheRightOne(String method, String path, String allow) throws Exception {
        try (RawClient client = connect()) {
            RawResponse answer = client.exchange(Requests.request(method, path).key(TestGateway.KEY));

            assertThat(answer.status()).isEqualTo(405);
            assertThat(answer.header("allow")).contains(allow);
            assertThat(answer.header("content-type")).contains("application/json");
            assertThat(error(answer)).isEqualTo("method_not_allowed");
            assertThat(client.exchange(good()).status()).isEqualTo(200);
        }
        assertThat(usage.ends()).containsExactly("success 200");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/v1", "/v1/chat/completions/", "/v1/Models", "/v1/models%2Fm1", "/hello"})
    void anUnknownPathIsNotFound(String path) throws Exception {
        try (RawClient client = connect()) {
            RawResponse answer = client.exchange(Requests.get(path).key(TestGateway.KEY));

            assertThat(answer.status()).isEqualTo(404);
            assertThat(answer.header("content-type")).contains("application/json");
            assertThat(error(answer)).isEqualTo("not_found");
            assertThat(client.exchange(good()).status()).isEqualTo(200);
        }
        assertThat(usage.ends()).containsExactly("success 200");
    }

    @ParameterizedTest
    @CsvSource({"/v1/models, 401", "/v1/chat/completions, 405", "/nothing, 404"})
    void anAnswerToHeadHasNoBody(String path, int status) throws Exception {
        try (RawClient client = connect()) {
            client.send(concat(Requests.request("HEAD", path).bytes(), good().bytes()));
            RawResponse head = client.beginWithoutBody();
            RawResponse next = client.response();

            assertThat(head.status()).isEqualTo(status);
            assertThat(Integer.parseInt(head.header("content-length").orElseThrow()))
                    .isPositive();
            assertThat(next.status()).isEqualTo(200);
            assertThat(next.text()).isEqualTo(Payloads.JSON);
        }
        assertThat(usage.ends()).containsExactly("success 200");
    }

    @Test
    void healthNeedsNoKey() throws Exception {
        try (RawClient client = connect()) {
            assertThat(client.exchange(Requests.get("/health")).status()).isEqualTo(200);
        }
        assertThat(usage.ends()).isEmpty();
    }

    // ---- media types and sizes of heads

    @ParameterizedTest
    @ValueSource(
            strings = {"application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x", "json"})
    void aBodyThatIsNotJsonIsRefused(String type) throws Exception {
        try (RawClient client = connect()) {
            RawResponse answer = client.exchange(Requests.request("POST", "/v1/chat/completions")
                    .key(TestGateway.KEY)
                    .header("Content-Type", type)
                    .body(Requests.chatJson("m1", "hi", false)));

            assertThat(answer.status()).isEqualTo(415);
            assertThat(error(answer)).isEqualTo("unsupported_media_type");
            assertThat(client.exchange(good()).status()).isEqualTo(200);
        }
        assertThat(usage.ends()).containsExactly("rejected unsupported_media_type 415", "success 200");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Application/JSON; charset=utf-8", "application/vnd.x+json"})
    void jsonByAnyNameIsTaken(String type) throws Exception {
        Requests request = Requests.request("POST", "/v1/chat/completions")
                .key(TestGateway.KEY)
                .body(Requests.chatJson("m1", "hi", false));
        try (RawClient client = connect()) {
            assertThat(client.exchange(type.isEmpty() ? request : request.header("Content-Type", type))
                            .status())
                    .isEqualTo(200);
        }
        assertThat(usage.ends()).containsExactly("success 200");
    }

    @Test
    void aCompressedBodyIsRefused() throws Exception {
        try (RawClient client = connect()) {
            RawResponse answer = client.exchange(good().header("Content-Encoding", "gzip"));

            assertThat(answer.status()).isEqualTo(415);
            assertThat(client.exchange(good()).status()).isEqualTo(200);
        }
        assertThat(usage.ends()).containsExactly("rejected unsupported_media_type 415", "success 200");
    }

    @Test
    void aHeadThatIsTooLargeEndsTheConnectionAfterAReadableAnswer() throws Exception {
        Requests fields = good();
        for (int i = 0; i < 120; i++) {
            fields.header("X-" + i, "y");
        }
        for (Requests request : List.of(good().header("X-Large", "y".repeat(40_000)), fields)) {
            try (RawClient client = connect()) {
                client.send(concat(request.bytes(), good().bytes()));
                RawResponse answer = client.response();

                assertThat(answer.status()).isEqualTo(431);
                assertThat(error(answer)).isEqualTo("head_too_large");
                assertThat(answer.header("connection")).contains("close");
                assertThat(client.awaitEnd(PATIENCE)).contains(Ended.FIN);
            }
        }
        assertThat(usage.ends()).isEmpty();
    }

    // ---- keys

    @Test
    void aKeyCountsInEitherHeaderAndInBoth() throws Exception {
        try (RawClient client = connect()) {
            for (Requests request : List.of(
                    chat().line("AUTHORIZATION: bearer  " + TestGateway.KEY),
                    chat().header("x-api-key", TestGateway.KEY),
                    chat().key(TestGateway.KEY).header("X-Api-Key", TestGateway.KEY))) {
                assertThat(client.exchange(request).status()).isEqualTo(200);
            }
        }
        assertThat(usage.lines())
                .extracting(line -> line.path("key_id").asText())
                .containsExactly("key-one", "key-one", "key-one");
    }

    @Test
    void noKeyNoAnswer() throws Exception {
        try (RawClient client = connect()) {
            assertRefused(client.exchange(chat()), "missing_api_key");
            assertRefused(client.exchange(chat().key("sk-wrong")), "invalid_api_key");
            assertRefused(client.exchange(chat().header("x-api-key", "")), "invalid_api_key");
            assertRefused(
                    client.exchange(chat().header("Authorization", "Basic " + TestGateway.KEY)), "invalid_api_key");
            assertRefused(client.exchange(chat().header("Authorization", "Bearer")), "invalid_api_key");
            assertRefused(
                    client.exchange(chat().key(TestGateway.KEY).header("x-api-key", TestGateway.OTHER_KEY)),
                    "conflicting_api_keys");
            assertRefused(
                    client.exchange(chat().key(TestGateway.KEY).header("x-api-key", "sk-wrong")),
                    "conflicting_api_keys");
            assertRefused(client.exchange(chat().key(TestGateway.KEY).key(TestGateway.KEY)), "conflicting_api_keys");
            assertThat(client.exchange(good()).status()).isEqualTo(200);
        }
        assertThat(usage.ends()).containsExactly("success 200");
    }

    private static void assertRefused(RawResponse answer, String code) throws IOException {
        assertThat(answer.status()).isEqualTo(401);
        assertThat(answer.header("www-authenticate")).contains("Bearer");
        assertThat(error(answer)).isEqualTo(code);
    }

    // ---- pieces

    private static RawClient connect() throws IOException {
        return RawClient.connect(gateway.port());
    }

    private static Requests chat() {
        return Requests.chat("m1", false);
    }

    private static Requests good() {
        return chat().key(TestGateway.KEY);
    }

    private static Requests large(int bytes) {
        return Requests.post("/v1/chat/completions", chatJson(bytes));
    }

    private static String chatJson(int bytes) {
        return Requests.chatJson("m1", "x".repeat(bytes), false);
    }

    private static byte[] body(Requests request) {
        int head = request.head().length;
        byte[] all = request.bytes();
        return java.util.Arrays.copyOfRange(all, head, all.length);
    }

    /** Reads the interim 100 and nothing else. */
    private static void awaitContinue(RawClient client) throws IOException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            RawResponse soFar = client.begin(Duration.ofMillis(20));
            if (!soFar.interim().isEmpty()) {
                assertThat(soFar.interim()).containsExactly(100);
                assertThat(soFar.status()).isZero();
                return;
            }
            assertThat(soFar.end()).contains(RawResponse.End.TIMEOUT);
            assertThat(System.nanoTime() - deadline)
                    .as("nanoseconds beyond the deadline")
                    .isNegative();
        }
    }

    private static String error(RawResponse answer) throws IOException {
        JsonNode error = JSON.readTree(answer.body()).path("error");
        assertThat(error.path("message").asText()).isNotEmpty();
        assertThat(error.path("type").asText()).isNotEmpty();
        return error.path("code").asText();
    }

    private static byte[] concat(byte[]... parts) {
        StringBuilder all = new StringBuilder();
        for (byte[] part : parts) {
            all.append(new String(part, StandardCharsets.ISO_8859_1));
        }
        return all.toString().getBytes(StandardCharsets.ISO_8859_1);
    }
}
