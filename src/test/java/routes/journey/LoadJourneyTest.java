package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import routes.fixture.FakeReplica;
import routes.fixture.RawClient;
import routes.fixture.Requests;
import routes.fixture.Scripts;
import routes.replica.Replica;
import routes.replica.Replicas;

/** Others use the replicas too: what a replica reports counts beside what the gateway has there itself. */
class LoadJourneyTest {

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
                .property("gateway.load.path", "/metrics")
                .property("gateway.load.interval", "20ms");
    }

    private static void awaitForeign(TestGateway gateway, FakeReplica server, int requests) {
        Replica replica = replica(gateway, server);
        TestGateway.await(() -> replica.foreign() == requests, requests + " requests of others at " + replica);
    }

    private static Replica replica(TestGateway gateway, FakeReplica server) {
        return gateway.bean(Replicas.class).all().stream()
                .filter(replica -> replica.address().port() == server.port())
                .findFirst()
                .orElseThrow();
    }

    private static RawClient send(TestGateway gateway, String content) throws Exception {
        return RawClient.connect(gateway.port())
                .send(Requests.chat("m1", content, false).key(TestGateway.KEY));
    }

    @Test
    void withSixteenRequestsOfOthersAGatewayWithNoneOfItsOwnQueuesAndGoesOnWhenTheyEnd() throws Exception {
        one.load(16, 0);
        try (TestGateway gateway =
                gateway().model("m1", one.url() + "?slots=16").start()) {
            awaitForeign(gateway, one, 16);

            RawClient client = send(gateway, "hi");
            TestGateway.await(() -> gateway.queued() == 1, "a request in the queue");
            one.awaitProbes(one.probes().size() + 3);
            assertThat(one.requests()).isEmpty();
            assertThat(gateway.queued()).isEqualTo(1);

            one.load(15, 0);
            assertThat(client.response().status()).isEqualTo(200);
            client.close();
        }
    }

    @Test
    void requestsThatWaitInTheReplicaCountAsWell() throws Exception {
        one.load(14, 2);
        try (TestGateway gateway =
                gateway().model("m1", one.url() + "?slots=16").start()) {
            awaitForeign(gateway, one, 16);
        }
    }

    @Test
    void whatIsOursIsNotTakenForOthers() throws Exception {
        one.answering(Scripts.holding(go));
        try (TestGateway gateway = gateway().model("m1", one.url() + "?slots=4").start()) {
            List<RawClient> clients = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                clients.add(send(gateway, "request " + i));
            }
            one.awaitRequests(2);
            Replica replica = replica(gateway, one);

            one.load(2, 0);
            one.awaitProbes(one.probes().size() + 3);
            assertThat(replica.hasFree(2)).isTrue();

            one.load(3, 0);
            awaitForeign(gateway, one, 1);
            assertThat(replica.hasFree(1)).isTrue();
            assertThat(replica.hasFree(2)).isFalse();

            go.countDown();
            for (RawClient client : clients) {
                assertThat(client.response().status()).isEqualTo(200);
                client.close();
            }
        }
    }

    @Test
    void aFreeReplicaIsTakenBeforeOneThatOthersFill() throws Exception {
        one.load(8, 0);
        try (TestGateway gateway = gateway()
                .model("m1", one.url() + "?slots=8", two.url() + "?slots=8")
                .start()) {
            awaitForeign(gateway, one, 8);

            for (int i = 0; i < 12; i++) {
                try (RawClient client = send(gateway, "conversation " + i)) {
                    assertThat(client.response().status()).isEqualTo(200);
                }
            }

            assertThat(one.requests()).isEmpty();
            assertThat(two.requests()).hasSize(12);
        }
    }

    @Test
    void aReadingThatIsTooOldCountsNoMore() throws Exception {
        one.load(16, 0);
        try (TestGateway gateway = gateway()
                .model("m1", one.url() + "?slots=16")
                .property("gateway.load.max-age", "300ms")
                .start()) {
            awaitForeign(gateway, one, 16);
            one.metrics(Scripts.thenHang(""));

            try (RawClient client = send(gateway, "hi")) {
                assertThat(client.response().status()).isEqualTo(200);
            }
        }
    }

    @Test
    void aReplicaThatReportsNothingIsAskedSeldomAndServes() throws Exception {
        one.metrics(Scripts.status(404, ""));
        two.metrics(Scripts.status(200, "process_open_fds 17\n"));
        try (LogCapture log = LogCapture.at(Level.INFO);
                TestGateway gateway =
                        gateway().model("m1", one.url(), two.url()).start()) {
            TestGateway.await(
                    () -> log.lines().stream()
                                    .filter(line ->
                                            line.startsWith("INFO") && line.contains("does not report its load"))
                                    .count()
                            == 2,
                    "two lines in the log");
            for (int i = 0; i < 50; i++) {
                try (RawClient client = send(gateway, "conversation " + i)) {
                    assertThat(client.response().status()).isEqualTo(200);
                }
            }

            assertThat(one.probes()).hasSize(1);
            assertThat(two.probes()).hasSize(1);
        }
    }
}
