package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.http.HttpResponse;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import routes.fixture.FakeReplica;
import routes.fixture.RawClient;
import routes.fixture.Requests;
import routes.fixture.Scripts;

/** The dev console: what it shows, where, and what it does not. */
class ConsoleJourneyTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String KEYS = "keys: [{ id: one, tenant: t, sha256: " + TestGateway.sha256(TestGateway.KEY)
            + ", limits: { tokens-per-month: 1000000, concurrent-requests: 5 } }]\n";

    private static TestGateway.Builder gateway(FakeReplica replica) {
        return Management.gateway()
                .keysFile(KEYS)
                .property("gateway.console", "true")
                .modelWith(
                        "queueLimit: 7",
                        "m1",
                        replica.url() + "?slots=1&apiKey=sk-upstream-secret",
                        "http://127.0.0.1:1")
                // a route of its own between the model and its replica
                .route("""
                        - route: { id: m2, from: { uri: "model:m2", steps: [ { to: "direct:there" } ] } }
                        - route: { id: there, from: { uri: "direct:there", steps: [ { to: "vllm:%s?slots=1&apiKey=sk-upstream-secret" } ] } }
                        """.formatted(replica.url()));
    }

    @Test
    void poolsReplicasQueuesAndTheUseOfKeysAreShownAsJson() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        try (FakeReplica replica = FakeReplica.start();
                TestGateway gateway = gateway(replica).start();
                RawClient client = RawClient.connect(gateway.port())) {
            assertThat(client.exchange(Requests.chat("m1", false).key(TestGateway.KEY))
                            .status())
                    .isEqualTo(200);
            gateway.awaitIdle();
            replica.answering(Scripts.holding(held));
            client.send(Requests.chat("m2", false).key(TestGateway.KEY));
            replica.awaitRequests(2);

            HttpResponse<String> answer = Management.of(gateway).get("/q/dev/dromedary", "application/json");
            held.countDown();
            client.response();

            JsonNode all = JSON.readTree(answer.body()).path("dromedary");
            JsonNode m1 = all.path("pools").path("m1");
            assertThat(m1.path("queueLimit").asInt()).isEqualTo(7);
            assertThat(m1.path("queued").asInt(-1)).isZero();
            JsonNode first = m1.path("replicas").path(0);
            assertThat(first.path("replica").asText()).isEqualTo(replica.url());
            assertThat(first.path("state").asText()).isEqualTo("up");
            assertThat(first.path("breaker").asText()).isEqualTo("closed");
            assertThat(first.path("slots").asInt()).isEqualTo(1);
            assertThat(first.path("slotsLimit").asInt()).isEqualTo(1);
            assertThat(m1.path("replicas")).hasSize(2);
            assertThat(all.path("pools").path("m2").path("replicas")).hasSize(1);
            JsonNode affinity = all.path("affinity").path("m1");
            assertThat(affinity.path("choices").path("home").asInt()
                            + affinity.path("choices").path("home_unavailable").asInt()
                            + affinity.path("choices").path("only_one").asInt()
                            + affinity.path("choices").path("spill_full").asInt()
                            + affinity.path("choices").path("spill_load").asInt())
                    .as("%s", affinity)
                    .isBetween(1, 2); // the other replica is dead and may be tried first
            JsonNode hottest = affinity.path("hottestPrefixes").path(0);
            assertThat(hottest.path("hash").asText()).matches("[0-9a-f]{1,16}");
            assertThat(hottest.path("homes").asInt()).isEqualTo(1);
            assertThat(hottest.path("usesInPeriod").asDouble()).isPositive();
            JsonNode used = all.path("keys").path("mostUsed").path(0);
            assertThat(used.path("key").asText()).isEqualTo("one");
            assertThat(used.path("running").asInt()).isEqualTo(1);
            assertThat(used.path("tokensThisMonth").asLong()).isGreaterThanOrEqualTo(7);
            assertThat(answer.body()).doesNotContain(TestGateway.KEY, TestGateway.sha256(TestGateway.KEY), "secret");
        }
    }

    @Test
    void theSameIsShownAsTextAndCamelsOwnConsolesAreNot() throws Exception {
        try (FakeReplica replica = FakeReplica.start();
                TestGateway gateway = gateway(replica).start()) {
            Management management = Management.of(gateway);

            assertThat(management.get("/q/dev/dromedary").body())
                    .contains("pools:\n    m1:\n", "state: up\n", "replica: " + replica.url())
                    .doesNotContain("secret", "{");
            assertThat(management.get("/q/dev").body().lines()).hasSize(1).allMatch(line -> line.contains("dromedary"));
            for (String other : new String[] {"eval-language", "send", "properties", "all"}) {
                assertThat(management.get("/q/dev/" + other).body()).doesNotContain("secret", "gateway.");
            }
        }
    }

    @Test
    void whoEnablesCamelsOwnConsolesHasThemAll() throws Exception {
        try (FakeReplica replica = FakeReplica.start();
                TestGateway gateway = gateway(replica)
                        .property("camel.main.devConsoleEnabled", "true")
                        .start()) {
            assertThat(Management.of(gateway).get("/q/dev").body()).contains("dromedary: ", "context: ");
        }
    }

    @Test
    void itIsOffUnlessAPropertyOpensItAndNeverOnTheDoor() throws Exception {
        try (FakeReplica replica = FakeReplica.start();
                TestGateway closed =
                        Management.gateway().model("m1", replica.url()).start()) {
            assertThat(Management.of(closed).get("/q/dev/dromedary").statusCode())
                    .isEqualTo(404);
        }
        try (FakeReplica replica = FakeReplica.start();
                TestGateway open = gateway(replica).start();
                RawClient client = RawClient.connect(open.port())) {
            assertThat(client.exchange(Requests.get("/q/dev/dromedary")).status())
                    .isEqualTo(404);
        }
    }
}
