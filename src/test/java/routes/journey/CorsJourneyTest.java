package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.Requests;
import routes.fixture.Scripts;
import routes.request.Api;

/** Pages in browsers: who may call, and what preflights and answers say of it. */
class CorsJourneyTest {

    private static final String PAGE = "https://chat.example.com";
    private static final String CHAT = "/v1/chat/completions";
    private static FakeReplica replica;
    private static TestGateway listed;
    private static TestGateway open;
    private static TestGateway closed;

    @BeforeAll
    static void start() throws IOException {
        replica = FakeReplica.start();
        listed = gateway(PAGE + ", http://localhost:3000", true);
        open = gateway("*", false);
        closed = gateway("", false);
    }

    private static TestGateway gateway(String origins, boolean credentials) {
        return TestGateway.builder()
                .model("m1", replica.url())
                .property("gateway.cors.origins", origins)
                .property("gateway.cors.credentials", credentials)
                .property("gateway.cors.max-age", "5m")
                .start();
    }

    @AfterAll
    static void stop() throws IOException {
        listed.close();
        open.close();
        closed.close();
        replica.close();
    }

    private static RawResponse ask(TestGateway gateway, Requests request) throws IOException {
        try (RawClient client = RawClient.connect(gateway.port())) {
            client.send(request);
            return client.response();
        }
    }

    private static Requests preflight(String path, String origin) {
        return Requests.request("OPTIONS", path)
                .header("Origin", origin)
                .header("Access-Control-Request-Method", "POST")
                .header("Access-Control-Request-Headers", "authorization,content-type,x-stainless-lang");
    }

    private static Requests chat(String origin) {
        return Requests.chat("m1", false).key(TestGateway.KEY).header("Origin", origin);
    }

    private static void assertAllowed(RawResponse answer, String origin) {
        assertThat(answer.allHeaders("access-control-allow-origin")).containsExactly(origin);
        assertThat(answer.header("access-control-expose-headers").orElse("")).contains("retry-after", "x-request-id");
        assertThat(answer.allHeaders("vary").contains("origin")).isEqualTo(!origin.equals("*"));
        assertThat(answer.header("access-control-allow-credentials").isPresent())
                .isEqualTo(!origin.equals("*"));
    }

    private static void assertNotAllowed(RawResponse answer) {
        assertThat(answer.headers()).noneMatch(header -> header.name().startsWith("access-control"));
    }

    // ---- preflights

