package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.Requests;
import routes.fixture.Script;
import routes.fixture.Scripts;
import routes.quota.Quotas;

/** What a key may use, and that nothing else is charged for. */
class LimitsJourneyTest {

    private FakeReplica replica;

    @BeforeEach
    void startReplica() throws Exception {
        replica = FakeReplica.start();
    }

    @AfterEach
    void stopReplica() throws Exception {
        replica.close();
    }

    /** A gateway whose first key has these limits. */
    private TestGateway.Builder limited(String limits) {
        return TestGateway.builder().keysFile("""
                keys:
                  - id: key-one
                    tenant: tenant-one
                    sha256: %s
                    limits: { %s }
                  - id: key-two
                    tenant: tenant-two
                    sha256: %s
                prices:
                  m1: { input: 10, output: 20 }
                """.formatted(
                        TestGateway.sha256(TestGateway.KEY), limits, TestGateway.sha256(TestGateway.OTHER_KEY)));
    }

    private static Requests ask(String id) {
        return ask(TestGateway.KEY, id);
    }

    private static Requests ask(String key, String id) {
        return Requests.chat("m1", false).key(key).header("X-Request-Id", id);
    }

    private static int refused(RawResponse answer, String code) {
        assertThat(answer.status()).as("%s", answer.text()).isEqualTo(429);
        assertThat(answer.header("content-type")).contains("application/json");
        assertThat(answer.text()).contains("\"code\":\"" + code + "\"");
        return Integer.parseInt(answer.header("retry-after").orElseThrow());
    }

    @Test
    void requestsPerMinuteAreRefusedWithTheSecondsToWaitAndOpenAisHeaders() throws Exception {
        try (TestGateway gateway = limited("requests-per-minute: 2")
                        .model("m1", replica.url())
                        .start();
                RawClient client = RawClient.connect(gateway.port())) {
            assertThat(client.exchange(ask("one")).status()).isEqualTo(200);
            assertThat(client.exchange(ask("two")).status()).isEqualTo(200);

            RawResponse third = client.exchange(ask("three"));

            assertThat(refused(third, "rate_limit_exceeded")).isBetween(1, 30);
            assertThat(third.header("x-ratelimit-limit-requests")).contains("2");
            assertThat(third.header("x-ratelimit-remaining-requests")).contains("0");
            assertThat(third.header("x-ratelimit-reset-requests").orElseThrow()).matches("(\\d+m)?[\\d.]+m?s");
            assertThat(client.exchange(ask(TestGateway.OTHER_KEY, "other")).status())
                    .as("another key")
                    .isEqualTo(200);
            JsonNode line = UsageLines.of(gateway, "three");
            UsageLines.assertEnd(line, "rejected", 429, "rate_limit_exceeded");
            assertThat(replica.requests()).hasSize(3);
        }
    }

    @Test
    void severalAnswersCountAsSeveralRequests() throws Exception {
        try (TestGateway gateway = limited("requests-per-minute: 4")
                        .model("m1", replica.url())
                        .start();
                RawClient client = RawClient.connect(gateway.port())) {
            String three = "{\"model\":\"m1\",\"n\":3,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
            assertThat(client.exchange(
                                    Requests.post("/v1/chat/completions", three).key(TestGateway.KEY))
                            .status())
                    .isEqualTo(200);

            assertThat(refused(
                            client.exchange(
                                    Requests.post("/v1/chat/completions", three).key(TestGateway.KEY)),
                            "rate_limit_exceeded"))
                    .isBetween(25, 30);
            assertThat(client.exchange(ask("one")).status()).isEqualTo(200);
        }
    }

    @Test
    void tokensAreReservedByTheirEstimateAndChargedAsTheReplicaCountsThem() throws Exception {
        // the scripted answer has 5 + 2 tokens, the estimate of its prompt is above twenty
        try (TestGateway gateway = limited("tokens-per-minute: 60")
                        .model("m1", replica.url())
                        .start();
                RawClient client = RawClient.connect(gateway.port())) {
            for (int i = 0; i < 4; i++) {
                assertThat(client.exchange(ask("small-" + i)).status())
                        .as("request %d", i)
                        .isEqualTo(200);
            }

            RawResponse large = client.exchange(Requests.chat("m1", "x".repeat(160), false)
                    .key(TestGateway.KEY)
                    .header("X-Request-Id", "large"));

            refused(large, "token_limit_exceeded");
            assertThat(large.header("x-ratelimit-limit-tokens")).contains("60");
            int remaining = Integer.parseInt(
                    large.header("x-ratelimit-remaining-tokens").orElseThrow());
            assertThat(remaining).isBetween(60 - 4 * 7, 60 - 4 * 7 + 5);
        }
    }

