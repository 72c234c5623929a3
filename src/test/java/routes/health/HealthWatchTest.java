package routes.health;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import routes.fixture.FakeReplica;
import routes.fixture.RecordedRequest;
import routes.fixture.Script;
import routes.fixture.Scripts;
import routes.net.EventLoops;
import routes.replica.Replica;
import routes.replica.ReplicaAddress;
import routes.replica.ReplicaGroup;
import routes.replica.ReplicaOptions;
import routes.replica.ReplicaOptions.HealthCheck;
import routes.replica.Replicas;

/** Probes over real sockets; each test decides by one answer, since one miss and one hit are enough. */
class HealthWatchTest {

    private static final HealthCheck HEALTH = new HealthCheck("/health", 200, 299);
    private static final String OK = "HTTP/1.1 200 OK\r\n";

    private final EventLoops loops = new EventLoops(1, false);
    private final Replicas replicas = new Replicas();
    private HealthWatch watch = watch(Duration.ofSeconds(5));
    private FakeReplica server;

    @BeforeEach
    void start() throws Exception {
        server = FakeReplica.start();
    }

    @AfterEach
    void stop() throws Exception {
        watch.close();
        loops.close();
        server.close();
    }

    private HealthWatch watch(Duration timeout) {
        return new HealthWatch(
                loops,
                new WatchSettings(
                        new WatchSettings.Health(Duration.ofMillis(20), timeout, 1, 1),
                        Duration.ZERO,
                        new WatchSettings.Load(
                                Duration.ofMillis(20),
                                Duration.ofSeconds(30),
                                List.of("vllm:num_requests_running"),
                                List.of("vllm:num_requests_waiting"))));
    }