    @ParameterizedTest
    @EnumSource(Api.class)
    void aPreflightIsAnsweredWithoutAKeyOnEachPath(Api api) throws IOException {
        String path = api.path().replace("{id}", "resp_1") + (api.path().endsWith("/") ? "m1" : "");
        RawResponse answer = ask(listed, preflight(path, PAGE));
        assertThat(answer.status()).isEqualTo(204);
        assertThat(answer.header("content-length")).isEmpty();
        assertThat(answer.header("content-type")).isEmpty();
        assertAllowed(answer, PAGE);
        assertThat(answer.header("access-control-allow-methods")).contains(api.methods() + ", OPTIONS");
        assertThat(answer.header("access-control-allow-headers"))
                .contains("authorization,content-type,x-stainless-lang");
        assertThat(answer.header("access-control-max-age")).contains("300");
        assertThat(answer.allHeaders("vary")).contains("access-control-request-headers");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://evil.example",
                "https://chat.example.com.evil.example",
                "http://chat.example.com",
                "null"
            })
    void aPageThatIsNotListedIsToldNothing(String origin) throws IOException {
        RawResponse preflight = ask(listed, preflight(CHAT, origin));
        assertThat(preflight.status()).isEqualTo(204);
        assertNotAllowed(preflight);
        assertThat(preflight.allHeaders("vary")).contains("origin");
        RawResponse answer = ask(listed, chat(origin));
        assertThat(answer.status()).isEqualTo(200);
        assertNotAllowed(answer);
        assertThat(answer.allHeaders("vary")).contains("origin");
    }

    @Test
    void aConnectionGoesOnAfterAPreflight() throws IOException {
        try (RawClient client = RawClient.connect(listed.port())) {
            assertThat(client.exchange(preflight(CHAT, PAGE)).status()).isEqualTo(204);
            RawResponse page = client.exchange(chat(PAGE));
            assertAllowed(page, PAGE);
            RawResponse other = client.exchange(chat("http://localhost:3000"));
            assertAllowed(other, "http://localhost:3000");
            RawResponse nobody = client.exchange(Requests.chat("m1", false).key(TestGateway.KEY));
            assertNotAllowed(nobody);
            assertThat(nobody.status()).isEqualTo(200);
        }
    }

    @Test
    void optionsWithoutAPageTellsTheMethods() throws IOException {
        RawResponse answer = ask(listed, Requests.request("OPTIONS", CHAT));
        assertThat(answer.status()).isEqualTo(204);
        assertThat(answer.header("allow")).contains("POST, OPTIONS");
        assertThat(answer.header("access-control-allow-methods")).isEmpty();
        assertThat(ask(listed, Requests.request("OPTIONS", "/v1/models")).header("allow"))
                .contains("GET, HEAD, OPTIONS");
    }

    @Test
    void headersThatAreNoneAreNotRepeated() throws IOException {
        RawResponse answer = ask(
                open,
                Requests.request("OPTIONS", CHAT)
                        .header("Origin", PAGE)
                        .header("Access-Control-Request-Method", "POST")
                        .header("Access-Control-Request-Headers", "a b, <script>"));
        assertThat(answer.status()).isEqualTo(204);
        assertThat(answer.header("access-control-allow-headers")).isEmpty();
    }

    // ---- answers

    @Test
    void everyAnswerTellsAnAllowedPageSo() throws IOException {
        replica.answering(Scripts.normal());
        List<RawResponse> answers = List.of(
                ask(listed, chat(PAGE)),
                ask(listed, Requests.chat("m1", true).key(TestGateway.KEY).header("Origin", PAGE)),
                ask(listed, Requests.get("/v1/models").key(TestGateway.KEY).header("Origin", PAGE)),
                ask(listed, Requests.get("/health").header("Origin", PAGE)),
                ask(listed, Requests.chat("m1", false).header("Origin", PAGE)),
                ask(listed, Requests.chat("none", false).key(TestGateway.KEY).header("Origin", PAGE)),
                ask(listed, Requests.get("/nothing").header("Origin", PAGE)),
                ask(listed, Requests.request("DELETE", CHAT).header("Origin", PAGE)));
        assertThat(answers).extracting(RawResponse::status).containsExactly(200, 200, 200, 200, 401, 404, 404, 405);
        assertThat(answers.get(1).text()).contains("[DONE]");
        assertThat(answers.get(7).header("allow")).contains("POST, OPTIONS");
        answers.forEach(answer -> assertAllowed(answer, PAGE));
    }

    @Test
    void allPagesAreToldTheSame() throws IOException {
        replica.answering(Scripts.normal());
        assertAllowed(ask(open, chat(PAGE)), "*");
        assertAllowed(ask(open, preflight(CHAT, "null")), "*");
        assertAllowed(ask(open, Requests.get("/health")), "*");
    }

    @ParameterizedTest
    @CsvSource({"OPTIONS, 405", "GET, 405"})
    void nothingIsSaidWhereItIsOff(String method, int status) throws IOException {
        RawResponse answer = ask(closed, Requests.request(method, CHAT).header("Origin", PAGE));
        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.header("allow")).contains("POST");
        assertNotAllowed(answer);
        assertThat(answer.header("vary")).isEmpty();
    }

    @Test
    void whatAReplicaSaysOfPagesStaysHere() throws IOException {
        String[] headers = {
            "Access-Control-Allow-Origin: *", "access-control-expose-headers: x", "Vary: Accept", "Access-Control: x"
        };
        for (TestGateway gateway : List.of(closed, listed)) {
            replica.answering(Scripts.status(200, Payloads.JSON, headers));
            RawResponse answer = ask(gateway, chat(PAGE));
            assertThat(answer.allHeaders("vary")).contains("Accept");
            assertThat(answer.header("access-control")).contains("x");
            assertThat(answer.allHeaders("access-control-allow-origin"))
                    .isEqualTo(gateway == listed ? List.of(PAGE) : List.of());
        }
        replica.answering(Scripts.normal());
    }
}
