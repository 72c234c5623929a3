package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.camel.Exchange;
import org.apache.camel.Processor;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.Requests;
import routes.fixture.Scripts;

/** Steps of one's own in the request's route: what they may do, and what the gateway does when they go wrong. */
@Timeout(60)
class StepsJourneyTest {

    private static final String DOOR = """
            - route:
                id: front-door
                errorHandler: { noErrorHandler: {} }
                from:
                  uri: netty-http:http://{{gateway.host}}:{{gateway.port}}
                  parameters:
                    serverInitializerFactory: "#door"
                  steps:
                    - process: { ref: first }
                    - process: { ref: auth }
                    - threads: { threadName: worker, poolSize: 2, maxPoolSize: 2 }
                    - process: { ref: early }
                    - process: { ref: prompt }
                    - process: { ref: onLoop }
                    - threads: { threadName: worker, poolSize: 2, maxPoolSize: 2 }
                    - process: { ref: late }
            %s
                    - to: model:*
                    - process: { ref: after }
            """;

    private static final String LOOP = "gateway-loop";
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final OwnSteps steps = new OwnSteps();
    private static FakeReplica replica;
    private static TestGateway gateway;
    private static TestGateway impatient;

    private UsageMark usage;
    private int dispatched;
    private RawClient client;
    private String id;

    @BeforeAll
    static void start() throws IOException {
        replica = FakeReplica.start(Scripts.vllmLike());
        gateway = withSteps().start();
        impatient = withSteps().property("gateway.total-timeout", "300ms").start();
    }

    private static TestGateway.Builder withSteps() {
        TestGateway.Builder builder = TestGateway.builder()
                .property("gateway.event-loops", 1)
                .door(DOOR)
                .model("m1", replica.url());
        for (String place : new String[] {"first", "early", "onLoop", "late", "after"}) {
            builder.bean(place, steps.at(place));
        }
        return builder;
    }

    @AfterAll
    static void stop() throws IOException {
        gateway.close();
        impatient.close();
        replica.close();
    }

    @BeforeEach
    void connect(TestInfo test) throws IOException {
        id = Integer.toHexString(test.getDisplayName().hashCode())
                + test.getTestMethod().orElseThrow().getName();
        replica.answering(Scripts.vllmLike());
        usage = UsageMark.of(gateway);
        dispatched = replica.requests().size();
        client = RawClient.connect(gateway.port());
    }

    @AfterEach
    void everythingIsGivenBack() throws IOException {
        client.close();
        gateway.awaitIdle();
        impatient.awaitIdle();
        awaitRoutesIdle(gateway);
    }

    // ---- threads

