package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.RecordedRequest;
import routes.fixture.Requests;
import routes.fixture.Scripts;
import routes.request.Api;

/** What holds for every API that takes a body: a new row of the table is tested here by itself. */
class ApiJourneyTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String LIMITED = "sk-test-limited";
    private static FakeReplica replica;
    private static TestGateway gateway;

    @BeforeAll
    static void start() throws IOException {
        replica = FakeReplica.start();
        gateway = TestGateway.builder()
                .modelWithAliases("m1", "alias-of-m1", replica.url() + "?apiKey=sk-of-the-gateway")
                .model("m2", replica.url() + "?apiKey=sk-of-the-gateway")
                .keysFile("""
                        keys:
                          - { id: key-one, tenant: tenant-one, sha256: %s, models: ["m1"] }
                          - { id: key-limited, tenant: tenant-two, sha256: %s, limits: { tokens-per-minute: 1 } }
                        """.formatted(TestGateway.sha256(TestGateway.KEY), TestGateway.sha256(LIMITED)))
                .start();
    }

    @AfterAll
    static void stop() throws IOException {
        gateway.close();
        replica.close();
    }

    @AfterEach
    void nothingIsLeft() {
        gateway.awaitIdle();
        assertThat(replica.errors()).isEmpty();
    }

    static Stream<ApiSample> samples() {
        return ApiSample.all();
    }

    private static RawResponse ask(Requests request) throws IOException {
        try (RawClient client = RawClient.connect(gateway.port())) {
            return client.exchange(request);
        }
    }

    private static RawResponse ask(ApiSample sample, String id, String model) throws IOException {
        return ask(sample.request(model).key(TestGateway.KEY).header("X-Request-Id", id));
    }

    private static String code(RawResponse answer) throws IOException {
        return JSON.readTree(answer.body()).path("error").path("code").asText();
    }

    // ---- what reaches the replica and comes back

    @ParameterizedTest
    @MethodSource("samples")
    void aRequestReachesItsReplicaAsItWasWrittenAndItsAnswerComesBack(ApiSample sample) throws Exception {
        String id = "as-written-" + sample;
        int number = replica.requests().size();
        String answer = sample.answer(100, false);
        replica.answering(Scripts.status(200, answer));

        RawResponse response = ask(sample, id, "m1");

        assertThat(response.status()).isEqualTo(200);
        assertThat(response.text()).isEqualTo(answer);
        RecordedRequest seen = replica.request(number);
        assertThat(seen.method()).isEqualTo(sample.api().method());
        assertThat(seen.target()).isEqualTo(sample.api().path());
        assertThat(seen.body()).isEqualTo(sample.body("m1"));
        assertThat(seen.allHeaders("content-type")).containsExactly(sample.type());
        assertThat(seen.allHeaders("content-length")).containsExactly(Integer.toString(seen.body().length));
        JsonNode line = UsageLines.of(gateway, id);
        assertUsage(line, sample);
        UsageLines.assertEnd(line, "success", 200, null);
        assertThat(line.path("api").asText()).isEqualTo(sample.api().label());
        assertThat(line.path("key_id").asText()).isEqualTo("key-one");
        assertThat(line.path("model_served").asText()).isEqualTo("m1");
        assertThat(line.path("stream").asBoolean()).isFalse();
    }

    private static void assertUsage(JsonNode line, ApiSample sample) {
        if (!sample.hasUsage()) {
            UsageLines.assertUnknownTokens(line);
            return;
        }
        UsageLines.assertTokens(line, sample.promptTokens(), sample.completionTokens(), sample.totalTokens());
    }

    @ParameterizedTest
    @MethodSource("samples")
    void anAliasIsReplacedInPlaceAndNothingElse(ApiSample sample) throws Exception {
        int number = replica.requests().size();
        replica.answering(Scripts.status(200, sample.answer(100, false)));

        assertThat(ask(sample, "alias-" + sample, "alias-of-m1").status()).isEqualTo(200);

        RecordedRequest seen = replica.request(number);
        assertThat(seen.body()).isEqualTo(sample.body("m1"));
        assertThat(seen.allHeaders("content-length")).containsExactly(Integer.toString(sample.body("m1").length));
        JsonNode line = UsageLines.of(gateway, "alias-" + sample);
        assertThat(line.path("model_asked").asText()).isEqualTo("alias-of-m1");
        assertThat(line.path("model_served").asText()).isEqualTo("m1");
    }

    @ParameterizedTest
    @MethodSource("samples")
    void aBodyInChunksArrivesWhole(ApiSample sample) throws Exception {
        int number = replica.requests().size();
        replica.answering(Scripts.status(200, sample.answer(100, false)));
        assertThat(ask(sample.request("m1").key(TestGateway.KEY).chunked(7)).status())
                .isEqualTo(200);
        assertThat(replica.request(number).body()).isEqualTo(sample.body("m1"));
    }

    @ParameterizedTest
    @MethodSource("samples")
    void usageIsFoundWhereverItStandsAndHoweverTheAnswerIsCut(ApiSample sample) throws Exception {
        for (int size : new int[] {200, 8191, 8192, 100_000}) {
            for (boolean first : new boolean[] {true, false}) {
                byte[] wire = Payloads.answer(200, sample.answer(size, first)).getBytes(StandardCharsets.UTF_8);
                String id = "usage-" + sample + "-" + size + "-" + first;
                replica.answering(Scripts.pieces(wire, wire.length / 3, wire.length - 60, wire.length - 7));
                assertThat(ask(sample, id, "m1").text()).isEqualTo(sample.answer(size, first));
                assertUsage(UsageLines.of(gateway, id), sample);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("samples")
    void usageThatIsNullOrMissingIsUnknownAndNotZero(ApiSample sample) throws Exception {
        for (String answer : List.of(
                "{\"usage\":null,\"meta\":null,\"data\":[]}",
                "{\"data\":[]}",
                "{\"usage\":{\"type\":\"duration\",\"seconds\":3}}")) {
            String id = "null-" + sample + "-" + Integer.toHexString(answer.hashCode());
            replica.answering(Scripts.status(200, answer));
            assertThat(ask(sample, id, "m1").status()).isEqualTo(200);
            UsageLines.assertUnknownTokens(UsageLines.of(gateway, id));
        }
    }

    @ParameterizedTest
    @MethodSource("samples")
    void anErrorOfTheReplicaIsRelayedAsItIs(ApiSample sample) throws Exception {
        String error = Payloads.error(400, "BadRequestError", "no");
        replica.answering(Scripts.status(400, error));
        RawResponse answer = ask(sample, "error-" + sample, "m1");
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.text()).isEqualTo(error);
        UsageLines.assertEnd(UsageLines.of(gateway, "error-" + sample), "upstream_error", 400, "upstream_error");
    }

    @ParameterizedTest
    @MethodSource("samples")
    void usageIsAskedForInStreamsOfApisThatKnowThat(ApiSample sample) throws Exception {
        if (sample.isForm()) {
            return;
        }
        int number = replica.requests().size();
        replica.answering(Scripts.status(200, sample.answer(100, false)));
        String json = "{\"model\":\"m1\",\"stream\":true}";
        assertThat(ask(sample.request(json.getBytes(StandardCharsets.UTF_8)).key(TestGateway.KEY))
                        .status())
                .isEqualTo(200);
        boolean injected = replica.request(number).bodyText().contains("\"stream_options\":{\"include_usage\":true}");
        assertThat(injected).isEqualTo(sample.api().streamUsage());
        if (!injected) {
            assertThat(replica.request(number).bodyText()).isEqualTo(json);
        }
    }

    // ---- who may

    @ParameterizedTest
    @MethodSource("samples")
    void noCredentialOfTheClientLeavesTheGateway(ApiSample sample) throws Exception {
        int number = replica.requests().size();
        replica.answering(Scripts.status(200, sample.answer(100, false)));
        Requests request = Requests.request(sample.api().method(), sample.api().path() + "?api_key=" + TestGateway.KEY)
                .header("Content-Type", sample.type())
                .key(TestGateway.KEY)
                .header("x-api-key", TestGateway.KEY)
                .header("api-key", "azure-1")
                .header("Cookie", "s=cookie-1")
                .header("Origin", "https://page.example")
                .header("X-Unknown", "hdr-1")
                .body(sample.body("m1"));

        RawResponse answer = ask(request);

        assertThat(answer.status()).isEqualTo(200);
        RecordedRequest seen = replica.request(number);
        assertThat(seen.allHeaders("authorization")).containsExactly("Bearer sk-of-the-gateway");
        assertThat(new String(seen.rawHead(), StandardCharsets.ISO_8859_1))
                .doesNotContain(TestGateway.KEY, "azure-1", "cookie-1", "page.example", "hdr-1", "api_key");
        gateway.awaitIdle();
        assertThat(gateway.lines()).noneMatch(line -> line.contains(TestGateway.KEY));
    }

    @ParameterizedTest
    @MethodSource("samples")
    void whoHasNoKeyOrMayNotUseTheModelOrHasNothingLeftIsRefused(ApiSample sample) throws Exception {
        int before = replica.requests().size();

        assertThat(ask(sample.request("m1")).status()).isEqualTo(401);
        assertThat(ask(sample.request("m1").key("sk-wrong")).status()).isEqualTo(401);
        assertThat(ask(sample, "forbidden-" + sample, "m2").status()).isEqualTo(404);
        assertThat(ask(sample, "unknown-" + sample, "no-such").status()).isEqualTo(404);
        RawResponse limited = ask(sample.request("m1").key(LIMITED));
        assertThat(limited.status()).isEqualTo(429);

        assertThat(replica.requests()).hasSize(before);
        UsageLines.assertEnd(UsageLines.of(gateway, "forbidden-" + sample), "rejected", 404, "model_not_found");
    }

    // ---- what is refused

    @ParameterizedTest
    @MethodSource("samples")
    void aModelHasToBeNamed(ApiSample sample) throws Exception {
        int before = replica.requests().size();
        RawResponse answer = ask(sample.request(sample.bodyWithoutModel())
                .key(TestGateway.KEY)
                .header("X-Request-Id", "none-" + sample));
        assertThat(answer.status()).isEqualTo(400);
        UsageLines.assertEnd(UsageLines.of(gateway, "none-" + sample), "rejected", 400, "missing_model");
        assertThat(replica.requests()).hasSize(before);
    }

    @ParameterizedTest
    @MethodSource("samples")
    void aBodyOfAnotherMediaTypeIsRefused(ApiSample sample) throws Exception {
        for (String type : List.of(sample.isForm() ? "application/json" : ApiSample.FORM_TYPE, "text/plain")) {
            RawResponse answer =
                    ask(Requests.request(sample.api().method(), sample.api().path())
                            .header("Content-Type", type)
                            .key(TestGateway.KEY)
                            .body(sample.body("m1")));
            assertThat(answer.status()).isEqualTo(415);
        }
    }

    @ParameterizedTest
    @EnumSource(Api.class)
    void aWrongMethodIsToldTheRightOnes(Api api) throws Exception {
        String path = path(api);
        RawResponse answer = ask(Requests.request("DELETE", path).key(TestGateway.KEY));
        assertThat(answer.status()).isEqualTo(405);
        assertThat(answer.header("allow")).contains(api.methods());
    }

    @ParameterizedTest
    @EnumSource(Api.class)
    void headIsAnsweredWhereTheGatewayAnswersGetAndWithoutABody(Api api) throws Exception {
        String path = path(api);
        try (RawClient client = RawClient.connect(gateway.port())) {
            client.send(Requests.request("HEAD", path).key(TestGateway.KEY));
            RawResponse head = client.beginWithoutBody();
            assertThat(head.status()).isEqualTo(api.answersHead() ? 200 : 405);
            if (api.answersHead()) {
                RawResponse get = client.exchange(Requests.get(path).key(TestGateway.KEY));
                assertThat(get.body()).isNotEmpty();
                assertThat(head.header("content-length")).contains(Integer.toString(get.body().length));
                assertThat(head.header("content-type")).isEqualTo(get.header("content-type"));
            } else {
                assertThat(head.header("allow")).contains(api.methods());
                assertThat(client.exchange(Requests.get("/v1/models").key(TestGateway.KEY))
                                .status())
                        .isEqualTo(200);
            }
        }
    }

    private static String path(Api api) {
        return switch (api) {
            case MODEL -> api.path() + "m1";
            case STORED_RESPONSE -> api.path() + "resp_1";
            case RESPONSE_CANCEL -> api.path().replace("{id}", "resp_1");
            default -> api.path();
        };
    }

    @Test
    void theTableHasEachPathAndLabelOnce() {
        List<Api> all = Arrays.asList(Api.values());
        assertThat(all).extracting(Api::path).doesNotHaveDuplicates();
        assertThat(all)
                .extracting(Api::label)
                .doesNotHaveDuplicates()
                .allMatch(label -> label.equals(label.toLowerCase(Locale.ROOT)));
    }

    @Test
    void healthIsToldToHeadToo() throws Exception {
        try (RawClient client = RawClient.connect(gateway.port())) {
            client.send(Requests.request("HEAD", "/health"));
            assertThat(client.beginWithoutBody().status()).isEqualTo(200);
            RawResponse other = client.exchange(Requests.request("PUT", "/health"));
            assertThat(other.header("allow")).contains("GET, HEAD");
            assertThat(code(other)).isEqualTo("method_not_allowed");
        }
    }
}
