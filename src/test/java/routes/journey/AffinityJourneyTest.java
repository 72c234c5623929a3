package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.Requests;
import routes.fixture.Script;
import routes.fixture.Scripts;
import routes.replica.Replica;
import routes.replica.Replicas;

/** A conversation stays where its prefix is warm, unless that replica is full. */
class AffinityJourneyTest {

    private static final int PREFIXES = 200;
    private static final String SHARED = "You are a helpful assistant. ".repeat(140);

    private static Requests about(String prefix, String id) {
        return Requests.chat("m1", prefix, false).key(TestGateway.KEY).header("X-Request-Id", id);
    }

    @Test
    void aHotPrefixSpillsOver() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try (FakeReplica one = FakeReplica.start();
                FakeReplica two = FakeReplica.start();
                TestGateway gateway = TestGateway.builder()
                        .modelWith("queueLimit: 2", "m1", one.url() + "?slots=2", two.url() + "?slots=2")
                        .start();
                RawClient client = RawClient.connect(gateway.port())) {
            assertThat(client.exchange(about(SHARED, "warm")).status()).isEqualTo(200);
            String home = UsageLines.of(gateway, "warm").path("replica").asText();
            one.answering(Scripts.holding(go));
            two.answering(Scripts.holding(go));
            List<RawClient> crowd = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                crowd.add(RawClient.connect(gateway.port()).send(about(SHARED, "crowd-" + i)));
                int taken = i + 1;
                TestGateway.await(() -> one.active() + two.active() + gateway.queued() == taken, "request " + taken);
            }
            assertThat(gateway.queued()).isEqualTo(2);
            assertThat(one.active()).isEqualTo(2);
            assertThat(two.active()).isEqualTo(2);
            assertThat(gateway.bean(Replicas.class).all())
                    .extracting(Replica::inFlight)
                    .containsExactly(2, 2);

            RawResponse refused = client.exchange(about(SHARED, "refused"));
            assertThat(refused.status()).isEqualTo(503);
            assertThat(refused.text()).contains("\"code\":\"queue_full\"");
            assertThat(refused.header("retry-after").orElseThrow()).matches("[1-9]\\d*");
            assertThat(refused.header("content-type")).contains("application/json");
            assertThat(one.active() + two.active()).isEqualTo(4);

            go.countDown();
            for (RawClient each : crowd) {
                assertThat(each.response().status()).isEqualTo(200);
                each.close();
            }
            assertThat(client.exchange(about(SHARED, "lone")).status()).isEqualTo(200);

