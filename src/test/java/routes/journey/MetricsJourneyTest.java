package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import routes.fixture.FakeReplica;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.Requests;
import routes.fixture.Scripts;

/** What requests add to the metrics, and that nothing a client writes can add to their number. */
class MetricsJourneyTest {

    private static final int MANY = 1000;
    private static final String M1 =
            "api=\"chat_completions\",gen_ai_operation_name=\"chat\",gen_ai_provider_name=\"vllm\",gen_ai_request_model=\"m1\"";

    private FakeReplica replica;

    @BeforeEach
    void start() throws IOException {
        replica = FakeReplica.start(Scripts.vllmLike());
    }

    @AfterEach
    void stop() throws IOException {
        replica.close();
    }

    private static String failed(String labels, String outcome) {
        return labels.replaceFirst(",gen_ai", ",error_type=\"" + outcome + "\",gen_ai");
    }

    private static RawResponse ask(TestGateway gateway, Requests request) throws IOException {
        try (RawClient client = RawClient.connect(gateway.port())) {
            return client.exchange(request);
        }
    }

    @Test
    void aStreamCountsItsTimesAndTokensOnceForItsModelAndApi() throws Exception {
        try (TestGateway gateway =
                Management.gateway().model("m1", replica.url()).start()) {
            Management management = Management.of(gateway);
            ask(gateway, Requests.chat("m1", true).key(TestGateway.KEY));
            ask(gateway, Requests.chat("m1", false).key(TestGateway.KEY));
            gateway.awaitIdle();

            MetricsPage page = management.metrics();

            String count = "gen_ai_server_request_duration_seconds_count{" + M1 + "}";
            assertThat(page.value(count)).isEqualTo(2);
            assertThat(page.value("gen_ai_server_request_duration_seconds_bucket{" + M1 + ",le=\"+Inf\"}"))
                    .isEqualTo(2);
            assertThat(page.value("gen_ai_server_time_to_first_token_seconds_count{" + M1 + "}"))
                    .as("of the stream")
                    .isEqualTo(1);
            assertThat(page.value("gen_ai_server_time_to_first_token_seconds_bucket{" + M1 + ",le=\"60.0\"}"))
                    .isEqualTo(1);
            assertThat(page.value("gen_ai_server_time_per_output_token_seconds_count{" + M1 + "}"))
                    .isEqualTo(1);
            assertThat(page.value("gen_ai_client_token_usage_count{" + M1 + ",gen_ai_token_type=\"input\"}"))
                    .isEqualTo(2);
            assertThat(page.value("gen_ai_client_token_usage_sum{" + M1 + ",gen_ai_token_type=\"output\"}"))
                    .isEqualTo(4);
            assertThat(page.value("dromedary_queue_wait_seconds_bucket{pool=\"m1\",le=\"0.001\"}"))
                    .as("neither waited")
                    .isEqualTo(2);
            assertThat(page.value("dromedary_requests_total{outcome=\"success\"}"))
                    .isEqualTo(2);
        }
    }

    @Test
    void aRequestThatFailsCountsUnderItsOutcomeAndAListOfModelsIsNoInference() throws Exception {
        replica.answering(Scripts.thenFin(""));
        try (TestGateway gateway =
                Management.gateway().model("m1", replica.url()).start()) {
            assertThat(ask(gateway, Requests.chat("m1", true).key(TestGateway.KEY))
                            .status())
                    .isEqualTo(502);
            assertThat(ask(gateway, Requests.get("/v1/models").key(TestGateway.KEY))
                            .status())
                    .isEqualTo(200);
            gateway.awaitIdle();

            MetricsPage page = Management.of(gateway).metrics();

            assertThat(page.samples().keySet().stream().filter(name -> name.startsWith("gen_ai_")))
                    .allMatch(name -> name.contains("{" + failed(M1, "upstream_error")));
            assertThat(page.value("gen_ai_server_request_duration_seconds_count{" + failed(M1, "upstream_error") + "}"))
                    .isEqualTo(1);
            assertThat(page.value("dromedary_request_retries_total{pool=\"m1\"}"))
                    .as("the second try")
                    .isEqualTo(1);
        }
    }

