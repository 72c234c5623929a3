package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import routes.fixture.FakeReplica;
import routes.fixture.RawClient;
import routes.fixture.Requests;

/** The balancers that a route may name, and ones with numbers of its own. */
class StrategiesJourneyTest {

    private static String route(String name, String balancer, FakeReplica... replicas) {
        StringBuilder route = new StringBuilder("""
                - route:
                    id: "model-%s"
                    errorHandler: { noErrorHandler: {} }
                    from:
                      uri: "model:%s"
                      steps:
                        - loadBalance:
                            customLoadBalancer: { ref: "%s" }
                            steps:
                """.formatted(name, name, balancer));
        for (FakeReplica replica : replicas) {
            route.append("              - to: \"vllm:").append(replica.url()).append("\"\n");
        }
        return route.toString();
    }

    private static List<String> replicasOf(TestGateway gateway, String prompt, int requests) throws Exception {
        List<String> replicas = new ArrayList<>();
        try (RawClient client = RawClient.connect(gateway.port())) {
            for (int i = 0; i < requests; i++) {
                String id = prompt + "-" + i;
                assertThat(client.exchange(Requests.chat("m1", prompt, false)
                                        .key(TestGateway.KEY)
                                        .header("X-Request-Id", id))
                                .status())
                        .isEqualTo(200);
                replicas.add(UsageLines.of(gateway, id).path("replica").asText() + " "
                        + UsageLines.of(gateway, id).path("affinity").asText());
            }
        }
        return replicas;
    }

    @ParameterizedTest
    @CsvSource({"affinity, 1, home", "rendezvous, 1, home", "round-robin, 2, balanced"})
    void aRouteNamesItsStrategy(String balancer, int different, String why) throws Exception {
        try (FakeReplica one = FakeReplica.start();
                FakeReplica two = FakeReplica.start();
                TestGateway gateway = TestGateway.builder()
                        .route(route("m1", balancer, one, two))
                        .start()) {
            List<String> replicas = replicasOf(gateway, "hello", 4);

            assertThat(replicas.stream().distinct()).hasSize(different);
            assertThat(replicas).allMatch(replica -> replica.endsWith(" " + why));
        }
    }

    @Test
    void theLeastLoadedIsTheOneWithTheFewestRequests() throws Exception {
        try (FakeReplica one = FakeReplica.start().load(5, 0);
                FakeReplica two = FakeReplica.start().load(0, 0);
                TestGateway gateway = TestGateway.builder()
                        .property("gateway.load.path", "/metrics")
                        .property("gateway.load.interval", "20ms")
                        .route(route("m1", "least-loaded", one, two))
                        .start()) {
            one.awaitProbes(2);
            two.awaitProbes(2);
            assertThat(replicasOf(gateway, "hello", 6)).containsOnly(two.url() + " balanced");
        }
    }

    @ParameterizedTest
    @CsvSource({"affinity, 2", "lonely, 1"})
    void aBeanOfTheRoutesOwnHasItsOwnNumbers(String balancer, int homes) throws Exception {
        String bean = """
                - beans:
                    - name: lonely
                      type: routes.affinity.AffinityBalancer
                      properties: { period: 1ms, learnedWarmth: true }
                """;
        String shared = "You are a helpful assistant. ".repeat(100);
        try (FakeReplica one = FakeReplica.start();
                FakeReplica two = FakeReplica.start();
                TestGateway gateway = TestGateway.builder()
                        .route(bean)
                        .route(route("m1", balancer, one, two))
                        .start();
                RawClient client = RawClient.connect(gateway.port())) {
            for (int i = 0; i < 60; i++) {
                assertThat(client.exchange(
                                        Requests.chat("m1", shared + i, false).key(TestGateway.KEY))
                                .status())
                        .isEqualTo(200);
            }
            assertThat(UsageLines.all(gateway).values().stream()
                            .map(line -> line.path("replica").asText())
                            .distinct())
                    .as("a prefix that is used so often has two homes, but for a period in which it isn't")
                    .hasSize(homes);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "strategy: fastest | 'fastest' (expected: nested, rendezvous, round-robin, least-loaded)",
                "prefixes: 3 | prefixes: 3 (expected: 64 to 16777216)",
                "slackShare: -1 | share: -1.0 (expected: 0 to 1.0E9)",
                "slackTokns: 1 | slackTokns"
            })
    void aWrongOptionStopsTheStart(String option, String error) throws Exception {
        String bean = """
                - beans:
                    - name: spread
                      type: routes.affinity.AffinityBalancer
                      properties: { %s }
                """.formatted(option);
        try (FakeReplica one = FakeReplica.start()) {
            TestGateway.Builder builder = TestGateway.builder().route(bean).route(route("m1", "spread", one));
            assertThatThrownBy(builder::start).hasStackTraceContaining(error);
        }
    }

    @Test
    void oneBeanInTwoRoutesStopsTheStart() throws Exception {
        String bean = """
                - beans:
                    - name: spread
                      type: routes.affinity.AffinityBalancer
                """;
        try (FakeReplica one = FakeReplica.start()) {
            TestGateway.Builder builder = TestGateway.builder()
                    .route(bean)
                    .route(route("m1", "spread", one))
                    .route(route("m2", "spread", one));
            assertThatThrownBy(builder::start).hasStackTraceContaining("expected: a bean of its own for each route");
        }
    }
}
