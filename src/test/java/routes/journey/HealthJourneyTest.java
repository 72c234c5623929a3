package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import routes.fixture.FakeReplica;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.Requests;
import routes.fixture.Script;
import routes.fixture.Scripts;
import routes.replica.Replica;
import routes.replica.Replicas;

/** An open port is not health: who gets requests when probes fail, and when they succeed again. */
class HealthJourneyTest {

    private static final Script SICK = Scripts.status(503, "");
    private static final Script WELL = Scripts.status(200, "");

    private final CountDownLatch go = new CountDownLatch(1);
    private FakeReplica one;
    private FakeReplica two;

    @BeforeEach
    void startReplicas() throws Exception {
        one = FakeReplica.start();
        two = FakeReplica.start();
    }

    @AfterEach
    void stopReplicas() throws Exception {
        go.countDown();
        one.close();
        two.close();
    }

    private static TestGateway.Builder gateway() {
        return TestGateway.builder()
                .property("gateway.event-loops", 2)
                .property("gateway.health.path", "/health")
                .property("gateway.health.interval", "20ms")
                .property("gateway.health.timeout", "5s")
                .property("gateway.slow-start", "1ms");
    }

    private static Replica replica(TestGateway gateway, FakeReplica server) {
        return gateway.bean(Replicas.class).all().stream()
                .filter(replica -> replica.address().port() == server.port())
                .findFirst()
                .orElseThrow();
    }

    private static void awaitUp(TestGateway gateway, FakeReplica server, boolean up) {
        Replica replica = replica(gateway, server);
        TestGateway.await(() -> replica.isUp() == up, replica + " to be " + (up ? "up" : "down"));
    }

    private static void awaitMoreProbes(FakeReplica server, int count) throws InterruptedException {
        server.awaitProbes(server.probes().size() + count);
    }

    private static RawResponse ask(TestGateway gateway, String model, String content) throws Exception {
        try (RawClient client = RawClient.connect(gateway.port())) {
            return client.exchange(Requests.chat(model, content, false).key(TestGateway.KEY));
        }
    }