            Map<String, JsonNode> lines = UsageLines.all(gateway);
            for (int i = 0; i < 6; i++) {
                JsonNode line = lines.get("crowd-" + i);
                UsageLines.assertEnd(line, "success", 200, null);
                boolean first = i < 2;
                assertThat(line.path("queue_ms").isNull() || !first)
                        .as("%s", line)
                        .isTrue();
                // as often as it is used, the prefix gets a second home
                assertThat(line.path("affinity").asText()).isIn("home", first ? "home" : "spill_full");
                if (first) {
                    assertThat(line.path("replica").asText()).isEqualTo(home);
                }
            }
            UsageLines.assertEnd(lines.get("refused"), "rejected", 503, "queue_full");
            assertThat(lines.get("refused").path("attempts").asInt(-1)).isZero();
            assertThat(lines.get("lone").path("affinity").asText()).isEqualTo("home");
            assertThat(one.maxActive()).isEqualTo(2);
            assertThat(two.maxActive()).isEqualTo(2);
        }
    }

    @Test
    void everyExitFreesItsSlot() throws Exception {
        try (FakeReplica replica = FakeReplica.start();
                TestGateway gateway = TestGateway.builder()
                        .model("m1", replica.url() + "?slots=1")
                        .property("gateway.total-timeout", "500ms")
                        .property("gateway.stall-timeout", "200ms")
                        .start()) {
            List<Script> exits = List.of(
                    Scripts.normal(),
                    Scripts.status(500, "boom"),
                    Scripts.wire("HTTP/1.1 204 No Content\r\n\r\n"),
                    Scripts.thenRst(""),
                    Scripts.thenFin("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"),
                    Scripts.thenHang("garbage\r\n\r\n"),
                    Scripts.thenHang(Payloads.sseHead() + Payloads.chunk(Payloads.EVENT_A)),
                    Scripts.thenHang(""));
            for (int i = 0; i < exits.size(); i++) {
                int rounds = i < exits.size() - 2 ? 20 : 1;
                for (int round = 0; round < rounds; round++) {
                    replica.answering(exits.get(i));
                    try (RawClient client = RawClient.connect(gateway.port());
                            RawClient next = RawClient.connect(gateway.port())) {
                        client.exchange(about("hi", "exit-" + i + "-" + round));
                        replica.answering(Scripts.normal());
                        assertThat(next.exchange(about("hi", "next-" + i + "-" + round))
                                        .status())
                                .as("after exit %d", i)
                                .isEqualTo(200);
                    }
                }
            }
            UsageLines.all(gateway);
        }
    }

    @Test
    void theMappingOutlivesRestartsAndAReplicaThatLeavesMovesOnlyItsOwn() throws Exception {
        try (FakeReplica one = FakeReplica.start();
                FakeReplica two = FakeReplica.start();
                FakeReplica three = FakeReplica.start();
                FakeReplica four = FakeReplica.start()) {
            Map<Integer, String> before = mapping(TestGateway.serving(one.url(), two.url(), three.url(), four.url()));
            Map<Integer, String> restarted =
                    mapping(TestGateway.serving(three.url(), one.url(), four.url(), two.url()));
            Map<Integer, String> without = mapping(TestGateway.serving(one.url(), two.url(), four.url()));

            assertThat(restarted).isEqualTo(before);
            for (FakeReplica replica : List.of(one, two, three, four)) {
                assertThat(before.values().stream()
                                .filter(replica.url()::equals)
                                .count())
                        .isBetween(PREFIXES / 8L, PREFIXES / 2L);
            }
            for (int i = 0; i < PREFIXES; i++) {
                if (before.get(i).equals(three.url())) {
                    assertThat(without.get(i)).isNotEqualTo(three.url());
                } else {
                    assertThat(without.get(i)).isEqualTo(before.get(i));
                }
            }
        }
    }

    /** Where a gateway sends each of the prefixes, twice over; closes it. */
    private static Map<Integer, String> mapping(TestGateway gateway) throws IOException {
        try (gateway;
                RawClient client = RawClient.connect(gateway.port())) {
            for (int i = 0; i < 2 * PREFIXES; i++) {
                assertThat(client.exchange(about("prefix number " + i % PREFIXES, "map-" + i))
                                .status())
                        .isEqualTo(200);
            }
            Map<Integer, String> homes = new TreeMap<>();
            Map<String, JsonNode> lines = UsageLines.all(gateway);
            for (int i = 0; i < 2 * PREFIXES; i++) {
                String replica = lines.get("map-" + i).path("replica").asText();
                String first = homes.putIfAbsent(i % PREFIXES, replica);
                assertThat(first == null ? replica : first).isEqualTo(replica);
            }
            return homes;
        }
    }

    @Test
    void aNamedSessionStaysTogetherWhateverItSays() throws Exception {
        try (FakeReplica one = FakeReplica.start();
                FakeReplica two = FakeReplica.start();
                TestGateway gateway = TestGateway.serving(one.url(), two.url());
                RawClient client = RawClient.connect(gateway.port())) {
            for (int i = 0; i < 16; i++) {
                client.exchange(about("something new " + i, "session-" + i).header("X-Session-Id", "s-1"));
                client.exchange(about("something new " + i, "free-" + i));
            }
            Map<String, JsonNode> lines = UsageLines.all(gateway);
            assertThat(lines.entrySet().stream()
                            .filter(line -> line.getKey().startsWith("session-"))
                            .map(line -> line.getValue().path("replica").asText())
                            .distinct())
                    .hasSize(1);
            assertThat(lines.values().stream()
                            .map(line -> line.path("replica").asText())
                            .distinct())
                    .hasSize(2);
        }
    }
}
