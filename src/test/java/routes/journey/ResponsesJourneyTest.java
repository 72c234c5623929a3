package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
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

/** Responses: made, told again, gone on from, cancelled; by the replica that keeps them and for their tenant only. */
class ResponsesJourneyTest {

    private static final AtomicInteger NUMBER = new AtomicInteger();
    private static final String NOT_FOUND = "{\"error\":{\"message\":\"Response with id 'resp_x' not found.\","
            + "\"type\":\"NotFoundError\",\"param\":null,\"code\":404}}";

    private static FakeReplica one;
    private static FakeReplica two;
    private static FakeReplica other;
    private static TestGateway gateway;
    private String id = "";
    private String response = "";
    private UsageMark usage;

    @BeforeAll
    static void start() throws IOException {
        one = FakeReplica.start();
        two = FakeReplica.start();
        other = FakeReplica.start();
        gateway = TestGateway.builder()
                .model("m1", one.url() + "?slots=1", two.url() + "?slots=1")
                .model("m2", other.url())
                .firstKeyMayUse("m1")
                .property("gateway.event-loops", 1)
                .start();
    }

    @AfterAll
    static void stop() throws IOException {
        gateway.close();
        one.close();
        two.close();
        other.close();
    }

    @BeforeEach
    void mark() {
        int number = NUMBER.incrementAndGet();
        id = "req-" + number;
        response = "resp_" + number;
        usage = UsageMark.of(gateway);
    }

    @AfterEach
    void nothingIsLeft() {
        gateway.awaitIdle();
        assertThat(one.errors()).isEmpty();
        assertThat(two.errors()).isEmpty();
    }

    /** As vLLM: makes a response under this id, keeps it and knows no other. */
    private static Script keeping(String response) {
        return call -> {
            boolean known = call.request().path().startsWith("/v1/responses/" + response);
            if (call.request().path().equals("/v1/responses")) {
                if (call.request().json().path("stream").asBoolean()) {
                    call.sseHead();
                    for (String event : ResponsePayloads.begun(response)) {
                        call.chunk(event);
                    }
                    call.chunk(ResponsePayloads.completed(response)).lastChunk();
                } else {
                    call.last(Payloads.answer(200, ResponsePayloads.response(response)));
                }
            } else {
                call.last(
                        known
                                ? Payloads.answer(200, ResponsePayloads.response(response))
                                : Payloads.answer(404, NOT_FOUND));
            }
        };
    }

    private void bothKeep() {
        one.answering(keeping(response));
        two.answering(keeping(response));
    }

    private static String body(String... members) {
        return "{\"model\":\"m1\",\"input\":\"hi\"" + (members.length == 0 ? "" : "," + String.join(",", members))
                + "}";
    }

    private Requests post(String body) {
        return Requests.post("/v1/responses", body).key(TestGateway.KEY).header("X-Request-Id", id);
    }

    private static RawResponse ask(Requests request) throws IOException {
        try (RawClient client = RawClient.connect(gateway.port())) {
            return client.exchange(request);
        }
    }

    /** Makes a response; returns who keeps it. */
    private FakeReplica make(String... members) throws IOException {
        int before = one.requests().size();
        RawResponse answer = ask(post(body(members)));
        assertThat(answer.status()).as("%s", answer).isEqualTo(200);
        return one.requests().size() > before ? one : two;
    }

    private static FakeReplica notThe(FakeReplica keeper) {
        return keeper == one ? two : one;
    }

    // ---- made

    @Test
    void aResponseIsRelayedAsItCameAndItsUsageCounted() throws Exception {
        bothKeep();
        String body = body("\"user\":\"u\"", "\"max_output_tokens\":9");
        FakeReplica keeper = make("\"user\":\"u\"", "\"max_output_tokens\":9");
        RecordedRequest seen = keeper.requests().get(keeper.requests().size() - 1);
        assertThat(seen.bodyText()).isEqualTo(body);
        assertThat(seen.target()).isEqualTo("/v1/responses");
        JsonNode line = UsageLines.of(gateway, id);
        UsageLines.assertEnd(line, "success", 200, null);
        UsageLines.assertTokens(line, 5, 2, 7);
        assertThat(line.path("api").asText()).isEqualTo("responses");
        assertThat(line.path("cached_tokens").asLong()).isEqualTo(4);
        assertThat(line.path("reasoning_tokens").asLong()).isEqualTo(1);
        assertThat(line.path("finish_reason").asText()).isEqualTo("completed");
        assertThat(line.path("user").asText()).isEqualTo("u");
        assertThat(line.path("max_tokens").asLong()).isEqualTo(9);
    }