    private static void noReplica(RawResponse answer) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(503);
        assertThat(answer.header("retry-after").orElseThrow()).matches("[1-9]\\d*");
        assertThat(answer.text()).contains("\"code\":\"no_replica\"");
    }

    @Test
    void aSickReplicaGetsNoRequestThoughItAcceptsThem() throws Exception {
        two.health(SICK);
        try (TestGateway gateway = gateway()
                .model("m1", one.url(), two.url())
                .model("m2", two.url())
                .start()) {
            awaitUp(gateway, two, false);

            for (int i = 0; i < 12; i++) {
                assertThat(ask(gateway, "m1", "conversation " + i).status()).isEqualTo(200);
            }
            noReplica(ask(gateway, "m2", "alone"));

            assertThat(one.requests()).hasSize(12);
            assertThat(two.requests()).isEmpty();
            List<JsonNode> refused = UsageLines.all(gateway).values().stream()
                    .filter(line -> line.path("status").asInt() == 503)
                    .toList();
            assertThat(refused).hasSize(1);
            UsageLines.assertEnd(refused.get(0), "rejected", 503, "no_replica");
        }
    }

    @Test
    void aReplicaThatIsUpAgainServesAgain() throws Exception {
        two.health(SICK);
        try (TestGateway gateway = gateway().model("m1", two.url()).start()) {
            awaitUp(gateway, two, false);
            noReplica(ask(gateway, "m1", "too early"));

            two.health(WELL);
            awaitUp(gateway, two, true);

            assertThat(ask(gateway, "m1", "in time").status()).isEqualTo(200);
        }
    }

    @Test
    void aProbeThatIsMissedNowAndThenChangesNothing() throws Exception {
        Script hang = Scripts.thenHang("");
        one.health(Scripts.sequence(WELL, hang, WELL, SICK, SICK, WELL, WELL, SICK, WELL));
        try (LogCapture log = LogCapture.at(Level.INFO);
                TestGateway gateway = gateway()
                        .model("m1", one.url())
                        .property("gateway.health.timeout", "1s")
                        .start()) {
            one.awaitProbes(12);

            assertThat(ask(gateway, "m1", "hi").status()).isEqualTo(200);
            assertThat(log.lines()).noneMatch(line -> line.contains(" is down"));
        }
    }

    @Test
    void leavingTakesMissesInARowAndReturningHitsInARow() throws Exception {
        // three misses, a hit, a miss, two hits
        one.health(Scripts.sequence(WELL, SICK, SICK, SICK, WELL, SICK, WELL, WELL));
        try (LogCapture log = LogCapture.at(Level.INFO);
                TestGateway gateway = gateway().model("m1", one.url()).start()) {
            awaitUp(gateway, one, true);
            one.awaitProbes(10);
            awaitUp(gateway, one, true);

            List<String> changes = log.lines().stream()
                    .filter(line -> line.contains(" is up") || line.contains(" is down"))
                    .map(line -> line.replaceAll(".* is ", ""))
                    .toList();
            assertThat(changes).containsExactly("down: status 503 ", "up again ");
            assertThat(ask(gateway, "m1", "hi").status()).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n"})
    void anEmptyAnswerIsHealthy(String wire) throws Exception {
        one.health(Scripts.wire(wire));
        try (TestGateway gateway = gateway().model("m1", one.url()).start()) {
            one.awaitProbes(5);

            assertThat(replica(gateway, one).isUp()).isTrue();
            assertThat(ask(gateway, "m1", "hi").status()).isEqualTo(200);
        }
    }

    @Test
    void aPoolWhoseOnlyReplicaIsGoneRefusesAtOnce() throws Exception {
        try (TestGateway gateway = gateway().model("m1", one.url()).start()) {
            assertThat(ask(gateway, "m1", "before").status()).isEqualTo(200);
            one.close();
            awaitUp(gateway, one, false);

            noReplica(ask(gateway, "m1", "after"));

            one.listen();
            awaitUp(gateway, one, true);
            assertThat(ask(gateway, "m1", "again").status()).isEqualTo(200);
        }
    }

    @Test
    void whoWaitsForAReplicaIsToldWhenItGoesDownAndWhatRunsThereGoesOn() throws Exception {
        one.answering(Scripts.holding(go));
        try (TestGateway gateway = gateway().model("m1", one.url() + "?slots=1").start();
                RawClient running = RawClient.connect(gateway.port());
                RawClient waiting = RawClient.connect(gateway.port())) {
            running.send(Requests.chat("m1", "runs", false).key(TestGateway.KEY).header("X-Request-Id", "runs"));
            one.awaitRequests(1);
            waiting.send(
                    Requests.chat("m1", "waits", false).key(TestGateway.KEY).header("X-Request-Id", "waits"));
            TestGateway.await(() -> gateway.queued() == 1, "a request in the queue");

            one.health(SICK);

            noReplica(waiting.response());
            go.countDown();
            assertThat(running.response().status()).isEqualTo(200);
            Map<String, JsonNode> lines = UsageLines.all(gateway);
            UsageLines.assertEnd(lines.get("runs"), "success", 200, null);
            UsageLines.assertEnd(lines.get("waits"), "rejected", 503, "no_replica");
        }
    }

    @Test
    void aReplicaThatHasComeBackGetsItsSlotsLittleByLittle() throws Exception {
        one.answering(Scripts.holding(go));
        try (TestGateway gateway = gateway()
                .model("m1", one.url() + "?slots=4")
                .property("gateway.slow-start", "1h")
                .start()) {
            List<RawClient> clients = fourWithSlots(gateway, 1);
            go.countDown();
            for (RawClient client : clients) {
                assertThat(client.response().status()).isEqualTo(200);
                client.close();
            }
            assertThat(one.maxActive()).isEqualTo(1);
        }
    }

    @Test
    void afterAWhileAReplicaThatHasComeBackHasAllItsSlots() throws Exception {
        one.answering(Scripts.holding(go));
        try (TestGateway gateway = gateway()
                .model("m1", one.url() + "?slots=4")
                .property("gateway.slow-start", "500ms")
                .start()) {
            List<RawClient> clients = fourWithSlots(gateway, 4);
            go.countDown();
            for (RawClient client : clients) {
                assertThat(client.response().status()).isEqualTo(200);
                client.close();
            }
        }
    }

    /** Sends four requests after the replica's return and waits until so many are there and the others in the queue. */
    private List<RawClient> fourWithSlots(TestGateway gateway, int slots) throws Exception {
        awaitMoreProbes(one, 2);
        one.health(SICK);
        awaitUp(gateway, one, false);
        one.health(WELL);
        awaitUp(gateway, one, true);
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            clients.add(RawClient.connect(gateway.port())
                    .send(Requests.chat("m1", "number " + i, false).key(TestGateway.KEY)));
        }
        TestGateway.await(() -> one.active() == slots && gateway.queued() == 4 - slots, slots + " requests there");
        return clients;
    }
}
