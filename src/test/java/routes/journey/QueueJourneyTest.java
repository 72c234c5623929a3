package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import routes.fixture.FakeReplica;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.RecordedRequest;
import routes.fixture.Requests;
import routes.fixture.Script;
import routes.fixture.Scripts;

/** Every slot is busy: who waits, how long, and who goes next. */
class QueueJourneyTest {

    private final CountDownLatch go = new CountDownLatch(1);
    private FakeReplica replica;

    @BeforeEach
    void startReplica() throws Exception {
        replica = FakeReplica.start(Scripts.holding(go));
    }

    @AfterEach
    void stopReplica() throws Exception {
        go.countDown();
        replica.close();
    }

    private static Requests ask(String key, String id) {
        return Requests.chat("m1", id, false).key(key).header("X-Request-Id", id);
    }

    /** Slots of the only replica. */
    private TestGateway gateway(int slots, String options) {
        return TestGateway.builder()
                .modelWith(options, "m1", replica.url() + "?slots=" + slots)
                .property("gateway.event-loops", 2)
                .start();
    }

    private static void refused(RawResponse answer, String code) {
        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.header("content-type")).contains("application/json");
        assertThat(answer.header("retry-after").orElseThrow()).matches("[1-9]\\d*");
        assertThat(answer.text()).contains("\"code\":\"" + code + "\"");
    }

    private List<RawClient> occupy(TestGateway gateway, int count) throws Exception {
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            clients.add(RawClient.connect(gateway.port()).send(ask(TestGateway.KEY, "busy-" + i)));
            int taken = i + 1;
            TestGateway.await(() -> replica.active() == taken, "request " + taken);
        }
        return clients;
    }

    private static RawClient queued(TestGateway gateway, Requests request) throws Exception {
        int before = gateway.queued();
        RawClient client = RawClient.connect(gateway.port()).send(request);
        TestGateway.await(() -> gateway.queued() == before + 1, "a request in the queue");
        return client;
    }

    private static void finish(List<RawClient> clients) throws Exception {
        for (RawClient client : clients) {
            assertThat(client.response().status()).isEqualTo(200);
            client.close();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aClientThatLeavesWhileItWaitsIsNeverDispatched(boolean reset) throws Exception {
        try (TestGateway gateway = gateway(1, "queueLimit: 8")) {
            List<RawClient> busy = occupy(gateway, 1);
            RawClient leaver = queued(gateway, ask(TestGateway.KEY, "leaver"));

            if (reset) {
                leaver.leaveRst();
            } else {
                leaver.leaveFin();
            }

            TestGateway.await(() -> gateway.queued() == 0, "the queue to be empty");
            go.countDown();
            finish(busy);
            JsonNode line = UsageLines.of(gateway, "leaver");
            UsageLines.assertEnd(line, "client_closed", 499, null);
            assertThat(line.path("attempts").asInt(-1)).isZero();
            assertThat(line.path("queue_ms").asDouble(-1)).isPositive();
            assertThat(replica.requests()).hasSize(1);
        }
    }

    @Test
    void aFullQueueRefusesAtOnceAndAQueuedRequestWhenItHasWaitedLongEnough() throws Exception {
        try (TestGateway gateway = gateway(1, "queueLimit: 1, queueTimeout: 300ms");
                RawClient other = RawClient.connect(gateway.port())) {
            List<RawClient> busy = occupy(gateway, 1);
            RawClient waiter = queued(gateway, ask(TestGateway.KEY, "waiter"));

            refused(other.exchange(ask(TestGateway.KEY, "refused")), "queue_full");
            refused(waiter.response(), "queue_timeout");
            waiter.close();

            go.countDown();
            finish(busy);
            Map<String, JsonNode> lines = UsageLines.all(gateway);
            UsageLines.assertEnd(lines.get("refused"), "rejected", 503, "queue_full");
            UsageLines.assertEnd(lines.get("waiter"), "rejected", 503, "queue_timeout");
            assertThat(lines.get("waiter").path("queue_ms").asDouble()).isGreaterThanOrEqualTo(300);
            assertThat(lines.get("refused").path("queue_ms").isNull()).isTrue();
            assertThat(replica.requests()).hasSize(1);
        }
    }

    @Test
    void aQueueWithoutRoomForTheBodyRefuses() throws Exception {
        try (TestGateway gateway = gateway(1, "queueBytes: 2000");
                RawClient small = RawClient.connect(gateway.port());
                RawClient large = RawClient.connect(gateway.port())) {
            List<RawClient> busy = occupy(gateway, 1);
            small.send(ask(TestGateway.KEY, "small"));
            TestGateway.await(() -> gateway.queued() == 1, "a request in the queue");

            refused(large.exchange(Requests.chat("m1", "x".repeat(2000), false).key(TestGateway.KEY)), "queue_full");

            go.countDown();
            finish(busy);
            assertThat(small.response().status()).isEqualTo(200);
        }
    }

    @Test
    void noQueueMeansThatABusyModelRefuses() throws Exception {
        try (TestGateway gateway = gateway(1, "queueLimit: 0");
                RawClient client = RawClient.connect(gateway.port())) {
            List<RawClient> busy = occupy(gateway, 1);

            refused(client.exchange(ask(TestGateway.KEY, "refused")), "queue_full");

            go.countDown();
            finish(busy);
            assertThat(client.exchange(ask(TestGateway.KEY, "next")).status()).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"queueLimit: -1", "queueBytes: many", "queueTimeout: soon", "queueTimeout: 0ms"})
    void optionsThatMakeNoSenseEndTheStart(String option) {
        assertThatThrownBy(() -> gateway(1, option)).hasStackTraceContaining("(expected: ");
    }

    @Test
    void theTotalTimeoutEndsTheWaitAsWell() throws Exception {
        try (TestGateway gateway = TestGateway.builder()
                        .model("m1", replica.url() + "?slots=1")
                        .property("gateway.total-timeout", "700ms")
                        .start();
                RawClient waiter = RawClient.connect(gateway.port())) {
            List<RawClient> busy = occupy(gateway, 1);
            waiter.send(ask(TestGateway.KEY, "waiter"));

            RawResponse late = waiter.response();
            assertThat(late.status()).isEqualTo(504);
            assertThat(busy.get(0).response().status()).isEqualTo(504);
            busy.get(0).close();
            assertThat(replica.requests()).hasSizeBetween(1, 2);
            UsageLines.all(gateway);
        }
    }

    @Test
    void oneTenantsCrowdDoesNotDelayAnothersOneRequest() throws Exception {
        try (TestGateway gateway = gateway(1, "queueLimit: 64")) {
            List<RawClient> clients = occupy(gateway, 1);
            for (int i = 0; i < 12; i++) {
                clients.add(queued(gateway, ask(TestGateway.KEY, "crowd-" + i)));
            }
            clients.add(queued(gateway, ask(TestGateway.OTHER_KEY, "other")));

            go.countDown();
            finish(clients);

            List<String> order = replica.requests().stream()
                    .map(RecordedRequest::bodyText)
                    .map(body -> body.replaceAll("(?s).*\"content\":\"([^\"]*)\".*", "$1"))
                    .toList();
            assertThat(order.indexOf("other")).as("its place among %s", order).isBetween(1, 2);
            assertThat(order.stream().filter(id -> id.startsWith("crowd")).toList())
                    .as("first come, first served within a tenant")
                    .isEqualTo(java.util.stream.IntStream.range(0, 12)
                            .mapToObj(i -> "crowd-" + i)
                            .toList());
            assertThat(replica.maxActive()).isEqualTo(1);
        }
    }

    @Test
    void aRequestForTwoAnswersTakesTwoSlots() throws Exception {
        try (TestGateway gateway = gateway(3, "queueLimit: 8");
                RawClient two = RawClient.connect(gateway.port());
                RawClient many = RawClient.connect(gateway.port())) {
            List<RawClient> busy = occupy(gateway, 2);
            two.send(Requests.post(
                            "/v1/chat/completions",
                            "{\"model\":\"m1\",\"n\":2,\"messages\":[{\"role\":\"user\",\"content\":\"two\"}]}")
                    .key(TestGateway.KEY));
            TestGateway.await(() -> gateway.queued() == 1, "the wide request in the queue");
            many.send(Requests.post(
                            "/v1/chat/completions",
                            "{\"model\":\"m1\",\"n\":100,\"messages\":[{\"role\":\"user\",\"content\":\"many\"}]}")
                    .key(TestGateway.OTHER_KEY));
            TestGateway.await(() -> gateway.queued() == 2, "the widest request in the queue");

            go.countDown();
            finish(busy);
            assertThat(two.response().status()).isEqualTo(200);
            assertThat(many.response().status()).isEqualTo(200);
        }
    }

    @Test
    void aSlotThatFreesGoesOnUntilEverybodyIsServed() throws Exception {
        Script answer = Scripts.normal();
        try (TestGateway gateway = gateway(4, "queueLimit: 1000")) {
            List<RawClient> clients = occupy(gateway, 4);
            for (int i = 0; i < 60; i++) {
                String key = i % 3 == 0 ? TestGateway.OTHER_KEY : TestGateway.KEY;
                clients.add(RawClient.connect(gateway.port()).send(ask(key, "one-" + i)));
            }
            TestGateway.await(() -> gateway.queued() == 60, "sixty in the queue");
            for (int i = 0; i < 60; i += 5) {
                clients.remove(clients.size() - 1 - i / 5).leaveRst();
            }
            replica.answering(answer);

            go.countDown();
            finish(clients);

            assertThat(replica.maxActive()).isEqualTo(4);
            UsageLines.all(gateway);
        }
    }
}