    @Test
    void aStreamIsRelayedAsItCameAndNothingIsAskedFor() throws Exception {
        bothKeep();
        String body = body("\"stream\":true");
        int before = one.requests().size();
        RawResponse answer = ask(post(body));
        assertThat(answer.end()).contains(RawResponse.End.CLEAN);
        assertThat(answer.text())
                .isEqualTo(String.join("", ResponsePayloads.begun(response)) + ResponsePayloads.completed(response));
        FakeReplica keeper = one.requests().size() > before ? one : two;
        assertThat(keeper.requests().get(keeper.requests().size() - 1).bodyText())
                .isEqualTo(body);
        JsonNode line = UsageLines.of(gateway, id);
        UsageLines.assertEnd(line, "success", 200, null);
        UsageLines.assertTokens(line, 5, 2, 7);
        assertThat(line.path("ttft_ms").isNull()).isFalse();
    }

    @Test
    void aStreamThatEndsTidilyWithoutItsLastEventIsNoSuccess() throws Exception {
        Script script = Scripts.events(ResponsePayloads.begun(response));
        one.answering(script);
        two.answering(script);
        RawResponse answer = ask(post(body("\"stream\":true")));
        assertThat(answer.end()).contains(RawResponse.End.CLEAN);
        UsageLines.assertEnd(UsageLines.of(gateway, id), "upstream_aborted", 200, "upstream_incomplete");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aStreamThatBreaksOffIsNeverEndedTidily(boolean reset) throws Exception {
        String wire = Payloads.sseHead() + Payloads.chunk(String.join("", ResponsePayloads.begun(response)));
        Script script = reset ? Scripts.thenRst(wire) : Scripts.thenFin(wire);
        one.answering(script);
        two.answering(script);
        RawResponse answer = ask(post(body("\"stream\":true")));
        assertThat(answer.end().orElseThrow()).isIn(RawResponse.End.CUT_FIN, RawResponse.End.CUT_RST);
        UsageLines.assertEnd(UsageLines.of(gateway, id), "upstream_aborted", 200, "upstream_incomplete");
    }

    @Test
    void aResponseThatFailedIsAnErrorOfTheReplica() throws Exception {
        Script script = Scripts.events(List.of(
                ResponsePayloads.event("response.created", "\"response\":{\"id\":\"" + response + "\"}"),
                ResponsePayloads.event("response.failed", "\"response\":{\"status\":\"failed\"}")));
        one.answering(script);
        two.answering(script);
        assertThat(ask(post(body("\"stream\":true"))).end()).contains(RawResponse.End.CLEAN);
        UsageLines.assertEnd(UsageLines.of(gateway, id), "upstream_error", 200, "upstream_error");
    }

    @Test
    void leavingInsideAStreamEndsTheReplicasWork() throws Exception {
        Script script = Scripts.held(new CountDownLatch(1), ResponsePayloads.begun(response), List.of());
        one.answering(script);
        two.answering(script);
        int before = one.requests().size();
        int beforeTwo = two.requests().size();
        RawClient client = RawClient.connect(gateway.port()).send(post(body("\"stream\":true")));
        assertThat(client.begin().until("output_text.delta")).isTrue();
        client.leaveFin();
        RecordedRequest seen = one.requests().size() > before ? one.request(before) : two.request(beforeTwo);
        assertThat(seen.closed().get(5, TimeUnit.SECONDS)).isIn(Ended.FIN, Ended.RST);
        UsageLines.assertEnd(UsageLines.of(gateway, id), "client_closed", 200, null);
    }

    @Test
    void aBodyThatMakesNoSenseIsRefusedHere() throws Exception {
        int before = one.requests().size() + two.requests().size();
        RawResponse answer = ask(post("{\"model\":\"m1\",\"input\":\"hi\",\"previous_response_id\":7}"));
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.text()).contains("\"param\":\"previous_response_id\"", "\"code\":\"invalid_field\"");
        assertThat(one.requests().size() + two.requests().size()).isEqualTo(before);
    }

    // ---- told again

