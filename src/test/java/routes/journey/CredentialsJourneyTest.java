package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.Requests;
import routes.fixture.Scripts;

/** The gateway's own keys for a provider: several in turn, those that were refused at rest, and never a client's to see. */
class CredentialsJourneyTest {

    private static final String PROVIDERS_WORDS = "Incorrect API key provided: sk-one";

    private FakeReplica provider;

    /** Status by key; 200 for those that are not here. */
    private final Map<String, Integer> refusals = new ConcurrentHashMap<>();

    @BeforeEach
    void start() throws IOException {
        provider = FakeReplica.start(call -> {
            String key = call.request().header("authorization").orElse("").replace("Bearer ", "");
            int status = refusals.getOrDefault(key, 200);
            switch (status) {
                case 200 -> Scripts.normal().answer(call);
                case 429 ->
                    call.last(Payloads.answer(429, Payloads.error(429, "Slow", "slow down"), "Retry-After: 600"));
                default -> call.last(Payloads.answer(status, Payloads.error(status, "Auth", PROVIDERS_WORDS)));
            }
        });
    }

    @AfterEach
    void stop() throws IOException {
        provider.close();
        assertThat(provider.errors()).isEmpty();
    }

    private TestGateway.Builder with(String options) {
        return TestGateway.builder().model("m1", provider.url() + "?" + options);
    }

    private static RawResponse ask(TestGateway gateway, String id) throws IOException {
        try (RawClient client = RawClient.connect(gateway.port())) {
            return client.exchange(
                    Requests.chat("m1", false).key(TestGateway.KEY).header("X-Request-Id", id));
        }
    }

    private List<String> keys() {
        return provider.requests().stream()
                .map(request -> request.header("authorization").orElse(""))
                .toList();
    }

    // ---- in turn

    @Test
    void severalKeysAreUsedInTurn() throws Exception {
        try (TestGateway gateway = with("apiKey=sk-one, sk-two,sk-three").start()) {
            for (int i = 0; i < 6; i++) {
                assertThat(ask(gateway, "turn-" + i).status()).isEqualTo(200);
            }
        }
        assertThat(keys().subList(0, 3)).containsExactlyInAnyOrder("Bearer sk-one", "Bearer sk-two", "Bearer sk-three");
        assertThat(keys().subList(3, 6)).isEqualTo(keys().subList(0, 3));
    }

    @ParameterizedTest
    @CsvSource({"authorization, Bearer sk-one", "Authorization, Bearer sk-one", "api-key, sk-one", "X-Api-Key, sk-one"})
    void theKeyStandsInTheHeaderThatTheProviderWants(String header, String value) throws Exception {
        try (TestGateway gateway = with("apiKey=sk-one&apiKeyHeader=" + header).start()) {
            assertThat(ask(gateway, "header").status()).isEqualTo(200);
        }
        assertThat(provider.request(0).allHeaders(header)).containsExactly(value);
        assertThat(provider.request(0).header("authorization").isPresent())
                .isEqualTo(header.equalsIgnoreCase("authorization"));
    }

    // ---- refused

    @Test
    void aKeyThatIsRefusedRestsAndAnotherOneTakesItsRequest() throws Exception {
        refusals.put("sk-one", 401);
        try (LogCapture log = LogCapture.at(Level.INFO)) {
            try (TestGateway gateway = with("apiKey=sk-one,sk-two").start()) {
                for (int i = 0; i < 4; i++) {
                    RawResponse answer = ask(gateway, "refused-" + i);
                    assertThat(answer.status()).as("%s", answer).isEqualTo(200);
                }
                JsonNode line = UsageLines.of(gateway, "refused-0");
                UsageLines.assertEnd(line, "success", 200, null);
                UsageLines.assertTokens(line, 5, 2, 7);
                assertThat(line.path("attempts").asInt()).isEqualTo(2);
            }
            assertThat(log.lines())
                    .anyMatch(line -> line.startsWith("WARN") && line.contains("refused the gateway's key, number 1"))
                    .noneMatch(line -> line.contains("sk-one"));
        }
        assertThat(keys())
                .containsExactly("Bearer sk-one", "Bearer sk-two", "Bearer sk-two", "Bearer sk-two", "Bearer sk-two");
    }

    @Test
    void aKeyThatIsUsedUpRestsAsLongAsItIsTold() throws Exception {
        refusals.put("sk-one", 429);
        try (TestGateway gateway = with("apiKey=sk-one,sk-two").start()) {
            for (int i = 0; i < 4; i++) {
                assertThat(ask(gateway, "used-up-" + i).status()).isEqualTo(200);
            }
        }
        assertThat(keys())
                .containsExactly("Bearer sk-one", "Bearer sk-two", "Bearer sk-two", "Bearer sk-two", "Bearer sk-two");
    }