    @Test
    void whatIsRefusedOrNeverReachedAReplicaCostsNothing() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try (TestGateway gateway = limited("requests-per-minute: 2, tokens-per-day: 100000")
                        .modelWith("queueLimit: 1, queueTimeout: 200ms", "m1", replica.url() + "?slots=1")
                        .property("gateway.max-body-bytes", 4096)
                        .start();
                RawClient busy = RawClient.connect(gateway.port());
                RawClient waiter = RawClient.connect(gateway.port());
                RawClient client = RawClient.connect(gateway.port())) {
            replica.answering(Scripts.holding(go));
            busy.send(ask(TestGateway.OTHER_KEY, "busy"));
            TestGateway.await(() -> replica.active() == 1, "the slot to be taken");
            for (int round = 0; round < 3; round++) {
                waiter.send(ask("waits-" + round));
                TestGateway.await(() -> gateway.queued() == 1, "one in the queue");
                try (RawClient full = RawClient.connect(gateway.port())) {
                    assertThat(full.exchange(ask("full-" + round)).status()).isEqualTo(503);
                }
                assertThat(waiter.response().status()).isEqualTo(503);
                assertThat(client.exchange(Requests.chat("unknown", false).key(TestGateway.KEY))
                                .status())
                        .isEqualTo(404);
                assertThat(client.exchange(Requests.post("/v1/chat/completions", "{nonsense")
                                        .key(TestGateway.KEY))
                                .status())
                        .isEqualTo(400);
                try (RawClient large = RawClient.connect(gateway.port())) {
                    assertThat(large.exchange(Requests.chat("m1", "x".repeat(8000), false)
                                            .key(TestGateway.KEY))
                                    .status())
                            .isEqualTo(413);
                }
                try (RawClient leaver = RawClient.connect(gateway.port())) {
                    leaver.send(ask("leaves-" + round));
                    TestGateway.await(() -> gateway.queued() == 1, "one in the queue");
                    leaver.leaveRst();
                    TestGateway.await(() -> gateway.queued() == 0, "nobody in the queue");
                }
            }
            go.countDown();
            assertThat(busy.response().status()).isEqualTo(200);
            replica.answering(Scripts.normal());

            assertThat(client.exchange(ask("one")).status()).isEqualTo(200);
            assertThat(client.exchange(ask("two")).status()).isEqualTo(200);
            refused(client.exchange(ask("three")), "rate_limit_exceeded");
        }
    }

    @Test
    void aReplicaThatRefusesConnectionsCostsNothingEither() throws Exception {
        try (TestGateway gateway = limited("requests-per-minute: 1")
                        .model("m1", replica.url())
                        .start();
                RawClient client = RawClient.connect(gateway.port())) {
            replica.refuse();
            for (int i = 0; i < 3; i++) {
                assertThat(client.exchange(ask("down-" + i)).status()).isEqualTo(502);
            }
            replica.listen();

            assertThat(client.exchange(ask("up")).status()).isEqualTo(200);
            refused(client.exchange(ask("again")), "rate_limit_exceeded");
        }
    }

    @Test
    void everyExitGivesTheConcurrencyBack() throws Exception {
        try (TestGateway gateway = limited("concurrent-requests: 1")
                .modelWith("queueLimit: 2, queueTimeout: 100ms", "m1", replica.url() + "?slots=2")
                .property("gateway.total-timeout", "500ms")
                .property("gateway.stall-timeout", "200ms")
                .property("gateway.max-body-bytes", 4096)
                .start()) {
            List<Script> exits = List.of(
                    Scripts.normal(),
                    Scripts.status(500, "boom"),
                    Scripts.thenRst(""),
                    Scripts.thenFin("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"),
                    Scripts.thenFin(Payloads.sseHead() + Payloads.chunk(Payloads.EVENT_A)),
                    Scripts.thenHang("garbage\r\n\r\n"),
                    Scripts.thenHang(Payloads.sseHead() + Payloads.chunk(Payloads.EVENT_A)),
                    Scripts.thenHang(""));
            for (int i = 0; i < exits.size(); i++) {
                replica.answering(exits.get(i));
                try (RawClient client = RawClient.connect(gateway.port());
                        RawClient next = RawClient.connect(gateway.port())) {
                    client.exchange(ask("exit-" + i));
                    replica.answering(Scripts.normal());
                    assertThat(next.exchange(ask("next-" + i)).status())
                            .as("after exit %d", i)
                            .isEqualTo(200);
                }
            }
            for (Requests request : List.of(
                    Requests.chat("unknown", false).key(TestGateway.KEY),
                    Requests.post("/v1/chat/completions", "{").key(TestGateway.KEY),
                    Requests.chat("m1", "x".repeat(8000), false).key(TestGateway.KEY))) {
                try (RawClient client = RawClient.connect(gateway.port());
                        RawClient next = RawClient.connect(gateway.port())) {
                    client.exchange(request);
                    assertThat(next.exchange(ask("next")).status()).isEqualTo(200);
                }
            }
            for (boolean streaming : new boolean[] {true, false}) {
                replica.answering(
                        Scripts.thenHang(streaming ? Payloads.sseHead() + Payloads.chunk(Payloads.EVENT_A) : ""));
                int before = replica.requests().size();
                try (RawClient leaver = RawClient.connect(gateway.port());
                        RawClient next = RawClient.connect(gateway.port())) {
                    leaver.send(ask("leaver"));
                    replica.awaitRequests(before + 1);
                    refused(next.exchange(ask("refused")), "concurrency_limit_exceeded");
                    leaver.leaveRst();
                    TestGateway.await(() -> gateway.bean(Quotas.class).running() == 0, "the concurrency of who left");
                    replica.answering(Scripts.normal());
                    assertThat(next.exchange(ask("next")).status()).isEqualTo(200);
                }
            }
        }
    }

    @Test
    void sixtyFourClientsAtOnceNeverShowTheReplicaAFifth() throws Exception {
        try (TestGateway gateway = limited("concurrent-requests: 4")
                .modelWith("queueLimit: 0", "m1", replica.url() + "?slots=128")
                .property("gateway.event-loops", 2)
                .start()) {
            for (int round = 0; round < 50; round++) {
                CountDownLatch go = new CountDownLatch(1);
                replica.answering(Scripts.holding(go));
                List<RawClient> clients = new ArrayList<>();
                List<Thread> senders = new ArrayList<>();
                CountDownLatch barrier = new CountDownLatch(1);
                byte[] wire = Requests.chat("m1", false).key(TestGateway.KEY).bytes();
                for (int i = 0; i < 64; i++) {
                    RawClient client = RawClient.connect(gateway.port());
                    clients.add(client);
                    client.send(java.util.Arrays.copyOf(wire, wire.length - 1));
                }
                byte[] last = {wire[wire.length - 1]};
                for (int part = 0; part < 4; part++) {
                    List<RawClient> own = clients.subList(part * 16, part * 16 + 16);
                    Thread sender = new Thread(() -> {
                        try {
                            barrier.await();
                            for (RawClient client : own) {
                                client.send(last);
                            }
                        } catch (Exception e) {
                            throw new IllegalStateException(e);
                        }
                    });
                    sender.start();
                    senders.add(sender);
                }
                barrier.countDown();
                for (Thread sender : senders) {
                    sender.join();
                }
                TestGateway.await(() -> replica.active() == 4, "four at the replica");
                gateway.usageLines(round * 64 + 60);
                go.countDown();
                Map<Integer, Long> statuses = new java.util.HashMap<>();
                for (RawClient client : clients) {
                    statuses.merge(client.response().status(), 1L, Long::sum);
                    client.close();
                }
                assertThat(statuses).as("round %d", round).containsOnly(Map.entry(200, 4L), Map.entry(429, 60L));
                assertThat(replica.maxActive()).isEqualTo(4);
            }
        }
    }

    @Test
    void aBudgetThatRunsOutEndsAStreamWhenThePlanSaysSo() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        List<String> events = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            events.add(Payloads.EVENT_A);
        }
        replica.answering(Scripts.held(go, events, List.of()));
        try (TestGateway gateway = limited("tokens-per-day: 50, on-exhausted: end")
                        .model("m1", replica.url())
                        .start();
                RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = client.exchange(
                    Requests.chat("m1", true).key(TestGateway.KEY).header("X-Request-Id", "long"));

            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.text()).contains("\"code\":\"budget_exhausted\"").endsWith("data: [DONE]\n\n");
            JsonNode line = UsageLines.of(gateway, "long");
            UsageLines.assertEnd(line, "rejected", 200, "budget_exhausted");
            assertThat(line.path("usage_source").asText()).isEqualTo("estimated");
            assertThat(line.path("partial").asBoolean()).isTrue();
            assertThat(line.path("completion_tokens").asLong()).isBetween(10L, 40L);
            replica.awaitQuiet();
            assertThat(refused(client.exchange(ask("next")), "budget_exhausted"))
                    .isBetween(1, 86_400);
        } finally {
            go.countDown();
        }
    }

    @Test
    void aStreamThatIsNeverBetweenTwoEventsIsCutInTheEnd() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        int half = Payloads.EVENT_A.length() / 2;
        String middle = Payloads.EVENT_A.substring(half) + Payloads.EVENT_A.substring(0, half);
        replica.answering(call -> {
            call.sseHead();
            call.chunk(Payloads.EVENT_A.substring(0, half));
            while (!go.await(1, TimeUnit.MILLISECONDS) && !call.ended()) {
                call.chunk(middle);
            }
        });
        try (TestGateway gateway = limited("tokens-per-day: 50, on-exhausted: end")
                        .model("m1", replica.url())
                        .start();
                RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = client.exchange(
                    Requests.chat("m1", true).key(TestGateway.KEY).header("X-Request-Id", "endless"));

            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.end().orElseThrow()).isIn(RawResponse.End.CUT_FIN, RawResponse.End.CUT_RST);
            UsageLines.assertEnd(UsageLines.of(gateway, "endless"), "rejected", 200, "budget_exhausted");
        } finally {
            go.countDown();
        }
    }

    @Test
    void withoutThatAStreamGoesOnAndTheNextIsRefused() throws Exception {
        try (TestGateway gateway = limited("money-per-month: 0.0006")
                        .model("m1", replica.url())
                        .start();
                RawClient client = RawClient.connect(gateway.port())) {
            // 5 tokens in and 2 out cost 5 * 10 + 2 * 20 millionths
            int served = 0;
            RawResponse answer = client.exchange(ask("r-" + served));
            while (answer.status() == 200 && served < 100) {
                served++;
                answer = client.exchange(ask("r-" + served));
            }

            assertThat(served).isBetween(4, 7);
            refused(answer, "budget_exhausted");
            assertThat(answer.header("x-should-retry")).contains("false");
        }
    }

    @Test
    void tenantsShareTheirLimitsAmongTheirKeys() throws Exception {
        try (TestGateway gateway = TestGateway.builder()
                        .keysFile("""
                                keys:
                                  - { id: a, tenant: both, sha256: %s, plan: gold }
                                  - { id: b, tenant: both, sha256: %s, plan: gold }
                                plans:
                                  gold: { requests-per-minute: 3 }
                                tenants:
                                  both: { limits: { requests-per-minute: 4 } }
                                """.formatted(
                                        TestGateway.sha256(TestGateway.KEY), TestGateway.sha256(TestGateway.OTHER_KEY)))
                        .model("m1", replica.url())
                        .start();
                RawClient client = RawClient.connect(gateway.port())) {
            List<Integer> statuses = new ArrayList<>();
            for (String key : List.of(
                    TestGateway.KEY,
                    TestGateway.KEY,
                    TestGateway.KEY,
                    TestGateway.KEY,
                    TestGateway.OTHER_KEY,
                    TestGateway.OTHER_KEY)) {
                statuses.add(client.exchange(ask(key, "x")).status());
            }

            assertThat(statuses.stream().map(String::valueOf).collect(Collectors.joining(" ")))
                    .isEqualTo("200 200 200 429 200 429");
        }
    }
}