    @Test
    void blockingStepsRunOffTheEventLoopsAndTheGatewaysOwnReturnToThem() throws Exception {
        CountDownLatch release = new CountDownLatch(2);
        CountDownLatch early = new CountDownLatch(1);
        CountDownLatch late = new CountDownLatch(1);
        steps.when(id, "early", blocks(early, release)).when(id, "late", blocks(late, release));

        client.send(request(true));
        await(early);
        assertAnotherRequestIsServedMeanwhile();
        release.countDown();
        release.countDown();
        await(late);
        RawResponse answer = client.response();

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.text()).isEqualTo(String.join("", Payloads.STREAM_WITHOUT_USAGE));
        gateway.awaitIdle();
        awaitRoutesIdle(gateway);
        assertThat(steps.thread(id, "early")).doesNotContain(LOOP).contains("worker");
        assertThat(steps.thread(id, "late")).doesNotContain(LOOP).contains("worker");
        assertThat(steps.thread(id, "onLoop")).startsWith(LOOP);
        assertThat(steps.thread(id, "after")).as("who ends the relay").startsWith(LOOP);
        assertThat(usage.ends()).containsExactly("success 200", "success 200");
    }

    @Test
    void aPoolThatIsFullRefusesAndNeverRunsTheStepOnAnEventLoop() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        OwnSteps own = new OwnSteps().when(id, "own", blocks(entered, release));
        try (TestGateway small = TestGateway.builder()
                        .property("gateway.event-loops", 1)
                        .bean("own", own.at("own"))
                        .steps("""
                                        - threads:
                                            poolSize: 1
                                            maxPoolSize: 1
                                            maxQueueSize: 0
                                            rejectedPolicy: Abort
                                        - process: { ref: own }
                                """)
                        .model("m1", replica.url())
                        .start();
                LogCapture log = LogCapture.at(Level.WARN);
                RawClient first = RawClient.connect(small.port());
                RawClient second = RawClient.connect(small.port())) {
            first.send(request(false));
            await(entered);
            RawResponse refused = second.exchange(chat("second", false));
            release.countDown();

            assertThat(refused.status()).isEqualTo(503);
            assertThat(refused.text()).contains("\"code\":\"no_capacity\"");
            assertThat(first.response().status()).isEqualTo(200);
            assertThat(own.thread("second", "own")).isNull();
            assertThat(log.errors()).isEmpty();
            assertThat(UsageLines.of(small, "second").path("outcome").asText()).isEqualTo("rejected");
        }
    }

    // ---- steps that end the request

    @ParameterizedTest
    @ValueSource(strings = {"early", "onLoop", "late"})
    void aStepThatThrowsIsAnInternalErrorLoggedOnce(String place) throws Exception {
        steps.when(id, place, exchange -> {
            throw new IllegalStateException("the database is gone");
        });
        try (LogCapture log = LogCapture.at(Level.WARN)) {
            RawResponse answer = client.exchange(request(true));

            assertThat(answer.status()).isEqualTo(500);
            assertThat(error(answer)).isEqualTo("internal");
            assertThat(answer.text()).doesNotContain("database").doesNotContain("Exception");
            assertThat(usage.ends()).containsExactly("internal internal 500");
            assertThat(log.lines()).hasSize(1);
            assertThat(log.errors()).hasSize(1).first().asString().contains("the database is gone", id);
        }
        assertNothingWasDispatched();
        assertTheConnectionGoesOn();
    }

    @Test
    void aStepThatThrowsBeforeAuthHasNoUsageLine() throws Exception {
        steps.when(id, "first", exchange -> {
            throw new IllegalStateException("too early");
        });
        try (LogCapture log = LogCapture.at(Level.WARN)) {
            RawResponse answer = client.exchange(request(false));

            assertThat(answer.status()).isEqualTo(500);
            assertThat(usage.ends()).isEmpty();
            assertThat(log.errors()).hasSize(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"early", "onLoop", "late"})
    void aStepMayRejectWithAnErrorOfTheCatalogue(String place) throws Exception {
        steps.when(id, place, exchange -> {
            throw new GatewayException(ErrorCode.NO_CAPACITY, "House rule: \"not today\".", "model", 7);
        });
        try (LogCapture log = LogCapture.at(Level.WARN)) {
            RawResponse answer = client.exchange(request(true));

            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.header("retry-after")).contains("7");
            JsonNode error = JSON.readTree(answer.text()).path("error");
            assertThat(error.path("code").asText()).isEqualTo("no_capacity");
            assertThat(error.path("param").asText()).isEqualTo("model");
            assertThat(error.path("message").asText()).isEqualTo("House rule: \"not today\".");
            assertThat(usage.ends()).containsExactly("rejected no_capacity 503");
            assertThat(log.lines()).isEmpty();
        }
        assertNothingWasDispatched();
        assertTheConnectionGoesOn();
    }

    @ParameterizedTest
    @ValueSource(strings = {"early", "onLoop", "late"})
    void aStepMayAnswerItself(String place) throws Exception {
        steps.when(id, place, exchange -> {
            exchange.getMessage().setBody("{\"cached\":true}");
            exchange.getMessage().setHeader(Exchange.HTTP_RESPONSE_CODE, 203);
            exchange.getMessage().setHeader(Exchange.CONTENT_TYPE, "application/cached+json");
            exchange.getMessage().setHeader("Retry-After", 3);
        });
        RawResponse answer = client.exchange(request(true));

        assertThat(answer.status()).isEqualTo(203);
        assertThat(answer.text()).isEqualTo("{\"cached\":true}");
        assertThat(answer.allHeaders("content-type")).containsExactly("application/cached+json");
        assertThat(answer.allHeaders("content-length")).containsExactly("15");
        assertThat(answer.header("retry-after")).contains("3");
        assertThat(answer.header("x-request-id")).contains(id);
        assertThat(usage.ends()).containsExactly("success 203");
        assertNothingWasDispatched();
        assertTheConnectionGoesOn();
    }

    @Test
    void aStepThatLeavesNoBodyAnswersWithNone() throws Exception {
        steps.when(id, "late", exchange -> {
            exchange.getMessage().setBody(null);
            exchange.getMessage().setHeader(Exchange.HTTP_RESPONSE_CODE, 202);
            exchange.setRouteStop(true);
        });
        RawResponse answer = client.exchange(request(true));

        assertThat(answer.status()).isEqualTo(202);
        assertThat(answer.text()).isEmpty();
        assertThat(usage.ends()).containsExactly("success 202");
        assertTheConnectionGoesOn();
    }

    @Test
    void aRouteThatEndsWithoutAnAnswerIsAnInternalError() throws Exception {
        steps.when(id, "late", exchange -> exchange.setRouteStop(true));
        try (LogCapture log = LogCapture.at(Level.WARN)) {
            assertThat(client.exchange(request(true)).status()).isEqualTo(500);
            assertThat(usage.ends()).containsExactly("internal internal 500");
            assertThat(log.errors()).hasSize(1).first().asString().contains("model:*");
        }
    }

    // ---- the request ends while a step blocks

    @ParameterizedTest
    @ValueSource(strings = {"early", "late"})
    void aClientThatLeavesWhileAStepBlocksIsRecordedAtOnceAndNothingIsDispatchedLater(String place) throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        steps.when(id, place, blocks(entered, release));

        client.send(request(true));
        await(entered);
        client.leaveFin();
        assertThat(usage.ends()).as("while the step still blocks").containsExactly("client_closed 499");
        assertThat(release.getCount()).isEqualTo(1);
        release.countDown();

        awaitRoutesIdle(gateway);
        assertThat(usage.ends()).containsExactly("client_closed 499");
        assertNothingWasDispatched();
    }

    @ParameterizedTest
    @ValueSource(strings = {"early", "late"})
    void theTotalTimeOutAnswersOnceWhileAStepBlocks(String place) throws Exception {
        UsageMark lines = UsageMark.of(impatient);
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        steps.when(id, place, blocks(entered, release));
        try (RawClient waiting = RawClient.connect(impatient.port())) {
            RawResponse answer = waiting.exchange(request(true));
            assertThat(answer.status()).isEqualTo(504);
            assertThat(error(answer)).isEqualTo("upstream_timeout");
            assertThat(lines.ends()).containsExactly("timeout upstream_timeout 504");
            assertThat(entered.getCount()).isZero();

            release.countDown();
            awaitRoutesIdle(impatient);
            assertNothingWasDispatched();
            assertThat(waiting.exchange(chat(id + "-next", false)).status())
                    .as("nothing of the late step's is in the way")
                    .isEqualTo(200);
        }
        assertThat(lines.ends()).containsExactly("timeout upstream_timeout 504", "success 200");
    }

    // ---- what steps see

    @Test
    void stepsAfterTheModelSeeTheOutcomeInSimple() throws Exception {
        CompletableFuture<String> seen = new CompletableFuture<>();
        steps.when(
                id,
                "after",
                simple(
                        "${body.outcome} ${body.status} ${body.tenant} ${body.keyId} ${body.model} ${body.replica}"
                                + " ${body.attempts} ${body.affinity} ${body.stream} ${body.requestId}"
                                + " ${body.facts.totalTokens}",
                        seen));
        client.exchange(request(true));

        assertThat(seen.get(10, TimeUnit.SECONDS))
                .isEqualTo("success 200 tenant-one key-one m1 " + replica.url() + " 1 only_one true " + id + " 7");
    }

    @Test
    void stepsAfterTheModelSeeThatTheReplicaBrokeOff() throws Exception {
        CompletableFuture<String> seen = new CompletableFuture<>();
        steps.when(id, "after", simple("${body.outcome} ${body.errorCode}", seen));
        replica.answering(Scripts.thenRst(Payloads.sseHead() + Payloads.chunk(Payloads.EVENT_A)));
        client.exchange(request(true));

        assertThat(seen.get(10, TimeUnit.SECONDS)).isEqualTo("upstream_aborted UPSTREAM_INCOMPLETE");
        assertThat(usage.ends()).containsExactly("upstream_aborted upstream_incomplete 200");
    }

    @Test
    void stepsAfterTheModelSeeThatTheClientLeft() throws Exception {
        CompletableFuture<String> seen = new CompletableFuture<>();
        steps.when(id, "after", simple("${body.outcome} ${body.status}", seen));
        replica.answering(Scripts.held(new CountDownLatch(1), Payloads.STREAM.subList(0, 1), List.of()));
        RawResponse answer = client.send(request(true)).begin();
        assertThat(answer.until("\"A\"")).isTrue();
        client.leaveRst();

        assertThat(seen.get(10, TimeUnit.SECONDS)).isEqualTo("client_closed 200");
    }

    @Test
    void theRequestConvertsToJsonAndAMapWithoutThePromptOrTheKey() throws Exception {
        CompletableFuture<String> json = new CompletableFuture<>();
        CompletableFuture<Map<?, ?>> map = new CompletableFuture<>();
        steps.when(id, "late", exchange -> {
            json.complete(exchange.getMessage().getBody(String.class));
            map.complete(exchange.getMessage().getBody(Map.class));
        });
        RawResponse answer = client.exchange(Requests.chat("m1", "planted-prompt", false)
                .key(TestGateway.KEY)
                .header("X-Request-Id", id));

        assertThat(answer.status()).isEqualTo(200);
        JsonNode tree = JSON.readTree(json.get(10, TimeUnit.SECONDS));
        assertThat(tree.path("request_id").asText()).isEqualTo(id);
        assertThat(tree.path("model").asText()).isEqualTo("m1");
        assertThat(tree.path("outcome").isNull()).isTrue();
        assertThat(json.get()).doesNotContain("planted-prompt").doesNotContain(TestGateway.KEY);
        assertThat(map.get(10, TimeUnit.SECONDS).get("tenant")).isEqualTo("tenant-one");
    }

    @Test
    void aStepAfterTheModelThatThrowsIsLoggedAndChangesNothing() throws Exception {
        steps.when(id, "after", exchange -> {
            throw new IllegalStateException("too late");
        });
        try (LogCapture log = LogCapture.at(Level.WARN)) {
            assertThat(client.exchange(request(true)).text()).isEqualTo(String.join("", Payloads.STREAM_WITHOUT_USAGE));
            assertThat(usage.ends()).containsExactly("success 200");
            awaitRoutesIdle(gateway);
            assertThat(log.lines())
                    .hasSize(1)
                    .first()
                    .asString()
                    .startsWith("WARN")
                    .contains("too late");
        }
        assertTheConnectionGoesOn();
    }

    // ----

    private Requests request(boolean stream) {
        return chat(id, stream);
    }

    private static Requests chat(String requestId, boolean stream) {
        return Requests.chat("m1", stream).key(TestGateway.KEY).header("X-Request-Id", requestId);
    }

    private static Processor blocks(CountDownLatch entered, CountDownLatch release) {
        return exchange -> {
            entered.countDown();
            if (!release.await(30, TimeUnit.SECONDS)) {
                throw new IllegalStateException("nobody let the step go on");
            }
        };
    }

    private static Processor simple(String text, CompletableFuture<String> seen) {
        return exchange -> {
            try {
                seen.complete(exchange.getContext()
                        .resolveLanguage("simple")
                        .createExpression(text)
                        .evaluate(exchange, String.class));
            } catch (RuntimeException e) {
                seen.completeExceptionally(e);
            }
        };
    }

    private static void await(CountDownLatch latch) throws InterruptedException {
        assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
    }

    private static void awaitRoutesIdle(TestGateway of) {
        TestGateway.await(() -> of.context().getInflightRepository().size() == 0, "exchanges in flight");
    }

    private void assertAnotherRequestIsServedMeanwhile() throws IOException {
        try (RawClient other = RawClient.connect(gateway.port())) {
            assertThat(other.send(chat(id + "-other", false))
                            .response(Duration.ofSeconds(10))
                            .status())
                    .isEqualTo(200);
        }
    }

    private void assertNothingWasDispatched() {
        assertThat(replica.requests()).hasSize(dispatched);
    }

    private void assertTheConnectionGoesOn() throws IOException {
        assertThat(client.exchange(chat(id + "-next", false)).status()).isEqualTo(200);
    }

    private static String error(RawResponse answer) throws IOException {
        return JSON.readTree(answer.text()).path("error").path("code").asText();
    }
}