    @Test
    void aKeyWhoseRestIsOverIsUsedAgain() throws Exception {
        refusals.put("sk-one", 401);
        try (TestGateway gateway = with("apiKey=sk-one,sk-two")
                .property("gateway.credential-rest", "50ms")
                .start()) {
            assertThat(ask(gateway, "over-0").status()).isEqualTo(200);
            refusals.clear();
            long deadline = System.nanoTime() + Duration.ofSeconds(10).toNanos();
            while (!keys().subList(1, keys().size()).contains("Bearer sk-one")) {
                assertThat(ask(gateway, "over-" + keys().size()).status()).isEqualTo(200);
                assertThat(System.nanoTime() - deadline).as("time left").isNegative();
            }
        }
    }

    @Test
    void whenEveryKeyIsRefusedTheClientLearnsThatItsOwnIsNotMeant() throws Exception {
        refusals.putAll(Map.of("sk-one", 401, "sk-two", 401));
        try (TestGateway gateway = with("apiKey=sk-one,sk-two").start()) {
            RawResponse answer = ask(gateway, "all");

            assertThat(answer.status()).isEqualTo(502);
            assertThat(answer.text())
                    .contains("\"code\":\"upstream_unauthorized\"")
                    .doesNotContain("sk-", "Incorrect");
            assertThat(answer.header("retry-after")).isEmpty();
            JsonNode line = UsageLines.of(gateway, "all");
            assertThat(line.path("error_code").asText()).isEqualTo("upstream_unauthorized");
            assertThat(line.path("outcome").asText()).isEqualTo("upstream_error");
            assertThat(line.path("attempts").asInt()).isEqualTo(2);
        }
    }

    @Test
    void aReplicaThatWantsAKeyOfAClientThatSentNoneSaysSoItself() throws Exception {
        provider.answering(Scripts.status(401, Payloads.error(401, "Auth", "who are you")));
        try (TestGateway gateway = TestGateway.serving(provider.url())) {
            RawResponse answer = ask(gateway, "none");
            assertThat(answer.status()).isEqualTo(401);
            assertThat(answer.text()).contains("who are you");
        }
        assertThat(keys()).containsExactly("");
    }

    @Test
    void aLoneKeyIsUsedWhateverBecameOfIt() throws Exception {
        refusals.put("sk-one", 401);
        try (TestGateway gateway = with("apiKey=sk-one").start()) {
            assertThat(ask(gateway, "lone-0").status()).isEqualTo(502);
            refusals.clear();
            assertThat(ask(gateway, "lone-1").status()).isEqualTo(200);
        }
    }

    // ---- files

    @Test
    void aFileThatChangesIsReadAgainAndABadOneIsNot(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("keys"), "sk-one\n\n  sk-two  \n");
        try (LogCapture log = LogCapture.at(Level.INFO);
                TestGateway gateway = with("apiKeyFile=" + file).start()) {
            ask(gateway, "file-0");
            ask(gateway, "file-1");
            assertThat(keys()).containsExactlyInAnyOrder("Bearer sk-one", "Bearer sk-two");

            Files.writeString(file, "sk-three\n");
            TestGateway.await(() -> has(log, "have changed"), "the file to be read again");
            ask(gateway, "file-2");
            assertThat(keys().get(2)).isEqualTo("Bearer sk-three");

            Files.writeString(file, "\n");
            TestGateway.await(() -> has(log, "stay in use"), "the file to be found empty");
            ask(gateway, "file-3");
            assertThat(keys().get(3)).isEqualTo("Bearer sk-three");
            assertThat(log.lines()).noneMatch(line -> line.contains("sk-"));
        }
    }

    private static boolean has(LogCapture log, String text) {
        return log.lines().stream().anyMatch(line -> line.contains(text));
    }

    @Test
    void whatCanNotBeAKeyEndsTheStart(@TempDir Path folder) throws Exception {
        Path empty = Files.writeString(folder.resolve("empty"), "\n");
        Path broken = Files.writeString(folder.resolve("broken"), "sk-good\nsk bad\n");
        List<String> options = new ArrayList<>(List.of(
                "apiKeyFile=" + folder.resolve("missing"),
                "apiKeyFile=" + empty,
                "apiKeyFile=" + broken,
                "apiKey=sk-one&apiKeyFile=" + broken,
                "apiKey=sk-one&apiKeyHeader=Transfer-Encoding"));
        List<String> complaints = List.of(
                "there is no such file",
                "it is empty",
                "key 2 (expected",
                "expected: one of the two",
                "no header that belongs to one connection");
        for (int i = 0; i < options.size(); i++) {
            TestGateway.Builder builder = with(options.get(i));
            assertThatThrownBy(() -> builder.start().close())
                    .as(options.get(i))
                    .hasStackTraceContaining(complaints.get(i))
                    .satisfies(e -> assertThat(String.valueOf(e)).doesNotContain("sk bad"));
        }
    }
}
