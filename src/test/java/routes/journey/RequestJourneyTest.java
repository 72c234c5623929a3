package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import routes.fixture.FakeReplica;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.RecordedRequest;
import routes.fixture.Requests;
import routes.fixture.Scripts;

/** Which model is meant, and what of a request's body reaches its replica: all of it, as it was written. */
class RequestJourneyTest {

    private static final String OPTIONS = "\"stream_options\":{\"include_usage\":true},";
    private static final ObjectMapper JSON = new ObjectMapper();
    private static FakeReplica replica;
    private static FakeReplica other;
    private static TestGateway gateway;

    @BeforeAll
    static void start() throws IOException {
        replica = FakeReplica.start(Scripts.vllmLike());
        other = FakeReplica.start(Scripts.vllmLike());
        gateway = TestGateway.builder()
                .modelWithAliases("m1", "a,an-alias-that-is-longer", replica.url())
                .model("m2", other.url())
                .model("org/name-7b", replica.url())
                .model("org/name:free", replica.url())
                .model("a/b/c", replica.url())
                .firstKeyMayUse("m1")
                .start();
    }

    @AfterAll
    static void stop() throws IOException {
        gateway.close();
        replica.close();
        other.close();
    }

    @AfterEach
    void nothingIsLeft() {
        gateway.awaitIdle();
        assertThat(replica.errors()).isEmpty();
    }

    private static RawResponse ask(String key, String json) throws IOException {
        try (RawClient client = RawClient.connect(gateway.port())) {
            return client.exchange(Requests.post("/v1/chat/completions", json).key(key));
        }
    }

    private static JsonNode error(RawResponse answer) throws IOException {
        assertThat(answer.header("content-type")).contains("application/json");
        JsonNode error = JSON.readTree(answer.body()).path("error");
        assertThat(error.path("message").asText()).isNotEmpty();
        assertThat(error.path("type").asText()).isNotEmpty();
        return error;
    }

    private static int seen() {
        return replica.requests().size() + other.requests().size();
    }

