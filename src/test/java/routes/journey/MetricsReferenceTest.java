package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import routes.fixture.FakeReplica;
import routes.fixture.RawClient;
import routes.fixture.Requests;

/**
 * docs/reference/metrics.md says what a running gateway shows. Run this test with {@code -Dreference.write=true} to write it
 * again.
 */
class MetricsReferenceTest {

    private static final Path PAGE = Path.of("docs/reference/metrics.md");

    @Test
    void thePageListsEveryMetricOfARunningGatewayAndNoOther() throws Exception {
        try (FakeReplica replica = FakeReplica.start();
                TestGateway gateway =
                        Management.gateway().model("m1", replica.url()).start()) {
            for (String key : List.of(TestGateway.KEY, "wrong")) {
                try (RawClient client = RawClient.connect(gateway.port())) {
                    client.exchange(Requests.chat("m1", true).key(key));
                }
            }
            gateway.awaitIdle();
            String page = page(Management.of(gateway).metrics());
            if (Boolean.getBoolean("reference.write")) {
                Files.writeString(PAGE, page);
            }

            assertThat(PAGE).hasContent(page);
        }
    }

    private static String page(MetricsPage metrics) {
        StringBuilder page = new StringBuilder("""
                # Metrics

                At `/observe/metrics` of the management port, as Prometheus shows them. A histogram has `_bucket`, `_sum` and
                `_count`; one that has counted nothing under some labels is not there. The values of labels come from the
                configuration and from closed sets of the program, never from what clients write. How to use them:
                [observability](../observability.md).

                | metric | type | labels | unit | meaning |
                |---|---|---|---|---|
                """);
        metrics.families().forEach((name, family) -> {
            List<String> labels = new ArrayList<>();
            family.labels().forEach(label -> labels.add("`" + label + "`"));
            page.append("| `").append(name).append("` | ").append(family.type());
            page.append(" | ").append(String.join(", ", labels));
            page.append(" | ")
                    .append(unit(name))
                    .append(" | ")
                    .append(family.help())
                    .append(" |\n");
        });
        return page.toString();
    }

    private static String unit(String name) {
        if (name.contains("token_usage")) {
            return "tokens";
        }
        return name.endsWith("_seconds") ? "seconds" : name.endsWith("bytes") ? "bytes" : "";
    }
}
