package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import routes.affinity.Affinities;
import routes.affinity.AffinitySection;
import routes.affinity.HotPrefix;
import routes.fixture.FakeReplica;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.Requests;
import routes.fixture.Scripts;
import routes.replica.Replica;
import routes.replica.Replicas;

/** Waiting has a price: what is cheap to compute moves on at once, what is dear waits a little for its home. */
class WaitingJourneyTest {

    /** 20 KB, so about 5,000 tokens. */
    private static final String LONG = "A long document about everything. ".repeat(600);

    private FakeReplica one;
    private FakeReplica two;

    @BeforeEach
    void start() throws Exception {
        one = FakeReplica.start();
        two = FakeReplica.start();
    }

    @AfterEach
    void stop() throws Exception {
        one.close();
        two.close();
    }

    private TestGateway gateway(String queue) {
        return TestGateway.builder()
                .modelWith(queue, "m1", one.url() + "?slots=1", two.url() + "?slots=1")
                .start();
    }

    private static Requests ask(String prompt, String id) {
        return Requests.chat("m1", prompt, false).key(TestGateway.KEY).header("X-Request-Id", id);
    }

    private FakeReplica homeOf(TestGateway gateway, String id) throws Exception {
        return UsageLines.of(gateway, id).path("replica").asText().equals(one.url()) ? one : two;
    }

    /** Takes the only slot of the long prompt's home. */
    private FakeReplica fillHome(TestGateway gateway, RawClient client, CountDownLatch until) throws Exception {
        assertThat(client.exchange(ask(LONG, "warm")).status()).isEqualTo(200);
        FakeReplica home = homeOf(gateway, "warm");
        home.answering(Scripts.holding(until));
        client.send(ask(LONG, "holds"));
        TestGateway.await(() -> home.active() == 1, "the home is full");
        return home;
    }

    private FakeReplica other(FakeReplica than) {
        return than == one ? two : one;
    }

    @Test
    void aLongWarmPromptWaitsForItsHomeAndASmallOneMovesOnAtOnce() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try (TestGateway gateway = gateway("queueLimit: 9");
                RawClient first = RawClient.connect(gateway.port());
                RawClient second = RawClient.connect(gateway.port());
                RawClient third = RawClient.connect(gateway.port())) {
            FakeReplica home = fillHome(gateway, first, go);
            second.send(ask(LONG, "waits"));
            TestGateway.await(() -> gateway.queued() == 1, "the long one waits");

            assertThat(third.exchange(ask("hello", "small")).status()).isEqualTo(200);

            go.countDown();
            assertThat(first.response().status()).isEqualTo(200);
            assertThat(second.response().status()).isEqualTo(200);
            assertThat(UsageLines.of(gateway, "waits").path("queue_ms").isNumber())
                    .isTrue();
            JsonNode small = UsageLines.of(gateway, "small");
            assertThat(small.path("replica").asText()).isEqualTo(other(home).url());
            assertThat(small.path("queue_ms").asDouble()).isLessThan(500);
            assertGaugesAreQuiet(gateway);
        }
    }

    @Test
    void whoseHomeNeverFreesIsServedElsewhere() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        try (TestGateway gateway = gateway("queueLimit: 9");
                RawClient first = RawClient.connect(gateway.port());
                RawClient second = RawClient.connect(gateway.port())) {
            FakeReplica home = fillHome(gateway, first, never);

            assertThat(second.exchange(ask(LONG, "leaves")).status()).isEqualTo(200);
            never.countDown();
            assertThat(first.response().status()).isEqualTo(200);
            JsonNode line = UsageLines.of(gateway, "leaves");
            assertThat(line.path("replica").asText()).isEqualTo(other(home).url());
            assertThat(line.path("affinity").asText()).isEqualTo("spill_full");
            assertGaugesAreQuiet(gateway);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"queueLimit: 0", "queueLimit: 9, queueTimeout: 100ms"})
    void nobodyIsRefusedForTheSakeOfItsHome(String bounds) throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try (TestGateway gateway = gateway(bounds);
                RawClient first = RawClient.connect(gateway.port());
                RawClient second = RawClient.connect(gateway.port())) {
            fillHome(gateway, first, go);

            RawResponse answer = second.exchange(ask(LONG, "leaves"));
            assertThat(answer.status()).as("%s", answer).isEqualTo(200);
            go.countDown();
            assertThat(first.response().status()).isEqualTo(200);
            assertThat(UsageLines.of(gateway, "leaves").path("affinity").asText())
                    .isEqualTo("spill_full");
            assertGaugesAreQuiet(gateway);
        }
    }

    @Test
    void whatIsPredictedIsCountedInTokensOfTheReplica() throws Exception {
        String answer = "{\"choices\":[{\"index\":0,\"finish_reason\":\"stop\",\"message\":{\"content\":\"a\"}}],"
                + "\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":1,\"total_tokens\":101,"
                + "\"prompt_tokens_details\":{\"cached_tokens\":60}}}";
        one.answering(Scripts.status(200, answer, "Content-Type: application/json"));
        two.answering(Scripts.status(200, answer, "Content-Type: application/json"));
        try (TestGateway gateway = gateway("queueLimit: 9");
                RawClient client = RawClient.connect(gateway.port())) {
            for (int i = 0; i < 3; i++) {
                assertThat(client.exchange(ask(LONG, "again-" + i)).status()).isEqualTo(200);
            }
            gateway.awaitIdle();

            JsonNode counts = new ObjectMapper()
                    .valueToTree(new AffinitySection(gateway.bean(Affinities.class)).json())
                    .path("m1");
            assertThat(counts.path("promptTokens").asLong()).isEqualTo(300);
            assertThat(counts.path("reportedCachedTokens").asLong()).isEqualTo(180);
            assertThat(counts.path("predictedCachedTokens").asLong())
                    .as("almost all of the second and third")
                    .isBetween(180L, 200L);
        }
    }

    @Test
    void theHottestPrefixesAreKnownByTheirHashes() throws Exception {
        try (TestGateway gateway = gateway("queueLimit: 9");
                RawClient client = RawClient.connect(gateway.port())) {
            for (int i = 0; i < 3; i++) {
                assertThat(client.exchange(ask("hello", "again-" + i)).status()).isEqualTo(200);
            }
            assertThat(client.exchange(ask("another", "once")).status()).isEqualTo(200);

            assertThat(gateway.bean(Affinities.class).hottest(10)).containsOnlyKeys("m1");
            assertThat(gateway.bean(Affinities.class).hottest(10).get("m1"))
                    .hasSize(2)
                    .isSortedAccordingTo((a, b) -> Double.compare(b.uses(), a.uses()))
                    .allSatisfy(prefix -> assertThat(prefix.homes()).isEqualTo(1));
            assertThat(gateway.bean(Affinities.class).hottest(1).get("m1"))
                    .extracting(HotPrefix::uses)
                    .singleElement()
                    .satisfies(uses -> assertThat(uses).isPositive());
        }
    }

    private static void assertGaugesAreQuiet(TestGateway gateway) {
        TestGateway.await(() -> gateway.queued() == 0, "nobody waits");
        for (Replica replica : gateway.bean(Replicas.class).all()) {
            TestGateway.await(() -> replica.inFlight() == 0, "no slot is taken");
            TestGateway.await(() -> replica.backlog().requests() == 0, "no prompt is to be computed");
            assertThat(replica.backlog().tokens()).isZero();
            assertThat(replica.awaited()).isZero();
        }
    }
}
