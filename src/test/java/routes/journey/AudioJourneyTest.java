package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import routes.fixture.FakeReplica;
import routes.fixture.Form;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.RecordedRequest;
import routes.fixture.Requests;
import routes.fixture.Scripts;

/** Forms with a file: transcriptions and translations. */
class AudioJourneyTest {

    private static final String PATH = "/v1/audio/transcriptions";
    private static final String BOUNDARY = "b0undary-in-audio";
    private static final List<String> STREAM = List.of(
            chunk("[{\"delta\":{\"content\":\"Is\"}}]", ""),
            chunk("[{\"delta\":{\"content\":\"it\"},\"finish_reason\":\"stop\"}]", ""),
            chunk("[]", ",\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":2,\"total_tokens\":102}"),
            Payloads.EVENT_DONE);
    private static FakeReplica replica;
    private static FakeReplica renaming;
    private static TestGateway gateway;

    @BeforeAll
    static void start() throws IOException {
        replica = FakeReplica.start();
        renaming = FakeReplica.start();
        gateway = TestGateway.builder()
                .modelWithAliases("whisper", "ear", replica.url())
                .model("renamed", renaming.url() + "?model=openai/whisper-large-v3-turbo")
                .start();
    }

    @AfterAll
    static void stop() throws IOException {
        gateway.close();
        replica.close();
        renaming.close();
    }

    @AfterEach
    void nothingIsLeft() {
        gateway.awaitIdle();
        assertThat(replica.errors()).isEmpty();
    }

    private static String chunk(String choices, String more) {
        return Payloads.event("{\"object\":\"transcription.chunk\",\"choices\":" + choices + more + "}");
    }

    private static Form form() {
        return new Form(BOUNDARY);
    }

    private static byte[] audio(int size) {
        byte[] audio = new byte[size];
        new Random(size).nextBytes(audio);
        return audio;
    }

    private static Requests request(String id, byte[] body) {
        return Requests.request("POST", PATH)
                .header("Content-Type", "multipart/form-data; boundary=" + BOUNDARY)
                .header("X-Request-Id", id)
                .key(TestGateway.KEY)
                .body(body);
    }

    private static RawResponse ask(String id, byte[] body) throws IOException {
        try (RawClient client = RawClient.connect(gateway.port())) {
            return client.exchange(request(id, body));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 100, 4096, 300_000, 5_000_000})
    void theModelIsFoundOnEitherSideOfAFileAndTheFormArrivesAsItWasSent(int size) throws Exception {
        replica.answering(Scripts.status(200, "{\"text\":\"hi\",\"usage\":{\"type\":\"duration\",\"seconds\":3}}"));
        byte[] before = form().field("model", "whisper")
                .file("file", "a.wav", audio(size))
                .end();
        byte[] behind = form().file("file", "a.wav", audio(size))
                .field("model", "whisper")
                .end();
        for (byte[] body : new byte[][] {before, behind}) {
            int number = replica.requests().size();
            String id = "audio-" + size + "-" + number;
            assertThat(ask(id, body).text()).startsWith("{\"text\":\"hi\"");
            RecordedRequest seen = replica.request(number);
            assertThat(seen.body()).isEqualTo(body);
            assertThat(seen.allHeaders("content-type")).containsExactly("multipart/form-data; boundary=" + BOUNDARY);
            JsonNode line = UsageLines.of(gateway, id);
            UsageLines.assertUnknownTokens(line);
            UsageLines.assertEnd(line, "success", 200, null);
            assertThat(line.path("api").asText()).isEqualTo("audio_transcriptions");
            assertThat(line.path("request_bytes").asInt()).isEqualTo(body.length);
        }
    }

    @Test
    void anotherNameTakesThePlaceOfTheFormsOwnWithTheRightLength() throws Exception {
        renaming.answering(Scripts.status(200, "{\"text\":\"hi\"}"));
        for (int size : new int[] {50, 1_000_000}) {
            int number = renaming.requests().size();
            byte[] sent = form().file("file", "a", audio(size))
                    .field("model", "renamed")
                    .field("language", "en")
                    .end();
            assertThat(ask("renamed-" + size, sent).status()).isEqualTo(200);
            byte[] expected = form().file("file", "a", audio(size))
                    .field("model", "openai/whisper-large-v3-turbo")
                    .field("language", "en")
                    .end();
            RecordedRequest seen = renaming.request(number);
            assertThat(seen.body()).isEqualTo(expected);
            assertThat(seen.header("content-length")).contains(Integer.toString(expected.length));
        }
    }

