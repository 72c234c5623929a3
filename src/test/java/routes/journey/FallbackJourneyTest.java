package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import routes.fixture.FakeReplica;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.Requests;
import routes.fixture.Scripts;

/** Another model serves where nobody can serve the one that was asked for; client and bill learn of it. */
class FallbackJourneyTest {

    private FakeReplica big;
    private FakeReplica small;

    @BeforeEach
    void start() throws IOException {
        big = FakeReplica.start();
        small = FakeReplica.start();
    }

    @AfterEach
    void stop() throws IOException {
        big.close();
        small.close();
    }

    private static Requests chat(String model, String id) {
        return Requests.chat(model, "hi", false).key(TestGateway.KEY).header("X-Request-Id", id);
    }

    private static RawResponse ask(TestGateway gateway, Requests request) throws IOException {
        try (RawClient client = RawClient.connect(gateway.port())) {
            return client.exchange(request);
        }
    }

    private void assertFellBack(TestGateway gateway, RawResponse answer, String id) {
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.header("x-dromedary-fallback")).contains("small");
        assertThat(small.requests()
                        .get(small.requests().size() - 1)
                        .json()
                        .path("model")
                        .asText())
                .isEqualTo("small");
        JsonNode line = UsageLines.of(gateway, id);
        UsageLines.assertEnd(line, "success", 200, null);
        UsageLines.assertTokens(line, 5, 2, 7);
        assertThat(line.path("model_asked").asText()).isEqualTo("big");
        assertThat(line.path("model_served").asText()).isEqualTo("small");
        assertThat(line.path("fallback_from").asText()).isEqualTo("big");
    }

    @Test
    void aModelNobodyCanReachFallsBack() throws Exception {
        big.refuse();
        try (TestGateway gateway = TestGateway.builder()
                .modelWith("fallback: small", "big", big.url())
                .model("small", small.url())
                .start()) {
            assertFellBack(gateway, ask(gateway, chat("big", "refused")), "refused");
        }
    }

    @Test
    void aFullQueueFallsBack() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        big.answering(Scripts.holding(held));
        try (TestGateway gateway = TestGateway.builder()
                        .modelWith("fallback: small, queueLimit: 0", "big", big.url() + "?slots=1")
                        .model("small", small.url())
                        .start();
                RawClient first = RawClient.connect(gateway.port())) {
            first.send(chat("big", "running"));
            big.awaitRequests(1);
            RawResponse answer = ask(gateway, chat("big", "full"));
            held.countDown();
            assertFellBack(gateway, answer, "full");
            assertThat(first.response().status()).isEqualTo(200);
            assertThat(UsageLines.of(gateway, "running").path("fallback_from").isNull())
                    .isTrue();
        }
    }

    @Test
    void whoIsServedByTheModelAskedForHearsNothingOfFallbacks() throws Exception {
        try (TestGateway gateway = TestGateway.builder()
                .modelWith("fallback: small", "big", big.url())
                .model("small", small.url())
                .start()) {
            assertThat(ask(gateway, chat("big", "fine")).header("x-dromedary-fallback"))
                    .isEmpty();
            assertThat(UsageLines.of(gateway, "fine").path("fallback_from").isNull())
                    .isTrue();
        }
    }

    @Test
    void modelsThatAreEachOthersFallbackEnd() throws Exception {
        big.refuse();
        small.refuse();
        try (TestGateway gateway = TestGateway.builder()
                .modelWith("fallback: small", "big", big.url())
                .modelWith("fallback: big", "small", small.url())
                .start()) {
            RawResponse answer = ask(gateway, chat("big", "circle"));
            assertThat(answer.status()).isEqualTo(502);
            UsageLines.assertEnd(UsageLines.of(gateway, "circle"), "upstream_error", 502, "upstream_connect_failed");
        }
    }

    @Test
    void aFallbackThatDoesNotExistLeavesTheError() throws Exception {
        big.refuse();
        try (TestGateway gateway = TestGateway.builder()
                .modelWith("fallback: nobody", "big", big.url())
                .start()) {
            assertThat(ask(gateway, chat("big", "nobody")).status()).isEqualTo(502);
        }
    }
}
