package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import routes.fixture.Call;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.RecordedRequest;
import routes.fixture.Requests;
import routes.fixture.Script;
import routes.fixture.Scripts;
import routes.replica.Replica;
import routes.replica.Replicas;

/** When a replica's answer is not taken for an answer, how often, and who is spared meanwhile. */
class SecondTryJourneyTest {

    private static final String BUSY = Payloads.error(503, "Busy", "not now");

    private FakeReplica one;
    private FakeReplica two;

    @BeforeEach
    void start() throws IOException {
        one = FakeReplica.start();
        two = FakeReplica.start();
    }

    @AfterEach
    void stop() throws IOException {
        one.close();
        two.close();
    }

    private TestGateway.Builder both() {
        return TestGateway.builder().model("m1", one.url(), two.url()).property("gateway.event-loops", 1);
    }

    private static Requests chat(String content, String id) {
        return Requests.chat("m1", content, false).key(TestGateway.KEY).header("X-Request-Id", id);
    }

    private static RawResponse ask(TestGateway gateway, Requests request) throws IOException {
        try (RawClient client = RawClient.connect(gateway.port())) {
            return client.exchange(request);
        }
    }

    private static int attempts(TestGateway gateway, String id) {
        return UsageLines.of(gateway, id).path("attempts").asInt();
    }

    private int seen() {
        return one.requests().size() + two.requests().size();
    }