    @Test
    void aStreamIsRelayedWithItsUsageAndEndsAsChatsDo() throws Exception {
        byte[] body = form().field("stream", "true")
                .field("stream_include_usage", "true")
                .file("file", "a.wav", audio(2000))
                .field("model", "ear")
                .end();
        replica.answering(Scripts.events(STREAM));
        RawResponse answer = ask("stream", body);
        assertThat(answer.text()).isEqualTo(String.join("", STREAM));
        JsonNode line = UsageLines.of(gateway, "stream");
        UsageLines.assertTokens(line, 100, 2, 102);
        UsageLines.assertEnd(line, "success", 200, null);
        assertThat(line.path("stream").asBoolean()).isTrue();
        assertThat(line.path("finish_reason").asText()).isEqualTo("stop");
        assertThat(line.path("ttft_ms").isNull()).isFalse();

        replica.answering(Scripts.events(List.of(STREAM.get(0), Payloads.EVENT_DONE)));
        ask("no-end", body);
        UsageLines.assertEnd(UsageLines.of(gateway, "no-end"), "upstream_aborted", 200, "upstream_incomplete");
    }

    @Test
    void aStreamThatBreaksIsBrokenForTheClientAndCountedAsFarAsItCame() throws Exception {
        byte[] body = form().field("stream", "1")
                .field("model", "ear")
                .file("file", "a", audio(2560))
                .end();
        replica.answering(Scripts.thenRst(Payloads.sseHead() + Payloads.chunk(STREAM.get(0))));
        RawResponse answer = ask("cut", body);
        assertThat(answer.end().orElseThrow()).isIn(RawResponse.End.CUT_FIN, RawResponse.End.CUT_RST);
        JsonNode line = UsageLines.of(gateway, "cut");
        assertThat(line.path("usage_source").asText()).isEqualTo("estimated");
        assertThat(line.path("completion_tokens").asInt()).isEqualTo(1);
        assertThat(line.path("prompt_tokens").asInt()).as("a file is no text").isEqualTo(body.length / 256 + 1);
    }

    @Test
    void textAndSubtitlesAreRelayedUnread() throws Exception {
        String text = "1\n00:00:00,000 --> 00:00:01,000\n\"usage\":{\"prompt_tokens\":9}\n";
        replica.answering(Scripts.wire(
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " + text.length() + "\r\n\r\n" + text));
        assertThat(ask(
                                "srt",
                                form().field("model", "ear")
                                        .field("response_format", "srt")
                                        .end())
                        .text())
                .isEqualTo(text);
        UsageLines.assertUnknownTokens(UsageLines.of(gateway, "srt"));
    }

    @Test
    void aFormThatIsNoneIsRefusedInTheShapeOfErrors() throws Exception {
        int before = replica.requests().size();
        byte[] whole =
                form().file("file", "a.wav", audio(100)).field("model", "ear").end();
        List<byte[]> bodies = List.of(
                form().file("file", "a.wav", audio(100)).field("model", "ear").cutOff(),
                java.util.Arrays.copyOf(whole, whole.length - 3),
                form().field("model", "ear").field("model", "ear").end(),
                new byte[0]);
        List<String> codes = List.of("invalid_form", "invalid_form", "duplicate_field", "invalid_form");
        for (int i = 0; i < bodies.size(); i++) {
            RawResponse answer = ask("no-form-" + i, bodies.get(i));
            assertThat(answer.status()).isEqualTo(400);
            assertThat(new ObjectMapper()
                            .readTree(answer.body())
                            .at("/error/code")
                            .asText())
                    .isEqualTo(codes.get(i));
            UsageLines.assertEnd(UsageLines.of(gateway, "no-form-" + i), "rejected", 400, codes.get(i));
        }
        RawResponse withoutBoundary;
        try (RawClient client = RawClient.connect(gateway.port())) {
            withoutBoundary = client.exchange(Requests.request("POST", PATH)
                    .header("Content-Type", "multipart/form-data")
                    .key(TestGateway.KEY)
                    .body(whole));
        }
        assertThat(withoutBoundary.status()).isEqualTo(400);
        assertThat(new String(withoutBoundary.body(), StandardCharsets.UTF_8)).contains("boundary");
        assertThat(replica.requests()).hasSize(before);
    }

    @Test
    void aFileIsNotReadAsTextWhenItsTokensAreEstimated() throws Exception {
        replica.answering(Scripts.status(200, "{\"text\":\"hi\"}"));
        try (TestGateway limited = TestGateway.builder()
                .model("whisper", replica.url())
                .keysFile("""
                        keys:
                          - { id: k, tenant: t, sha256: %s, limits: { tokens-per-minute: 5000 } }
                        """.formatted(TestGateway.sha256(TestGateway.KEY)))
                .start()) {
            byte[] body = form().field("model", "whisper")
                    .file("file", "a", audio(1_000_000))
                    .end();
            try (RawClient client = RawClient.connect(limited.port())) {
                assertThat(client.exchange(request("budget", body)).status()).isEqualTo(200);
            }
        }
    }
}