    private Replica watched(HealthCheck health, String loadPath) {
        replicas.listen(watch);
        return replicas.group(
                        ReplicaAddress.parse(server.url()),
                        new ReplicaOptions(16, health, loadPath, ""),
                        ReplicaGroup.Mode.ONE)
                .replicas()
                .get(0);
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline).as("still waiting").isNegative();
            Thread.onSpinWait();
            Thread.yield();
        }
    }

    private void hits(Script script) {
        server.health(Scripts.status(503, ""));
        Replica replica = watched(HEALTH, "");
        await(() -> !replica.isUp());
        server.health(script);
        await(replica::isUp);
        await(() -> server.probes().size() > 5 && replica.isUp());
    }

    private void misses(Script script) {
        Replica replica = watched(HEALTH, "");
        await(() -> !server.probes().isEmpty());
        assertThat(replica.isUp()).isTrue();
        server.health(script);
        await(() -> !replica.isUp());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "content-length: 0\r\n\r\n",
                "content-length: 2\r\n\r\nok",
                "transfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
            })
    void goodAnswersAreHits(String rest) {
        hits(Scripts.wire(OK + rest));
    }

    @Test
    void anAnswerWithoutContentIsAHit() {
        hits(Scripts.wire("HTTP/1.1 204 No Content\r\n\r\n"));
    }

    @Test
    void anAnswerThatEndsWithItsConnectionIsAHit() {
        hits(Scripts.thenFin(OK + "\r\nok"));
    }

    @Test
    void aHintBeforeTheAnswerIsPassedOver() {
        hits(Scripts.wire("HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + OK + "content-length: 0\r\n\r\n"));
    }

    @Test
    void theRestOfALongBodyIsNotAwaited() {
        hits(Scripts.thenHang(OK + "content-length: 1000000\r\n\r\n" + "x".repeat(70_000)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n",
                "HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\n\r\n",
                "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n",
                "SSH-2.0-OpenSSH_9.6\r\n\r\n",
                "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\nrubbish",
            })
    void otherAnswersAreMisses(String wire) {
        misses(Scripts.wire(wire));
    }

    @Test
    void anAnswerThatBreaksOffIsAMiss() {
        misses(Scripts.thenFin(OK + "content-length: 10\r\n\r\nok"));
    }

    @Test
    void aClosedConnectionIsAMissWhenANewOneIsClosedToo() {
        misses(Scripts.thenFin(""));
    }

    @Test
    void aResetIsAMiss() {
        misses(Scripts.thenRst(""));
    }

    @Test
    void silenceIsAMiss() {
        watch.close();
        watch = watch(Duration.ofMillis(100));
        misses(Scripts.thenHang(""));
    }

    @Test
    void silenceWithinAnAnswerIsAMiss() {
        watch.close();
        watch = watch(Duration.ofMillis(100));
        misses(Scripts.thenHang(OK + "content-length: 10\r\n\r\nok"));
    }

    @Test
    void aRefusedConnectionIsAMissAndTheFirstAnswerDecides() throws Exception {
        server.refuse();
        Replica replica = watched(HEALTH, "");
        await(() -> !replica.isUp());
        server.listen();
        await(replica::isUp);
    }

    @Test
    void aCheckMayExpectAnotherStatus() {
        server.health(Scripts.status(418, ""));
        Replica replica = watched(new HealthCheck("/health", 418, 418), "");
        await(() -> server.probes().size() > 2);
        assertThat(replica.isUp()).isTrue();
    }

    @Test
    void probesShareOneConnectionAndAreOneAtATime() throws Exception {
        watched(HEALTH, "");
        List<RecordedRequest> probes = server.awaitProbes(6);

        assertThat(server.connections()).isEqualTo(1);
        assertThat(probes).allSatisfy(probe -> {
            assertThat(probe.target()).isEqualTo("/health");
            assertThat(probe.header("host")).contains("127.0.0.1:" + server.port());
        });
    }

    @Test
    void aConnectionThatTheServerHasClosedMeanwhileIsNoMiss() throws Exception {
        Script ok = Scripts.status(200, "");
        // a new connection's first answer is good, and its second is its end
        server.health(call -> {
            if (call.request().index() == 0) {
                ok.answer(call);
            } else {
                call.fin();
            }
        });
        try (Log log = new Log()) {
            Replica replica = watched(HEALTH, "");
            server.awaitProbes(9);

            assertThat(server.connections()).isGreaterThan(3);
            assertThat(replica.isUp()).isTrue();
            assertThat(log.lines()).isEmpty();
        }
    }

    @Test
    void aChangeIsLoggedOnceWithItsReason() throws Exception {
        try (Log log = new Log()) {
            Replica replica = watched(HEALTH, "");
            server.awaitProbes(3);
            server.health(Scripts.status(503, ""));
            await(() -> !replica.isUp());
            server.awaitProbes(server.probes().size() + 3);
            server.health(Scripts.status(200, ""));
            await(replica::isUp);
            server.awaitProbes(server.probes().size() + 3);

            assertThat(log.lines())
                    .containsExactly(
                            "WARN Replica " + replica + " is down: status 503",
                            "INFO Replica " + replica + " is up again");
        }
    }

    @Test
    void aReplicaWithoutAHealthCheckIsLeftAlone() throws Exception {
        server.health(Scripts.status(503, ""));
        Replica replica = watched(HealthCheck.NONE, "/metrics");
        List<RecordedRequest> probes = server.awaitProbes(3);

        assertThat(replica.isUp()).isTrue();
        assertThat(probes).allMatch(probe -> probe.path().equals("/metrics"));
    }

    @Test
    void theBasePathComesFirst() throws Exception {
        replicas.listen(watch);
        replicas.group(
                ReplicaAddress.parse(server.url() + "/base"),
                new ReplicaOptions(1, HEALTH, "", ""),
                ReplicaGroup.Mode.ONE);

        assertThat(server.request(0).target()).isEqualTo("/base/health");
    }

    @Test
    void oneThatLeavesIsProbedNoMoreAndItsConnectionsAreClosed() throws Exception {
        server.load(40, 0);
        Replica replica = watched(HEALTH, "/metrics");
        await(() -> replica.foreign() == 40);
        assertThat(watch.reading(replica).orElseThrow().running()).isEqualTo(40);

        watch.removed(replica);

        List<RecordedRequest> probes = server.awaitProbes(2);
        for (RecordedRequest probe : probes) {
            probe.closed().get(10, TimeUnit.SECONDS);
        }
        await(() -> replica.foreign() == 0);
        assertThat(replica.hasFree(16)).isTrue();
        assertThat(watch.reading(replica)).isEmpty();
    }

    @Test
    void closingEndsAllConnections() throws Exception {
        watched(HEALTH, "/metrics");
        await(() -> server.connections() == 2 && server.probes().size() > 2);

        watch.close();

        for (RecordedRequest probe : server.probes()) {
            probe.closed().get(10, TimeUnit.SECONDS);
        }
    }

    @Test
    void aPageOfManyPartsIsRead() {
        String filler = "vllm:e2e_request_latency_seconds_bucket{engine=\"0\",le=\"0.3\",model_name=\"m1\"} 17.0\n"
                .repeat(5_000);
        server.metrics(Scripts.status(
                200, filler + "vllm:num_requests_running 20\n" + filler + "vllm:num_requests_waiting 3\n" + filler));
        Replica replica = watched(HealthCheck.NONE, "/metrics");

        await(() -> replica.foreign() == 23);
    }

    @Test
    void aPageWithoutEndIsNoReading() throws Exception {
        String part =
                "vllm:num_requests_running 20\n# ".concat("x".repeat(100_000)).concat("\n");
        server.metrics(call -> {
            call.write(OK + "connection: close\r\n\r\n");
            for (int i = 0; i < 200 && !call.ended(); i++) {
                call.write(part);
            }
        });
        Replica replica = watched(HealthCheck.NONE, "/metrics");

        server.awaitProbes(3).get(0).closed().get(10, TimeUnit.SECONDS);
        assertThat(replica.foreign()).isZero();
    }
}