    @Test
    void aReplicaThatIsBusyIsPassedOver() throws Exception {
        Script once = Scripts.sequence(Scripts.status(503, BUSY), Scripts.normal());
        one.answering(once);
        two.answering(once);
        try (TestGateway gateway = both().start()) {
            String prompt = "x".repeat(100_000);
            RawResponse answer = ask(gateway, chat(prompt, "passed"));
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.text()).isEqualTo(Payloads.JSON);
            RecordedRequest first = one.request(0);
            RecordedRequest second = two.request(0);
            assertThat(first.body()).isEqualTo(second.body());
            assertThat(first.header("x-request-id")).isNotEqualTo(second.header("x-request-id"));
            JsonNode line = UsageLines.of(gateway, "passed");
            UsageLines.assertEnd(line, "success", 200, null);
            UsageLines.assertTokens(line, 5, 2, 7);
            assertThat(line.path("attempts").asInt()).isEqualTo(2);
        }
    }

    @Test
    void statusesAreAMatterOfConfiguration() throws Exception {
        Script once = Scripts.sequence(Scripts.status(500, "boom"), Scripts.normal());
        one.answering(once);
        two.answering(once);
        try (TestGateway gateway =
                both().property("gateway.retry-statuses", "500").start()) {
            assertThat(ask(gateway, chat("hi", "fivehundred")).status()).isEqualTo(200);
            one.answering(Scripts.status(503, BUSY));
            two.answering(Scripts.status(503, BUSY));
            assertThat(ask(gateway, chat("hi", "now")).text()).isEqualTo(BUSY);
            assertThat(attempts(gateway, "now")).isEqualTo(1);
        }
    }

    @Test
    void aLoneReplicaIsNotAskedTwiceForAnErrorStatus() throws Exception {
        one.answering(Scripts.status(503, BUSY, "Retry-After: 7"));
        try (TestGateway gateway = TestGateway.serving(one.url())) {
            RawResponse answer = ask(gateway, chat("hi", "lone"));
            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.header("retry-after")).contains("7");
            assertThat(one.requests()).hasSize(1);
        }
    }

    @Test
    void aLoneReplicaThatRefusedIsAskedOnceMore() throws Exception {
        one.answering(Scripts.sequence(Call::rst, Scripts.normal()));
        try (TestGateway gateway = TestGateway.serving(one.url())) {
            assertThat(ask(gateway, chat("hi", "again")).status()).isEqualTo(200);
            assertThat(attempts(gateway, "again")).isEqualTo(2);
        }
    }

    @Test
    void whoAsksForARestIsSparedUntilItIsOver() throws Exception {
        one.answering(Scripts.status(429, Payloads.error(429, "Slow", "slow down"), "Retry-After: 1"));
        two.answering(Scripts.normal());
        try (TestGateway gateway = both().start()) {
            // until somebody has tried the first
            for (int i = 0; one.requests().isEmpty(); i++) {
                assertThat(ask(gateway, chat("prefix " + i, "before-" + i)).status())
                        .isEqualTo(200);
            }
            one.answering(Scripts.normal());
            for (int i = 0; i < 20; i++) {
                assertThat(ask(gateway, chat("prefix " + i, "during-" + i)).status())
                        .isEqualTo(200);
            }
            assertThat(one.requests()).hasSize(1);
            Replica rested = replica(gateway, one);
            TestGateway.await(() -> rested.fitness() == Replica.Fitness.FIT, "the end of the rest");
            for (int i = 0; i < 20; i++) {
                ask(gateway, chat("prefix " + i, "after-" + i));
            }
            assertThat(one.requests().size()).isGreaterThan(1);
        }
    }

    @Test
    void anOutageIsNotMultiplied() throws Exception {
        one.answering(Scripts.status(503, BUSY));
        two.answering(Scripts.status(503, BUSY));
        try (TestGateway gateway = both().property("gateway.retry-budget", 10).start()) {
            for (int i = 0; i < 100; i++) {
                assertThat(ask(gateway, chat("prefix " + i, "outage-" + i)).status())
                        .isEqualTo(503);
            }
            // ten at first, and a tenth of a hundred
            assertThat(seen()).isBetween(115, 121);
        }
    }

    @Test
    void withoutABudgetNothingIsTriedAgain() throws Exception {
        one.answering(Call::rst);
        two.answering(Call::rst);
        try (TestGateway gateway = both().property("gateway.retry-budget", 0).start()) {
            assertThat(ask(gateway, chat("hi", "none")).status()).isEqualTo(502);
            assertThat(attempts(gateway, "none")).isEqualTo(1);
        }
    }

    @Test
    void afterFailuresInARowAReplicaIsSparedAndThenTriedAgain() throws Exception {
        one.refuse();
        try (TestGateway gateway =
                both().property("camel.resilience4j.waitDurationInOpenState", 1).start()) {
            Replica failing = replica(gateway, one);
            for (int i = 0; failing.fitness() == Replica.Fitness.FIT; i++) {
                assertThat(i).as("requests until the breaker opens").isLessThan(100);
                assertThat(ask(gateway, chat("prefix " + i, "opening-" + i)).status())
                        .isEqualTo(200);
            }
            assertThat(failing.fitness()).isEqualTo(Replica.Fitness.LAST_CHOICE);
            assertThat(failing.isUp()).isTrue();
            for (int i = 0; i < 20; i++) {
                assertThat(ask(gateway, chat("prefix " + i, "open-" + i)).status())
                        .isEqualTo(200);
                assertThat(attempts(gateway, "open-" + i)).isEqualTo(1);
            }
            one.listen();
            TestGateway.await(() -> failing.fitness() == Replica.Fitness.FIT, "half open");
            for (int i = 0; one.requests().size() < 5; i++) {
                assertThat(i).as("requests until the replica is used again").isLessThan(100);
                assertThat(ask(gateway, chat("prefix " + i, "closed-" + i)).status())
                        .isEqualTo(200);
            }
        }
    }

    @Test
    void theLastReplicaIsTriedWhateverItsBreakerSays() throws Exception {
        one.answering(Call::rst);
        try (TestGateway gateway = TestGateway.builder()
                .model("m1", one.url())
                .property("gateway.max-attempts", 1)
                .start()) {
            Replica failing = replica(gateway, one);
            for (int i = 0; failing.fitness() == Replica.Fitness.FIT; i++) {
                assertThat(ask(gateway, chat("hi", "failing-" + i)).status()).isEqualTo(502);
            }
            one.answering(Scripts.normal());
            assertThat(ask(gateway, chat("hi", "well")).status()).isEqualTo(200);
        }
    }

    private static Replica replica(TestGateway gateway, FakeReplica of) {
        return gateway.bean(Replicas.class).all().stream()
                .filter(each -> each.address().port() == of.port())
                .findFirst()
                .orElseThrow();
    }
}
