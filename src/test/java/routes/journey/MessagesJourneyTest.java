package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import routes.fixture.Ended;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.RecordedRequest;
import routes.fixture.Requests;
import routes.fixture.ResponsePayloads;
import routes.fixture.Script;
import routes.fixture.Scripts;

/** Anthropic's messages through the door. */
class MessagesJourneyTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final AtomicInteger NUMBER = new AtomicInteger();
    private static FakeReplica replica;
    private static TestGateway gateway;
    private String id = "";

    @BeforeAll
    static void start() throws IOException {
        replica = FakeReplica.start();
        gateway = TestGateway.builder()
                .model("m1", replica.url() + "?model=upstream")
                .modelWith("cacheSalt: tenant", "salted", replica.url() + "?model=upstream")
                .property("gateway.cache-salt-secret", "a secret")
                .property("gateway.forward-headers", "x-wanted, anthropic-beta")
                .property("gateway.event-loops", 1)
                .start();
    }

    @AfterAll
    static void stop() throws IOException {
        gateway.close();
        replica.close();
    }

    @BeforeEach
    void number() {
        id = "req-" + NUMBER.incrementAndGet();
    }

    @AfterEach
    void nothingIsLeft() {
        gateway.awaitIdle();
        assertThat(replica.errors()).isEmpty();
    }

    private static String body(String model, String... members) {
        return "{\"model\":\"" + model + "\",\"max_tokens\":9,\"metadata\":{\"user_id\":\"u\"},"
                + "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
                + (members.length == 0 ? "" : "," + String.join(",", members)) + "}";
    }

    private Requests post(String body) {
        return Requests.post("/v1/messages", body)
                .header("x-api-key", TestGateway.KEY)
                .header("anthropic-version", "2023-06-01")
                .header("anthropic-beta", "tools-1")
                .header("X-Request-Id", id);
    }

    private static RawResponse ask(Requests request) throws IOException {
        try (RawClient client = RawClient.connect(gateway.port())) {
            return client.exchange(request);
        }
    }

    private static RecordedRequest last() {
        return replica.requests().get(replica.requests().size() - 1);
    }

    // ---- answered

    @Test
    void aMessageIsRelayedAsItCameAndItsUsageCounted() throws Exception {
        replica.answering(Scripts.status(200, ResponsePayloads.MESSAGE));
        RawResponse answer = ask(post(body("m1")));
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.text()).isEqualTo(ResponsePayloads.MESSAGE);
        assertThat(last().target()).isEqualTo("/v1/messages");
        assertThat(last().bodyText()).isEqualTo(body("upstream"));
        JsonNode line = UsageLines.of(gateway, id);
        UsageLines.assertEnd(line, "success", 200, null);
        UsageLines.assertTokens(line, 5, 2, 7);
        assertThat(line.path("cached_tokens").asLong()).isEqualTo(4);
        assertThat(line.path("finish_reason").asText()).isEqualTo("end_turn");
        assertThat(line.path("user").asText()).isEqualTo("u");
        assertThat(line.path("max_tokens").asLong()).isEqualTo(9);
        assertThat(line.path("api").asText()).isEqualTo("messages");
    }

    @Test
    void versionsGoToTheReplicaAndKeysDoNot() throws Exception {
        replica.answering(Scripts.status(200, ResponsePayloads.MESSAGE));
        ask(post(body("m1")).key(TestGateway.KEY).header("x-wanted", "yes"));
        assertThat(last().allHeaders("anthropic-version")).containsExactly("2023-06-01");
        assertThat(last().allHeaders("anthropic-beta")).containsExactly("tools-1");
        assertThat(last().allHeaders("x-wanted")).containsExactly("yes");
        assertThat(last().header("x-api-key")).isEmpty();
        assertThat(last().header("authorization")).isEmpty();
    }

    @Test
    void aStreamIsRelayedAsItCameAndItsLastTotalsCount() throws Exception {
        replica.answering(Scripts.events(ResponsePayloads.MESSAGE_STREAM));
        RawResponse answer = ask(post(body("m1", "\"stream\":true")));
        assertThat(answer.text()).isEqualTo(String.join("", ResponsePayloads.MESSAGE_STREAM));
        assertThat(answer.end()).contains(RawResponse.End.CLEAN);
        assertThat(last().bodyText()).isEqualTo(body("upstream", "\"stream\":true"));
        JsonNode line = UsageLines.of(gateway, id);
        UsageLines.assertEnd(line, "success", 200, null);
        UsageLines.assertTokens(line, 5, 2, 7);
        assertThat(line.path("cached_tokens").asLong()).isEqualTo(4);
        assertThat(line.path("ttft_ms").isNull()).isFalse();
    }

    @Test
    void aBareDoneBehindTheEndIsRelayedAndMeansNothing() throws Exception {
        replica.answering(
                Scripts.events(List.of(String.join("", ResponsePayloads.MESSAGE_STREAM), Payloads.EVENT_DONE)));
        assertThat(ask(post(body("m1", "\"stream\":true"))).text()).endsWith(Payloads.EVENT_DONE);
        UsageLines.assertEnd(UsageLines.of(gateway, id), "success", 200, null);
    }

    @Test
    void aStreamWithoutItsLastEventIsNoSuccessWhateverElseEndsIt() throws Exception {
        replica.answering(Scripts.events(List.of(
                ResponsePayloads.MESSAGE_START,
                ResponsePayloads.MESSAGE_DELTA,
                ResponsePayloads.MESSAGE_USAGE,
                Payloads.EVENT_DONE)));
        ask(post(body("m1", "\"stream\":true")));
        UsageLines.assertEnd(UsageLines.of(gateway, id), "upstream_aborted", 200, "upstream_incomplete");
    }

    @Test
    void aStreamThatBreaksOffIsNeverEndedTidily() throws Exception {
        replica.answering(Scripts.thenFin(Payloads.sseHead()
                + Payloads.chunk(ResponsePayloads.MESSAGE_START)
                + Payloads.chunk(ResponsePayloads.MESSAGE_DELTA)));
        RawResponse answer = ask(post(body("m1", "\"stream\":true")));
        assertThat(answer.end().orElseThrow()).isIn(RawResponse.End.CUT_FIN, RawResponse.End.CUT_RST);
        JsonNode line = UsageLines.of(gateway, id);
        UsageLines.assertEnd(line, "upstream_aborted", 200, "upstream_incomplete");
        assertThat(line.path("prompt_tokens").asLong()).isEqualTo(5);
        assertThat(line.path("partial").asBoolean()).isTrue();
    }

    @Test
    void anErrorInsideAStreamIsRelayedAndIsNoSuccess() throws Exception {
        String error =
                "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"internal_error\",\"message\":\"x\"}}\n\n";
        replica.answering(Scripts.events(List.of(ResponsePayloads.MESSAGE_START, error, Payloads.EVENT_DONE)));
        assertThat(ask(post(body("m1", "\"stream\":true"))).text()).contains(error);
        UsageLines.assertEnd(UsageLines.of(gateway, id), "upstream_error", 200, "upstream_error");
    }

    @Test
    void leavingInsideAStreamEndsTheReplicasWork() throws Exception {
        Script script = Scripts.held(
                new CountDownLatch(1),
                List.of(ResponsePayloads.MESSAGE_START, ResponsePayloads.MESSAGE_DELTA),
                List.of());
        replica.answering(script);
        int before = replica.requests().size();
        RawClient client = RawClient.connect(gateway.port()).send(post(body("m1", "\"stream\":true")));
        assertThat(client.begin().until("content_block_delta")).isTrue();
        client.leaveRst();
        assertThat(replica.request(before).closed().get(5, TimeUnit.SECONDS)).isIn(Ended.FIN, Ended.RST);
        JsonNode line = UsageLines.of(gateway, id);
        UsageLines.assertEnd(line, "client_closed", 200, null);
        assertThat(line.path("prompt_tokens").asLong()).isEqualTo(5);
        assertThat(line.path("partial").asBoolean()).isTrue();
    }

    @Test
    void tokensAreCountedByTheReplicaAndCostNothing() throws Exception {
        replica.answering(Scripts.status(200, "{\"input_tokens\":9}"));
        RawResponse answer = ask(Requests.post("/v1/messages/count_tokens", body("m1"))
                .header("x-api-key", TestGateway.KEY)
                .header("X-Request-Id", id));
        assertThat(answer.text()).isEqualTo("{\"input_tokens\":9}");
        assertThat(last().path()).isEqualTo("/v1/messages/count_tokens");
        JsonNode line = UsageLines.of(gateway, id);
        UsageLines.assertEnd(line, "success", 200, null);
        UsageLines.assertUnknownTokens(line);
        assertThat(line.path("api").asText()).isEqualTo("messages_count_tokens");
    }

    @Test
    void noSaltIsAddedWhereReplicasKnowNone() throws Exception {
        replica.answering(Scripts.status(200, ResponsePayloads.MESSAGE));
        ask(post(body("salted")));
        assertThat(last().bodyText()).isEqualTo(body("upstream"));
        replica.answering(Scripts.status(200, ResponsePayloads.response("resp_1")));
        ask(Requests.post("/v1/responses", "{\"model\":\"salted\",\"input\":\"hi\"}")
                .key(TestGateway.KEY));
        assertThat(last().json().path("cache_salt").asText()).isNotEmpty();
    }

    // ---- refused

    @Test
    void errorsHaveAnthropicsShape() throws Exception {
        assertError(ask(Requests.post("/v1/messages", body("m1"))), 401, "authentication_error");
        assertError(
                ask(Requests.post("/v1/messages", body("m1")).header("x-api-key", "sk-wrong")),
                401,
                "authentication_error");
        assertError(ask(post(body("m1")).key(TestGateway.OTHER_KEY)), 401, "authentication_error");
        assertError(ask(post(body("nope"))), 404, "not_found_error");
        assertError(ask(post("{\"model\":\"m1\"")), 400, "invalid_request_error");
        assertError(ask(post(body("m1", "\"stream\":\"yes\""))), 400, "invalid_request_error");
        assertError(ask(post(body("m1", "\"max_tokens\":9"))), 400, "invalid_request_error");
        assertError(ask(Requests.get("/v1/messages").key(TestGateway.KEY)), 405, "not_found_error");
        replica.answering(Scripts.thenFin(""));
        assertError(ask(post(body("m1"))), 502, "api_error");
    }

    @Test
    void aReplicasOwnErrorIsRelayed() throws Exception {
        String error = "{\"type\":\"error\",\"error\":{\"type\":\"BadRequestError\",\"message\":\"too long\"}}";
        replica.answering(Scripts.status(400, error));
        RawResponse answer = ask(post(body("m1")));
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.text()).isEqualTo(error);
        UsageLines.assertEnd(UsageLines.of(gateway, id), "upstream_error", 400, "upstream_error");
    }

    private static void assertError(RawResponse answer, int status, String type) throws IOException {
        assertThat(answer.status()).as("%s", answer).isEqualTo(status);
        JsonNode error = JSON.readTree(answer.text());
        assertThat(error.path("type").asText()).isEqualTo("error");
        assertThat(error.path("error").path("type").asText()).isEqualTo(type);
        assertThat(error.path("error").path("message").asText()).isNotBlank();
    }
}
