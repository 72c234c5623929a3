package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.RecordedRequest;
import routes.fixture.Requests;
import routes.fixture.Scripts;

/** Tokens: asked for without the client's noticing, found wherever they stand, written once. */
class UsageJourneyTest {

    private static final ObjectMapper STRICT = new ObjectMapper().enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION);
    private static final String USAGE = "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2,\"total_tokens\":7}";
    private static FakeReplica replica;
    private static TestGateway gateway;

    @BeforeAll
    static void start() throws IOException {
        replica = FakeReplica.start();
        gateway = TestGateway.builder()
                .modelWithAliases("m1", "alias-of-m1", replica.url())
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

    private static RawResponse ask(String id, String json) throws IOException {
        return ask(Requests.post("/v1/chat/completions", json).header("X-Request-Id", id));
    }

    private static RawResponse ask(Requests request) throws IOException {
        try (RawClient client = RawClient.connect(gateway.port())) {
            return client.exchange(request.key(TestGateway.KEY));
        }
    }

    // ---- asking for it

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"model\":\"m1\",\"stream\":true}",
                "{\"model\":\"m1\",\"stream\":true,\"stream_options\":null}",
                "{\"model\":\"m1\",\"stream\":true,\"stream_options\":{}}",
                "{\"model\":\"m1\",\"stream\":true,\"stream_options\":{\"include_usage\":false}}",
                "{\"model\":\"m1\",\"stream\":true,\"stream_options\":{\"include_usage\":true}}",
                "{\"model\":\"m1\",\"stream\":true,\"stream_options\":{\"continuous_usage_stats\":true}}",
                " {\r\n\t\"stream_options\" : { \"include_usage\" : false , \"x\":1 } ,\n \"stream\" :\ttrue, \"model\":\"m1\" }\n",
                "{\"stream_options\":{\"include_usage\":null},\"stream\":true,\"model\":\"m1\"}"
            })
    void aStreamAlwaysReportsUsageAndOnlyWhoAskedSeesIt(String json) throws Exception {
        int number = replica.requests().size();
        String id = "ask-" + Integer.toHexString(json.hashCode());
        replica.answering(Scripts.vllmLike());
        JsonNode sent = STRICT.readTree(json);
        boolean asked = sent.path("stream_options").path("include_usage").asBoolean();

        RawResponse answer = ask(id, json);

        assertThat(answer.text()).isEqualTo(String.join("", asked ? Payloads.STREAM : Payloads.STREAM_WITHOUT_USAGE));
        assertThat(answer.end()).contains(RawResponse.End.CLEAN);
        JsonNode received = STRICT.readTree(replica.request(number).body());
        assertThat(received.path("stream_options").path("include_usage").isBoolean())
                .isTrue();
        assertThat(received.path("stream_options").path("include_usage").asBoolean())
                .isTrue();
        sent.path("stream_options").properties().stream()
                .filter(member -> !member.getKey().equals("include_usage"))
                .forEach(member -> assertThat(received.path("stream_options").path(member.getKey()))
                        .isEqualTo(member.getValue()));
        assertThat(received.path("model").asText()).isEqualTo("m1");
        JsonNode line = UsageLines.of(gateway, id);
        UsageLines.assertTokens(line, 5, 2, 7);
        UsageLines.assertEnd(line, "success", 200, null);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"model\":\"m1\"}",
                "{\"model\":\"m1\",\"stream\":false}",
                "{\"model\":\"m1\",\"stream\":null}",
                "{\"model\":\"m1\",\"stream\":false,\"stream_options\":{\"include_usage\":true}}"
            })
    void whatIsNoStreamIsNotTouched(String json) throws Exception {
        int number = replica.requests().size();
        String id = "plain-" + Integer.toHexString(json.hashCode());
        replica.answering(Scripts.vllmLike());
        RawResponse answer = ask(id, json);
        assertThat(replica.request(number).bodyText()).isEqualTo(json);
        int status = json.contains("stream_options") ? 400 : 200;
        assertThat(answer.status()).isEqualTo(status);
        assertThat(UsageLines.of(gateway, id).path("status").asInt()).isEqualTo(status);
    }

    @Test
    void completionsAndEmbeddingsAreAccountedToo() throws Exception {
        String chunk = Payloads.event(
                "{\"id\":\"c\",\"object\":\"text_completion\",\"choices\":[{\"index\":0,\"text\":\"A\",\"finish_reason\":\"stop\"}],\"usage\":null}");
        String usage = Payloads.event("{\"id\":\"c\",\"object\":\"text_completion\",\"choices\":[]," + USAGE + "}");
        replica.answering(Scripts.events(List.of(chunk, usage, Payloads.EVENT_DONE)));
        RawResponse completion =
                ask(Requests.post("/v1/completions", "{\"model\":\"m1\",\"prompt\":\"x\",\"stream\":true}")
                        .header("X-Request-Id", "completion"));
        assertThat(completion.text()).isEqualTo(chunk + Payloads.EVENT_DONE);
        JsonNode line = UsageLines.of(gateway, "completion");
        UsageLines.assertTokens(line, 5, 2, 7);
        assertThat(line.path("api").asText()).isEqualTo("completions");

        String embedding = "{\"object\":\"list\",\"data\":[{\"embedding\":[0.1,0.2]}],"
                + "\"usage\":{\"prompt_tokens\":5,\"total_tokens\":5}}";
        replica.answering(Scripts.status(200, embedding));
        ask(Requests.post("/v1/embeddings", "{\"model\":\"m1\",\"input\":\"x\"}")
                .header("X-Request-Id", "embedding"));
        JsonNode vector = UsageLines.of(gateway, "embedding");
        UsageLines.assertTokens(vector, 5, -1, 5);
        assertThat(vector.path("completion_tokens").isNull()).isTrue();
        UsageLines.assertEnd(vector, "success", 200, null);
        assertThat(vector.path("api").asText()).isEqualTo("embeddings");
    }

    // ---- finding it

    @Test
    void runningTotalsAreNotSummed() throws Exception {
        List<String> events = new ArrayList<>();
        for (int k = 1; k <= 5; k++) {
            events.add(Payloads.event("{\"choices\":[{\"index\":" + (k + 1) % 2
                    + ",\"delta\":{\"content\":\"x\"}}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":" + k
                    + ",\"total_tokens\":" + (5 + k) + "}}"));
        }
        for (int index : List.of(0, 1)) {
            events.add(Payloads.event("{\"choices\":[{\"index\":" + index
                    + ",\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":null}"));
        }
        String last = Payloads.event(
                "{\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":6,\"total_tokens\":11}}");
        events.add(last);
        events.add(Payloads.EVENT_DONE);
        replica.answering(Scripts.events(events));
        RawResponse answer = ask("running", "{\"model\":\"m1\",\"stream\":true,\"n\":2}");
        assertThat(answer.text()).isEqualTo(String.join("", events).replace(last, ""));
        JsonNode line = UsageLines.of(gateway, "running");
        UsageLines.assertTokens(line, 5, 6, 11);
        assertThat(line.path("n").asInt()).isEqualTo(2);
    }

    @Test
    void usageThatNobodySentIsUnknownAndNotZero() throws Exception {
        List<String> events = List.of(
                Payloads.event("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}],\"usage\":null}"),
                Payloads.event(
                        "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}],\"usage\":null}"),
                Payloads.EVENT_DONE);
        replica.answering(Scripts.events(events));
        RawResponse answer = ask("unknown", "{\"model\":\"m1\",\"stream\":true}");
        assertThat(answer.text()).isEqualTo(String.join("", events));
        JsonNode line = UsageLines.of(gateway, "unknown");
        UsageLines.assertUnknownTokens(line);
        UsageLines.assertEnd(line, "success", 200, null);
        assertThat(line.path("finish_reason").asText()).isEqualTo("length");
    }

    @ParameterizedTest
    @ValueSource(ints = {100, 8191, 8192, 8193, 65_536, 102_400, 2 << 20})
    void usageIsFoundInAnswersOfAnySize(int size) throws Exception {
        String rest = "\"id\":\"c1\",\"choices\":[{\"index\":0,\"finish_reason\":\"stop\",\"message\":{\"content\":\"";
        String first = "{" + USAGE + "," + rest + fill(size - rest.length() - USAGE.length() - 8) + "\"}}]}";
        String last = "{" + rest + fill(size - rest.length() - USAGE.length() - 8) + "\"}}]," + USAGE + "}";
        for (String json : List.of(first, last)) {
            byte[] wire = Payloads.answer(200, json).getBytes(StandardCharsets.UTF_8);
            int[] cuts = IntStream.range(1, Math.min(64, (wire.length + 1023) / 1024))
                    .map(i -> i * 1024)
                    .toArray();
            String id = "size-" + size + (json.equals(first) ? "-first" : "-last");
            replica.answering(Scripts.wire(Payloads.answer(200, json)));
            assertThat(ask(id, "{\"model\":\"m1\"}").text()).isEqualTo(json);
            replica.answering(Scripts.pieces(wire, cuts));
            assertThat(ask(id + "-pieces", "{\"model\":\"m1\"}").text()).isEqualTo(json);
            UsageLines.assertTokens(UsageLines.of(gateway, id), 5, 2, 7);
            UsageLines.assertTokens(UsageLines.of(gateway, id + "-pieces"), 5, 2, 7);
        }
    }

    private static String fill(int size) {
        return "\\\"usage\\\" ".repeat(Math.max(0, size) / 10) + "x".repeat(Math.max(0, size) % 10);
    }

    @Test
    void replicasAreNeverOfferedCompression() throws Exception {
        replica.answering(call -> {
            if (call.request().header("accept-encoding").orElse("").matches(".*(gzip|br|\\*).*")) {
                call.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n");
            } else {
                Scripts.normal().answer(call);
            }
        });
        for (boolean streaming : List.of(false, true)) {
            int number = replica.requests().size();
            String id = "encoding-" + streaming;
            RawResponse answer = ask(
                    Requests.chat("m1", streaming).header("X-Request-Id", id).header("Accept-Encoding", "gzip, br"));
            assertThat(answer.text())
                    .isEqualTo(streaming ? String.join("", Payloads.STREAM_WITHOUT_USAGE) : Payloads.JSON);
            assertThat(answer.header("content-encoding")).isEmpty();
            assertThat(replica.request(number).allHeaders("accept-encoding")).containsExactly("identity");
            UsageLines.assertTokens(UsageLines.of(gateway, id), 5, 2, 7);
        }
    }

    @Test
    void whatAReplicaCompressesAllTheSameIsRelayedUnread() throws Exception {
        byte[] packed = {0x1f, (byte) 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3};
        replica.answering(call -> call.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                        + "Content-Encoding: gzip\r\nContent-Length: " + packed.length + "\r\n\r\n")
                .write(packed));
        RawResponse answer = ask("packed", "{\"model\":\"m1\"}");
        assertThat(answer.header("content-encoding")).contains("gzip");
        assertThat(answer.body()).isEqualTo(packed);
        UsageLines.assertUnknownTokens(UsageLines.of(gateway, "packed"));
    }

    @Test
    void zeroIsACount() throws Exception {
        String zero = "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":0,\"total_tokens\":5}";
        replica.answering(Scripts.events(
                Payloads.STREAM.stream().map(e -> e.replace(USAGE, zero)).toList()));
        ask("zero", "{\"model\":\"m1\",\"stream\":true}");
        UsageLines.assertTokens(UsageLines.of(gateway, "zero"), 5, 0, 5);
    }

    @Test
    void anotherUsageIsNoUsage() throws Exception {
        String foreign = Payloads.event("{\"choices\":[{\"index\":0," + USAGE + ",\"delta\":{" + USAGE
                + ",\"content\":\"{\\\"usage\\\":{}}\"}}],\"metadata\":{" + USAGE + "}}");
        replica.answering(Scripts.events(List.of(foreign, Payloads.EVENT_STOP, Payloads.EVENT_DONE)));
        ask("foreign", "{\"model\":\"m1\",\"stream\":true}");
        UsageLines.assertUnknownTokens(UsageLines.of(gateway, "foreign"));
    }

    // ---- answers that don't come to their end

    @Test
    void whatCameAfterTheLastCountIsAddedToIt() throws Exception {
        String running = Payloads.event("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"A B C\"}}],"
                + "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":3,\"total_tokens\":8}}");
        breaksOffAfter(running, running, Payloads.EVENT_A, Payloads.EVENT_A);
        ask("since", "{\"model\":\"m1\",\"stream\":true}");
        assertBrokenOff("since", "estimated", 5, 5);
    }

    @Test
    void runningCountsStandAsTheyAre() throws Exception {
        String running = Payloads.event("{\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"}}],"
                + "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":0,\"total_tokens\":5}}");
        breaksOffAfter(running);
        ask("stands", "{\"model\":\"m1\",\"stream\":true}");
        assertBrokenOff("stands", "running", 5, 0);
    }

    @Test
    void aUsageThatMoreFollowsIsNotTheLast() throws Exception {
        breaksOffAfter(Payloads.EVENT_USAGE, Payloads.EVENT_A, Payloads.EVENT_A, Payloads.EVENT_A);
        ask("early", "{\"model\":\"m1\",\"stream\":true}");
        assertBrokenOff("early", "estimated", 5, 2 + 3);
    }

    @Test
    void aUsageThatIsTheLastCountsThoughTheEndIsMissing() throws Exception {
        breaksOffAfter(Payloads.EVENT_A, Payloads.EVENT_STOP, Payloads.EVENT_USAGE);
        ask("last", "{\"model\":\"m1\",\"stream\":true}");
        JsonNode line = UsageLines.of(gateway, "last");
        UsageLines.assertEnd(line, "upstream_aborted", 200, "upstream_incomplete");
        UsageLines.assertTokens(line, 5, 2, 7);
    }

    @Test
    void aPlainAnswerThatBreaksOffBeforeItsUsageCostsNobodyKnowsWhat() throws Exception {
        replica.answering(Scripts.thenFin(Payloads.plainHead(200, 500) + Payloads.JSON.substring(0, 100)));
        ask("half", "{\"model\":\"m1\"}");
        JsonNode line = UsageLines.of(gateway, "half");
        UsageLines.assertEnd(line, "upstream_aborted", 200, "upstream_incomplete");
        UsageLines.assertUnknownTokens(line);
        assertThat(line.path("partial").asBoolean()).isFalse();
    }

    private static void breaksOffAfter(String... events) {
        StringBuilder wire = new StringBuilder(Payloads.sseHead());
        for (String event : events) {
            wire.append(Payloads.chunk(event));
        }
        replica.answering(Scripts.thenFin(wire.toString()));
    }

    private static void assertBrokenOff(String id, String source, long prompt, long completion) {
        JsonNode line = UsageLines.of(gateway, id);
        UsageLines.assertEnd(line, "upstream_aborted", 200, "upstream_incomplete");
        assertThat(line.path("usage_source").asText()).as("%s", line).isEqualTo(source);
        assertThat(line.path("prompt_tokens").asLong(-1)).as("%s", line).isEqualTo(prompt);
        assertThat(line.path("completion_tokens").asLong(-1)).as("%s", line).isEqualTo(completion);
        assertThat(line.path("total_tokens").asLong(-1)).as("%s", line).isEqualTo(prompt + completion);
        assertThat(line.path("partial").asBoolean()).as("%s", line).isTrue();
    }

    // ---- the line

    @Test
    void eachLineHasAnIdOfItsOwnWhateverClientsSay() throws Exception {
        gateway.awaitIdle();
        int before = gateway.lines().size();
        ask("twice", "{\"model\":\"m1\"}");
        ask("twice", "{\"model\":\"m1\"}");
        gateway.awaitIdle();
        List<String> ids = new ArrayList<>();
        for (String line : gateway.lines().subList(before, before + 2)) {
            assertThat(STRICT.readTree(line).path("request_id").asText()).isEqualTo("twice");
            ids.add(STRICT.readTree(line).path("record_id").asText());
        }
        assertThat(ids).doesNotHaveDuplicates().allMatch(id -> id.matches("[0-9a-f]{12}-[0-9a-f]+"));
    }

    @Test
    void theLineOfASuccessSaysAllThereIsToSay() throws Exception {
        String details = "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2,\"total_tokens\":7,"
                + "\"prompt_tokens_details\":{\"cached_tokens\":3},\"completion_tokens_details\":{\"reasoning_tokens\":1}}";
        replica.answering(Scripts.events(
                Payloads.STREAM.stream().map(e -> e.replace(USAGE, details)).toList()));
        String json = "{\"model\":\"alias-of-m1\",\"stream\":true,\"max_tokens\":99,\"user\":\"u-1\",\"n\":1}";
        int number = replica.requests().size();
        RawResponse answer = ask("fields", json);
        assertThat(answer.status()).isEqualTo(200);

        JsonNode line = UsageLines.of(gateway, "fields");
        UsageLines.assertTokens(line, 5, 2, 7);
        UsageLines.assertEnd(line, "success", 200, null);
        assertThat(line.path("ts").asText()).matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z");
        RecordedRequest upstream = replica.request(number);
        assertThat(upstream.header("x-request-id"))
                .contains(line.path("upstream_request_id").asText());
        assertThat(line.path("tenant").asText()).isEqualTo("tenant-one");
        assertThat(line.path("key_id").asText()).isEqualTo("key-one");
        assertThat(line.path("api").asText()).isEqualTo("chat_completions");
        assertThat(line.path("model_asked").asText()).isEqualTo("alias-of-m1");
        assertThat(line.path("model_served").asText()).isEqualTo("m1");
        assertThat(line.path("replica").asText()).isEqualTo(replica.url());
        assertThat(line.path("attempts").asInt()).isEqualTo(1);
        assertThat(line.path("finish_reason").asText()).isEqualTo("stop");
        assertThat(line.path("stream").asBoolean()).isTrue();
        assertThat(line.path("request_bytes").asInt()).isEqualTo(json.length());
        assertThat(line.path("response_bytes").asInt()).isGreaterThanOrEqualTo(answer.body().length);
        double first = line.path("ttfb_ms").asDouble(-1);
        assertThat(line.path("connect_ms").asDouble(-1)).isBetween(0.0, first);
        assertThat(line.path("ttft_ms").asDouble(-1)).isGreaterThanOrEqualTo(first);
        assertThat(line.path("duration_ms").asDouble(-1))
                .isGreaterThanOrEqualTo(line.path("ttft_ms").asDouble());
        assertThat(line.path("cached_tokens").asInt(-1)).isEqualTo(3);
        assertThat(line.path("reasoning_tokens").asInt(-1)).isEqualTo(1);
        assertThat(line.path("n").asInt()).isEqualTo(1);
        assertThat(line.path("max_tokens").asInt()).isEqualTo(99);
        assertThat(line.path("user").asText()).isEqualTo("u-1");
        assertThat(line.path("gateway").asText()).isEqualTo("dromedary");
        assertThat(line.path("affinity").asText()).isEqualTo("only_one");
    }

    @Test
    void theLineOfARefusalSaysWhoAskedForWhat() throws Exception {
        RawResponse answer = ask("refused", "{\"model\":\"nope\",\"stream\":true,\"user\":\"u-2\"}");
        assertThat(answer.status()).isEqualTo(404);
        JsonNode line = UsageLines.of(gateway, "refused");
        UsageLines.assertEnd(line, "rejected", 404, "model_not_found");
        UsageLines.assertUnknownTokens(line);
        assertThat(line.path("tenant").asText()).isEqualTo("tenant-one");
        assertThat(line.path("model_asked").asText()).isEqualTo("nope");
        assertThat(line.path("model_served").isNull()).isTrue();
        assertThat(line.path("replica").isNull()).isTrue();
        assertThat(line.path("upstream_request_id").isNull()).isTrue();
        assertThat(line.path("attempts").asInt(-1)).isZero();
        assertThat(line.path("connect_ms").isNull()).isTrue();
        assertThat(line.path("ttft_ms").isNull()).isTrue();
        assertThat(line.path("user").asText()).isEqualTo("u-2");
    }

    @Test
    void strangersGetNoLine() throws Exception {
        gateway.awaitIdle();
        int before = gateway.lines().size();
        try (RawClient client = RawClient.connect(gateway.port())) {
            assertThat(client.exchange(Requests.chat("m1", false).key("sk-wrong"))
                            .status())
                    .isEqualTo(401);
            assertThat(client.exchange(Requests.chat("m1", false)).status()).isEqualTo(401);
        }
        gateway.awaitIdle();
        assertThat(gateway.lines()).hasSize(before);
    }
}