    @Test
    void refusalsCountByTheirLimitAndFallbacksByThePoolThatServes() throws Exception {
        String keys = "keys: [{ id: one, tenant: t, sha256: " + TestGateway.sha256(TestGateway.KEY)
                + ", limits: { requests-per-minute: 1 } }]\n";
        FakeReplica gone = FakeReplica.start();
        gone.refuse();
        try (TestGateway gateway = Management.gateway()
                .keysFile(keys)
                .modelWith("fallback: m1", "m2", gone.url())
                .model("m1", replica.url())
                .start()) {
            assertThat(ask(gateway, Requests.chat("m2", false).key(TestGateway.KEY))
                            .status())
                    .isEqualTo(200);
            assertThat(ask(gateway, Requests.chat("m1", false).key(TestGateway.KEY))
                            .status())
                    .isEqualTo(429);
            gateway.awaitIdle();

            MetricsPage page = Management.of(gateway).metrics();

            assertThat(page.value("dromedary_limit_refusals_total{limit=\"requests-per-minute\"}"))
                    .isEqualTo(1);
            assertThat(page.value("dromedary_limit_refusals_total{limit=\"tokens-per-day\"}"))
                    .isZero();
            assertThat(page.value("dromedary_request_fallbacks_total{pool=\"m1\"}"))
                    .isEqualTo(1);
            assertThat(page.value("dromedary_request_fallbacks_total{pool=\"m2\"}"))
                    .isZero();
        }
    }

    @Test
    void nothingThatClientsInventMakesASeries() throws Exception {
        try (TestGateway gateway =
                Management.gateway().model("m1", replica.url()).start()) {
            Management management = Management.of(gateway);
            strange(gateway, 0, 2);
            Set<String> before = series(management);

            strange(gateway, 2, MANY);
            gateway.awaitIdle();

            MetricsPage page = management.metrics();
            assertThat(series(management)).isEqualTo(before);
            assertThat(page.text()).doesNotContain("evil");
            assertThat(page.value("gen_ai_server_request_duration_seconds_count{"
                            + failed(M1, "rejected").replace("m1", "unknown") + "}"))
                    .as("models and keys that don't exist")
                    .isEqualTo(2 * MANY);
        }
    }

    private static Set<String> series(Management management) throws Exception {
        return management
                .metrics()
                .text()
                .lines()
                .filter(line -> !line.startsWith("#") && !line.startsWith("jvm"))
                .map(line -> line.substring(0, line.lastIndexOf(' ')))
                .collect(Collectors.toSet());
    }

    /** Models, keys, users, ids, headers, paths and methods that nobody has seen before, some of them made to break lines. */
    private static void strange(TestGateway gateway, int from, int to) throws IOException {
        for (int i = from; i < to; i++) {
            String evil = "evil-" + i + "\\n\\r\\\"}\\u2028 1";
            Requests model = Requests.chat(evil, false).key(TestGateway.KEY);
            assertThat(ask(gateway, model).status()).isEqualTo(404);

            String user =
                    Requests.chatJson("m1", "hi", false).replace("{\"model\"", "{\"user\":\"" + evil + "\",\"model\"");
            Requests known = Requests.post("/v1/chat/completions", user)
                    .key(TestGateway.KEY)
                    .header("X-Request-Id", "evil\"} " + i)
                    .header("User-Agent", "evil-" + i)
                    .header("x-session-id", "evil-" + i);
            assertThat(ask(gateway, known).status()).isEqualTo(200);

            Requests agent = Requests.chat("m1", false).key(TestGateway.KEY).header("User-Agent", "evil\u001b[2J" + i);
            assertThat(ask(gateway, agent).status()).isEqualTo(400);
            Requests stranger = Requests.chat("m1", false).key("evil-" + i);
            assertThat(ask(gateway, stranger).status()).isEqualTo(401);
            assertThat(ask(gateway, Requests.get("/evil-" + i)).status()).isEqualTo(404);
            Requests method = Requests.request("EVIL" + (char) ('A' + i % 26), "/v1/chat/completions");
            assertThat(ask(gateway, method).status()).isGreaterThanOrEqualTo(400);
        }
    }
}