    @Test
    void aResponseIsToldByWhoKeepsItAndItsUsageIsNotCountedTwice() throws Exception {
        bothKeep();
        FakeReplica keeper = make();
        int asked = notThe(keeper).requests().size();
        RawResponse answer = ask(Requests.get("/v1/responses/" + response + "?api_key=x&stream=false")
                .key(TestGateway.KEY)
                .header("X-Request-Id", id + "-get"));
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.text()).isEqualTo(ResponsePayloads.response(response));
        RecordedRequest seen = keeper.requests().get(keeper.requests().size() - 1);
        assertThat(seen.method()).isEqualTo("GET");
        assertThat(seen.target()).isEqualTo("/v1/responses/" + response + "?stream=false");
        assertThat(seen.header("content-type")).isEmpty();
        assertThat(notThe(keeper).requests()).hasSize(asked);
        JsonNode line = UsageLines.of(gateway, id + "-get");
        UsageLines.assertEnd(line, "success", 200, null);
        UsageLines.assertUnknownTokens(line);
        assertThat(line.path("api").asText()).isEqualTo("stored_response");
        assertThat(line.path("model_served").asText()).isEqualTo("m1");
    }

    @Test
    void aResponseIsToldAsEvents() throws Exception {
        bothKeep();
        FakeReplica keeper = make();
        keeper.answering(Scripts.events(List.of(ResponsePayloads.completed(response))));
        RawResponse answer = ask(Requests.get("/v1/responses/" + response + "?stream=true&starting_after=1")
                .key(TestGateway.KEY)
                .header("X-Request-Id", id + "-get"));
        assertThat(answer.text()).isEqualTo(ResponsePayloads.completed(response));
        JsonNode line = UsageLines.of(gateway, id + "-get");
        UsageLines.assertEnd(line, "success", 200, null);
        UsageLines.assertUnknownTokens(line);
        assertThat(line.path("stream").asBoolean()).isTrue();
    }

    @Test
    void theIdIsKnownBeforeTheStreamHasEndedAndAFullReplicaCanBeToldToStop() throws Exception {
        CountDownLatch cancelled = new CountDownLatch(1);
        Script script = call -> {
            if (call.request().path().equals("/v1/responses")) {
                Scripts.held(
                                cancelled,
                                ResponsePayloads.begun(response),
                                List.of(ResponsePayloads.event(
                                        "response.cancelled", "\"response\":{\"status\":\"cancelled\"}")))
                        .answer(call);
            } else {
                cancelled.countDown();
                call.last(Payloads.answer(200, ResponsePayloads.queued(response)));
            }
        };
        one.answering(script);
        two.answering(script);
        try (RawClient client = RawClient.connect(gateway.port()).send(post(body("\"stream\":true")))) {
            RawResponse stream = client.begin();
            assertThat(stream.until("output_text.delta")).isTrue();
            RawResponse answer = ask(Requests.request("POST", "/v1/responses/" + response + "/cancel")
                    .key(TestGateway.KEY)
                    .header("X-Request-Id", id + "-cancel"));
            assertThat(answer.status()).isEqualTo(200);
            assertThat(stream.finish().text()).contains("cancelled");
        }
        assertThat(UsageLines.of(gateway, id + "-cancel").path("api").asText()).isEqualTo("response_cancel");
        JsonNode line = UsageLines.of(gateway, id);
        UsageLines.assertEnd(line, "success", 200, null);
        assertThat(line.path("finish_reason").asText()).isEqualTo("cancelled");
    }

    @Test
    void whatABackgroundResponseCostIsToldByTheFirstThatSeesItReady() throws Exception {
        one.answering(Scripts.status(200, ResponsePayloads.queued(response)));
        two.answering(Scripts.status(200, ResponsePayloads.queued(response)));
        make("\"background\":true");
        UsageLines.assertUnknownTokens(UsageLines.of(gateway, id));
        ask(get(response, TestGateway.KEY, id + "-early"));
        UsageLines.assertUnknownTokens(UsageLines.of(gateway, id + "-early"));
        bothKeep();
        ask(get(response, TestGateway.KEY, id + "-first"));
        UsageLines.assertTokens(UsageLines.of(gateway, id + "-first"), 5, 2, 7);
        ask(get(response, TestGateway.KEY, id + "-second"));
        UsageLines.assertUnknownTokens(UsageLines.of(gateway, id + "-second"));
    }

    private static Requests get(String response, String key, String id) {
        return Requests.get("/v1/responses/" + response).key(key).header("X-Request-Id", id);
    }

    // ---- whose it is

    @Test
    void anotherTenantFindsNothingAndNobodyIsAsked() throws Exception {
        bothKeep();
        make();
        int before = one.requests().size() + two.requests().size();
        RawResponse get = ask(get(response, TestGateway.OTHER_KEY, id + "-get"));
        assertNotFound(get);
        assertNotFound(ask(Requests.request("POST", "/v1/responses/" + response + "/cancel")
                .key(TestGateway.OTHER_KEY)
                .header("X-Request-Id", id + "-cancel")));
        RawResponse next = ask(Requests.post("/v1/responses", body("\"previous_response_id\":\"" + response + "\""))
                .key(TestGateway.OTHER_KEY)
                .header("X-Request-Id", id + "-next"));
        assertNotFound(next);
        assertThat(next.text()).contains("\"param\":\"previous_response_id\"");
        assertThat(one.requests().size() + two.requests().size()).isEqualTo(before);
        UsageLines.assertEnd(UsageLines.of(gateway, id + "-get"), "rejected", 404, "response_not_found");
    }

    private void assertNotFound(RawResponse answer) {
        assertThat(answer.status()).isEqualTo(404);
        assertThat(answer.text()).contains("Response with id '" + response + "' not found.", "response_not_found");
    }

    @Test
    void withoutAKeyNothingIsToldOfIt() throws Exception {
        assertThat(ask(Requests.get("/v1/responses/resp_1")).status()).isEqualTo(401);
    }

    // ---- gone on from

    @Test
    void aResponseIsGoneOnFromWhereItIsKept() throws Exception {
        bothKeep();
        FakeReplica keeper = make();
        int asked = notThe(keeper).requests().size();
        String first = response;
        for (int turn = 0; turn < 6; turn++) {
            // whatever prefix each turn has
            ask(Requests.post(
                            "/v1/responses",
                            "{\"model\":\"m1\",\"input\":\"" + turn + " more\",\"previous_response_id\":\"" + first
                                    + "\"}")
                    .key(TestGateway.KEY)
                    .header("X-Request-Id", id + "-" + turn));
        }
        assertThat(notThe(keeper).requests()).hasSize(asked);
        assertThat(usage.ends()).hasSize(7).containsOnly("success 200");
    }

    @Test
    void aBusyReplicaIsWaitedForRatherThanAnotherOneAsked() throws Exception {
        bothKeep();
        FakeReplica keeper = make();
        int asked = notThe(keeper).requests().size();
        CountDownLatch busy = new CountDownLatch(1);
        keeper.answering(
                Scripts.held(busy, ResponsePayloads.begun(response), List.of(ResponsePayloads.completed(response))));
        String next = body("\"stream\":true", "\"previous_response_id\":\"" + response + "\"");
        try (RawClient first = RawClient.connect(gateway.port())
                        .send(Requests.post("/v1/responses", next).key(TestGateway.KEY));
                RawClient second = RawClient.connect(gateway.port())) {
            RawResponse running = first.begin();
            assertThat(running.until("output_text.delta")).isTrue();
            second.send(Requests.post("/v1/responses", next).key(TestGateway.KEY));
            TestGateway.await(() -> gateway.queued() == 1, "the second in the queue");
            busy.countDown();
            assertThat(running.finish().end()).contains(RawResponse.End.CLEAN);
            assertThat(second.response().text()).contains("response.completed");
        }
        assertThat(notThe(keeper).requests()).hasSize(asked);
    }

    @Test
    void anIdThatIsNotKnownIsTheReplicasToJudge() throws Exception {
        bothKeep();
        make("\"previous_response_id\":\"resp_unknown\"");
        assertThat(usage.ends()).containsExactly("success 200");
    }

    @Test
    void whatIsNotStoredIsNotRemembered() throws Exception {
        bothKeep();
        make("\"store\":false");
        int before = one.requests().size() + two.requests().size();
        ask(get(response, TestGateway.OTHER_KEY, id + "-get"));
        assertThat(one.requests().size() + two.requests().size()).isGreaterThan(before);
    }

    @Test
    void aReplicaThatIsGoneIsToldOfAndNobodyElseIsAsked() throws Exception {
        try (FakeReplica first = FakeReplica.start(keeping(response));
                FakeReplica second = FakeReplica.start(keeping(response));
                TestGateway own = TestGateway.builder()
                        .model("m1", first.url(), second.url())
                        .start()) {
            try (RawClient client = RawClient.connect(own.port())) {
                assertThat(client.exchange(post(body())).status()).isEqualTo(200);
            }
            FakeReplica keeper = first.requests().isEmpty() ? second : first;
            FakeReplica left = keeper == first ? second : first;
            keeper.close();
            try (RawClient client = RawClient.connect(own.port())) {
                RawResponse get = client.exchange(get(response, TestGateway.KEY, id + "-get"));
                assertThat(get.status()).isEqualTo(503);
                assertThat(get.text()).contains("response_unavailable");
                assertThat(get.header("retry-after")).isPresent();
            }
            try (RawClient client = RawClient.connect(own.port())) {
                RawResponse next = client.exchange(
                        Requests.post("/v1/responses", body("\"previous_response_id\":\"" + response + "\""))
                                .key(TestGateway.KEY));
                assertThat(next.status()).isIn(502, 503);
            }
            assertThat(left.requests()).isEmpty();
        }
    }

    // ---- asked around

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anUnknownIdIsAskedForAtEachReplica(boolean first) throws Exception {
        one.answering(keeping(first ? response : "resp_none"));
        two.answering(keeping(first ? "resp_none" : response));
        RawResponse answer = ask(get(response, TestGateway.KEY, id));
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.text()).isEqualTo(ResponsePayloads.response(response));
        JsonNode line = UsageLines.of(gateway, id);
        UsageLines.assertEnd(line, "success", 200, null);
        UsageLines.assertUnknownTokens(line);
    }

    @Test
    void anIdThatNobodyKnowsIsNotThereAndOnlyTheKeysModelsAreAsked() throws Exception {
        one.answering(keeping("resp_none"));
        two.answering(keeping("resp_none"));
        other.answering(keeping(response));
        int before = other.requests().size();
        RawResponse answer = ask(get(response, TestGateway.KEY, id));
        assertNotFound(answer);
        assertThat(other.requests()).hasSize(before);
        JsonNode line = UsageLines.of(gateway, id);
        UsageLines.assertEnd(line, "rejected", 404, "response_not_found");
        assertThat(line.path("attempts").asInt()).isEqualTo(2);
    }

    @Test
    void everyModelOfTheKeyIsAsked() throws Exception {
        one.answering(keeping("resp_none"));
        two.answering(keeping("resp_none"));
        other.answering(keeping(response));
        RawResponse answer = ask(get(response, TestGateway.OTHER_KEY, id));
        assertThat(answer.status()).isEqualTo(200);
        assertThat(UsageLines.of(gateway, id).path("model_served").asText()).isEqualTo("m2");
    }

    @Test
    void aReplicaInTroubleMayKeepIt() throws Exception {
        one.answering(Scripts.status(500, "{}"));
        two.answering(keeping("resp_none"));
        RawResponse answer = ask(get(response, TestGateway.KEY, id));
        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.text()).contains("response_unavailable");
    }

    @Test
    void whatAReplicaSaysOfAKnownIdIsRelayed() throws Exception {
        bothKeep();
        make();
        one.answering(Scripts.status(404, NOT_FOUND));
        two.answering(Scripts.status(404, NOT_FOUND));
        RawResponse answer = ask(get(response, TestGateway.KEY, id + "-get"));
        assertThat(answer.status()).isEqualTo(404);
        assertThat(answer.text()).isEqualTo(NOT_FOUND);
    }

    @Test
    void toLeaveWhileAReplicaIsAskedEndsThat() throws Exception {
        one.answering(Scripts.thenHang(""));
        two.answering(Scripts.thenHang(""));
        int before = one.requests().size();
        RawClient client = RawClient.connect(gateway.port()).send(get(response, TestGateway.KEY, id));
        RecordedRequest seen = one.request(before);
        client.leaveRst();
        assertThat(seen.closed().get(5, TimeUnit.SECONDS)).isIn(Ended.FIN, Ended.RST);
        UsageLines.assertEnd(UsageLines.of(gateway, id), "client_closed", 499, null);
    }

    @Test
    void otherMethodsAreRefused() throws Exception {
        RawResponse answer =
                ask(Requests.request("DELETE", "/v1/responses/resp_1").key(TestGateway.KEY));
        assertThat(answer.status()).isEqualTo(405);
        assertThat(answer.header("allow")).isPresent();
    }
}
