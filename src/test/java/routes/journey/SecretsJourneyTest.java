package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import routes.fixture.FakeReplica;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.RecordedRequest;
import routes.fixture.Requests;
import routes.fixture.Scripts;

/** Keys, prompts and answers: who may see them, and that nobody else does. */
class SecretsJourneyTest {

    private static final String WRONG = "sk-wrong-key-5523";
    private static final String UPSTREAM = "sk-upstream-7741";
    private static final String PROMPT = "planted-prompt-9917";
    private static final String ANSWER = "planted-answer-3308";
    private static final List<String> CREDENTIALS = List.of(
            TestGateway.KEY, TestGateway.OTHER_KEY, WRONG, "azure-8812", "google-4471", "cookie-6690", "hdr-1200");
    private static LogCapture log;
    private static FakeReplica open;
    private static FakeReplica guarded;
    private static FakeReplica refusing;
    private static TestGateway gateway;

    @BeforeAll
    static void start() throws IOException {
        // below this level Camel shows whole endpoint addresses while it starts
        log = LogCapture.at(Level.DEBUG);
        String answer = "{\"choices\":[{\"message\":{\"content\":\"" + ANSWER + "\"},\"finish_reason\":\"stop\"}]}";
        open = FakeReplica.start(Scripts.status(200, answer));
        guarded = FakeReplica.start(Scripts.status(200, answer));
        refusing = FakeReplica.start();
        refusing.refuse();
        gateway = TestGateway.builder()
                .model("open", open.url())
                .model("guarded", guarded.url() + "?apiKey=" + UPSTREAM)
                .model("gone", refusing.url())
                .property("gateway.total-timeout", "1s")
                .property("gateway.max-body-bytes", "64k")
                .property("gateway.forward-headers", "x-wanted, X-Also-Wanted")
                .start();
        log.level(Level.ALL);
    }

    @AfterAll
    static void stop() throws IOException {
        gateway.close();
        open.close();
        guarded.close();
        log.close();
    }

    private static Requests request(String model) {
        return Requests.post("/v1/chat/completions?api_key=" + TestGateway.KEY, Requests.chatJson(model, PROMPT, false))
                .header("api-key", "azure-8812")
                .header("x-goog-api-key", "google-4471")
                .header("Cookie", "s=cookie-6690")
                .header("X-Unknown", "hdr-1200")
                .header("X-data-parallel-rank", "3")
                .header("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
                .header("Accept", "application/json")
                .header("x-wanted", "yes")
                .header("X-ALSO-WANTED", "too");
    }

    private static RawResponse ask(Requests request) throws IOException {
        try (RawClient client = RawClient.connect(gateway.port())) {
            return client.exchange(request);
        }
    }

    @Test
    void noCredentialLeavesTheGatewayAndNothingSecretIsLogged() throws Exception {
        List<RawResponse> answers = new ArrayList<>();
        for (String model : List.of("open", "guarded")) {
            answers.add(ask(request(model).key(TestGateway.KEY)));
            answers.add(ask(request(model).header("x-api-key", TestGateway.KEY)));
            answers.add(ask(request(model).header("x-api-key", TestGateway.KEY).key(TestGateway.KEY)));
            answers.add(ask(request(model).header("AUTHORIZATION", "bearer " + TestGateway.OTHER_KEY)));
        }
        assertThat(answers)
                .allMatch(answer -> answer.status() == 200 && answer.text().contains(ANSWER));

        List<RawResponse> failures = new ArrayList<>();
        failures.add(ask(request("open")));
        failures.add(ask(request("open").key(WRONG)));
        failures.add(ask(request("open").key(WRONG).header("x-api-key", TestGateway.KEY)));
        failures.add(ask(request("open").line("Authorization: Bearer " + TestGateway.KEY + "\u0001")));
        failures.add(
                ask(Requests.post("/v1/chat/completions", "{\"x\":\"" + PROMPT).key(TestGateway.KEY)));
        failures.add(ask(request("nope").key(TestGateway.KEY)));
        failures.add(ask(request("gone").key(TestGateway.KEY)));
        failures.add(ask(Requests.chat("open", PROMPT.repeat(5000), false).key(TestGateway.KEY)));
        open.answering(Scripts.thenHang(""));
        failures.add(ask(request("open").key(TestGateway.KEY)));
        open.answering(Scripts.thenHang("HTTP/1.1 " + ANSWER + "\r\n\r\n"));
        failures.add(ask(request("open").key(TestGateway.KEY)));
        open.answering(Scripts.thenFin("HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n" + ANSWER));
        RawResponse cut = ask(request("open").key(TestGateway.KEY));
        assertThat(cut.end().orElseThrow()).isIn(RawResponse.End.CUT_FIN, RawResponse.End.CUT_RST);

        assertThat(failures)
                .extracting(RawResponse::status)
                .containsExactly(401, 401, 401, 400, 400, 404, 502, 413, 504, 502);
        for (RawResponse failure : failures) {
            String all = new String(failure.rawHead(), StandardCharsets.ISO_8859_1) + failure.text();
            assertThat(all)
                    .doesNotContain(CREDENTIALS)
                    .doesNotContain(UPSTREAM, PROMPT, ANSWER, "127.0.0.1", "xception");
        }

        for (FakeReplica replica : List.of(open, guarded)) {
            assertThat(replica.requests()).hasSizeGreaterThanOrEqualTo(4);
            for (RecordedRequest seen : replica.requests()) {
                String head = new String(seen.rawHead(), StandardCharsets.ISO_8859_1);
                assertThat(head).doesNotContain(CREDENTIALS);
                assertThat(seen.allHeaders("authorization"))
                        .isEqualTo(replica.equals(guarded) ? List.of("Bearer " + UPSTREAM) : List.of());
                assertThat(seen.target()).isEqualTo("/v1/chat/completions");
                assertThat(seen.headers().stream().map(header -> header.name().toLowerCase(java.util.Locale.ROOT)))
                        .isSubsetOf(
                                "host",
                                "authorization",
                                "content-type",
                                "accept-encoding",
                                "accept",
                                "traceparent",
                                "x-wanted",
                                "x-also-wanted",
                                "x-request-id",
                                "content-length");
                assertThat(seen.header("traceparent")).isPresent();
                assertThat(seen.header("x-wanted")).contains("yes");
                assertThat(seen.header("x-also-wanted")).contains("too");
            }
        }

        gateway.awaitIdle();
        // 8 answers, and all failures but those of strangers and of what was no HTTP, and the one that was cut
        assertThat(gateway.lines()).hasSize(8 + failures.size() - 4 + 1);
        assertThat(gateway.lines()).allMatch(line -> line.contains("\"key_id\":\"key-"));
        List<String> secrets = new ArrayList<>(CREDENTIALS);
        secrets.addAll(List.of(UPSTREAM, PROMPT, ANSWER));
        for (String secret : secrets) {
            assertThat(gateway.lines()).noneMatch(line -> line.contains(secret));
            assertThat(log.lines().stream()
                            .filter(line -> line.contains(secret))
                            .limit(3))
                    .as("log lines with %s", secret)
                    .isEmpty();
        }
        assertThat(log.lines()).as("the capture works").anyMatch(line -> line.startsWith("TRACE"));
        assertThat(log.errors()).isEmpty();
    }
}