    // ---- which model

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"model\":\"m1\",\"messages\":[],\"model\":\"m2\"}",
                "{\"model\":\"m2\",\"messages\":[],\"model\":\"m1\"}",
                "{\"model\":\"m1\",\"mod\\u0065l\":\"m2\"}",
                "{\"model\":\"m1\",\"stream\":true,\"messages\":[],\"stream\":false}",
                "{\"model\":\"m1\",\"stream\":true,\"stream_options\":{},\"stream_options\":{}}"
            })
    void aFieldThatDecidesMayStandOnlyOnce(String json) throws Exception {
        int before = seen();
        RawResponse answer = ask(TestGateway.KEY, json);
        assertThat(answer.status()).isEqualTo(400);
        assertThat(error(answer).path("code").asText()).isEqualTo("duplicate_field");
        assertThat(seen()).isEqualTo(before);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 300_000})
    void onlyTheBodysOwnModelCounts(int padding) throws Exception {
        String json = "{\"messages\":[{\"role\":\"user\",\"content\":\"say \\\"model\\\":\\\"m2\\\" please"
                + "x".repeat(padding) + "\"}],\"metadata\":{\"model\":\"m2\"},\"tools\":[{\"type\":\"function\","
                + "\"function\":{\"name\":\"f\",\"parameters\":{\"type\":\"object\",\"properties\":{\"model\":"
                + "{\"type\":\"string\"},\"stream\":true}}}}],\"model\":\"m1\"}";
        int before = replica.requests().size();
        int elsewhere = other.requests().size();
        assertThat(ask(TestGateway.KEY, json).status()).isEqualTo(200);
        assertThat(replica.request(before).bodyText()).isEqualTo(json);
        assertThat(other.requests()).hasSize(elsewhere);
    }

    @Test
    void aModelThatIsNotForTheKeyDoesNotExistForIt() throws Exception {
        int before = seen();
        RawResponse forbidden = ask(TestGateway.KEY, "{\"model\":\"m2\"}");
        RawResponse unknown = ask(TestGateway.KEY, "{\"model\":\"m3\"}");
        assertThat(forbidden.status()).isEqualTo(404);
        assertThat(forbidden.text().replace("m2", "m3")).isEqualTo(unknown.text());
        assertThat(seen()).isEqualTo(before);
        assertThat(ask(TestGateway.OTHER_KEY, "{\"model\":\"m2\"}").status()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"org/name-7b", "org/name:free", "a/b/c"})
    void aNameIsTakenWholeAndUnchanged(String name) throws Exception {
        int before = replica.requests().size();
        String json = Requests.chatJson(name, "hi", false);
        assertThat(ask(TestGateway.OTHER_KEY, json).status()).isEqualTo(200);
        assertThat(replica.request(before).bodyText()).isEqualTo(json);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"model\":null}",
                "{\"model\":\"\"}",
                "{\"model\":42}",
                "{\"model\":[\"m1\"]}",
                "{\"model\":{\"a\":1}}",
                "{\"model\":true}",
                "{\"model\":\" m1\"}",
                "{\"model\":\"M1\"}",
                "{\"model\":\"m1\\u0000\"}",
                "{\"model\":\"m1\\r\\nfake\"}",
                "{\"model\":\"\\u2028<script>\"}",
                "{\"model\":\"nope\"}",
                "{\"model\":\"*\"}",
                "{\"model\":\"model:m1\"}",
                "[]",
                "\"x\"",
                "null",
                "",
                " ",
                "{\"model\":\"m1\"",
                "{\"model\":\"m1\"}}",
                "{\"model\":\"m1\",\"stream\":\"true\"}",
                "{\"model\":\"m1\"} {\"model\":\"m2\"}"
            })
    void whatNamesNoModelIsRefusedHere(String json) throws Exception {
        int before = seen();
        int lines = lineCount();
        RawResponse answer = ask(TestGateway.OTHER_KEY, json);
        assertThat(answer.status()).isIn(400, 404);
        assertThat(error(answer).path("code").asText()).isNotEmpty();
        assertThat(answer.text()).doesNotContain("<script>");
        assertThat(answer.body().length).isLessThan(400);
        assertThat(answer.end()).contains(RawResponse.End.CLEAN);
        assertThat(seen()).isEqualTo(before);
        gateway.awaitIdle();
        assertThat(gateway.lines()).hasSize(lines + 1);
    }

    @Test
    void aModelNameOfAMegabyteIsNeitherFoundNorEchoed() throws Exception {
        int before = seen();
        RawResponse answer = ask(TestGateway.OTHER_KEY, "{\"model\":\"" + "m".repeat(1 << 20) + "\"}");
        assertThat(answer.status()).isIn(400, 404);
        assertThat(answer.body().length).isLessThan(400);
        assertThat(seen()).isEqualTo(before);
        gateway.awaitIdle();
        List<String> lines = gateway.lines();
        assertThat(lines.get(lines.size() - 1).length()).isLessThan(4096);
    }

    private static int lineCount() {
        gateway.awaitIdle();
        return gateway.lines().size();
    }

    // ---- what arrives

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theBodyArrivesAsItWasWritten(boolean stream) throws Exception {
        String json = "{\r\n\t\"model\":\"m1\",\r\n\t\"seed\":9007199254740993,\t\"temperature\":1.0,\"top_p\":1e-7,"
                + "\"priority\":5,\r\n\"x_new\":{\"a\":[1,{\"b\":null}]},\"logit_bias\":{\"50256\":-100},\"tools\":[],"
                + "\"messages\":[{\"role\":\"user\",\"content\":\"\\u00e9 \\/ \\ud83d\\ude00 \\n caf\u00e9\"}]"
                + (stream ? ",\"stream\":true}" : "}\n");
        int before = replica.requests().size();
        assertThat(ask(TestGateway.KEY, json).status()).isEqualTo(200);
        RecordedRequest received = replica.request(before);
        assertThat(received.bodyText().replace(OPTIONS, "")).isEqualTo(json);
        assertThat(received.bodyText().contains(OPTIONS)).isEqualTo(stream);
        assertFramedByLength(received);
    }

    @Test
    void lengthsAroundTheCopiedSizeArriveWhole() throws Exception {
        try (RawClient client = RawClient.connect(gateway.port())) {
            for (int size = 4040; size <= 4110; size++) {
                for (boolean stream : List.of(false, true)) {
                    for (String name : List.of("m1", "a", "an-alias-that-is-longer")) {
                        assertArrives(client, body(name, size, 0, stream));
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0, 4000",
        "0, 4096",
        "0, 4097",
        "0, 9000",
        "4000, 0",
        "4090, 0",
        "4097, 0",
        "9000, 0",
        "4000, 4000",
        "5000, 4096",
        "4096, 5000",
        "100000, 100000",
        "0, 300000",
        "300000, 0"
    })
    void anAliasIsReplacedAndUsageAskedForWhereverTheyStand(int before, int after) throws Exception {
        try (RawClient client = RawClient.connect(gateway.port())) {
            for (int jitter = -3; jitter <= 3; jitter++) {
                for (String name : List.of("m1", "a", "an-alias-that-is-longer")) {
                    int first = Math.max(0, before + jitter);
                    int last = Math.max(0, after - jitter);
                    assertArrives(client, body(name, last, first, true));
                    assertArrives(client, body(name, last, first, false));
                    for (String options : List.of("null", "{}", "{\"include_usage\":false}", "{\"x\":1}")) {
                        String ahead = body(name, last, first, true)
                                .replaceFirst("\\{", "{\"stream_options\":" + options + ",");
                        assertArrives(client, ahead);
                        String behind = body(name, last, first, true)
                                .replaceFirst("}$", ",\"stream_options\":" + options + "}");
                        assertArrives(client, behind);
                    }
                }
            }
        }
    }

    /** A body with so many bytes of content before and after the model. */
    private static String body(String model, int after, int before, boolean stream) {
        return "{\"x_before\":\"" + "b".repeat(before) + "\",\"model\":\"" + model + "\",\"messages\":[{\"content\":\""
                + "a".repeat(after) + "\"}]" + (stream ? ",\"stream\":true}" : "}");
    }

    private static void assertArrives(RawClient client, String json) throws Exception {
        int number = replica.requests().size();
        RawResponse answer =
                client.exchange(Requests.post("/v1/chat/completions", json).key(TestGateway.KEY));
        assertThat(answer.status()).isEqualTo(200);
        RecordedRequest received = replica.request(number);
        assertFramedByLength(received);
        String expected = json.replaceFirst("\"model\":\"[a-z0-9-]+\"", "\"model\":\"m1\"");
        if (json.contains("\"stream\":true")) {
            expected = expected.contains("\"stream_options\"")
                    ? expected.replace("\"stream_options\":null", "\"stream_options\":{\"include_usage\":true}")
                            .replace("\"stream_options\":{}", "\"stream_options\":{\"include_usage\":true}")
                            .replace("\"include_usage\":false", "\"include_usage\":true")
                            .replace("{\"x\":1}", "{\"include_usage\":true,\"x\":1}")
                    : "{" + OPTIONS + expected.substring(1);
        }
        assertThat(received.bodyText().equals(expected))
                .as("%d bytes sent, %d received", json.length(), received.body().length)
                .isTrue();
    }

    private static void assertFramedByLength(RecordedRequest received) throws Exception {
        int length = received.bodyRead().get().length;
        assertThat(received.allHeaders("content-length")).containsExactly(String.valueOf(length));
        assertThat(received.header("transfer-encoding")).isEmpty();
        assertThat(new String(received.rawHead(), StandardCharsets.ISO_8859_1))
                .startsWith("POST /v1/chat/completions HTTP/1.1\r\n");
    }
}
