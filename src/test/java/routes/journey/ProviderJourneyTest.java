package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import routes.fixture.FakeReplica;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.RecordedRequest;
import routes.fixture.Requests;

/** What a request looks like to the server: its path, its model, and the headers that may go there. */
class ProviderJourneyTest {

    private static final String TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    private static final String BEGUN = "00-[0-9a-f]{32}-[0-9a-f]{16}-00";

    private FakeReplica provider;

    @BeforeEach
    void start() throws IOException {
        provider = FakeReplica.start();
    }

    @AfterEach
    void stop() throws IOException {
        provider.close();
        assertThat(provider.errors()).isEmpty();
    }

    private static Requests request() {
        return Requests.chat("m1", false).key(TestGateway.KEY);
    }

    private RecordedRequest ask(TestGateway gateway, Requests request) throws Exception {
        int seen = provider.requests().size();
        try (RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = client.exchange(request);
            assertThat(answer.status()).as("%s", answer).isEqualTo(200);
        }
        return provider.request(seen);
    }

    // ---- what an endpoint says

    @Test
    void theAddressMayHaveABasePathAndTheModelANameOfItsOwn() throws Exception {
        try (TestGateway gateway = TestGateway.builder()
                .modelWithAliases(
                        "m1", "other", provider.url() + "/openai/deployments/?model=vendor/model-7b:\\\"x\\\"")
                .start()) {
            RecordedRequest seen = ask(gateway, request());
            assertThat(seen.target()).isEqualTo("/openai/deployments/v1/chat/completions");
            assertThat(seen.json().path("model").asText()).isEqualTo("vendor/model-7b:\"x\"");

            RecordedRequest alias = ask(gateway, Requests.chat("other", true).key(TestGateway.KEY));
            assertThat(alias.json().path("model").asText()).isEqualTo("vendor/model-7b:\"x\"");
            assertThat(alias.json().path("stream_options").path("include_usage").asBoolean())
                    .isTrue();
        }
    }

    @Test
    void anEndpointsOwnHeadersGoWithEveryRequestAndBeatAClients() throws Exception {
        try (TestGateway gateway = TestGateway.builder()
                .model("m1", provider.url() + "?header.OpenAI-Organization=org-1&header.X-Flags=a b, c&apiKey=k")
                .property("gateway.forward-headers", "x-flags, x-wanted")
                .start()) {
            RecordedRequest seen =
                    ask(gateway, request().header("X-Flags", "client's").header("X-Wanted", "yes"));
            assertThat(seen.allHeaders("openai-organization")).containsExactly("org-1");
            assertThat(seen.allHeaders("x-flags")).containsExactly("a b, c");
            assertThat(seen.allHeaders("x-wanted")).containsExactly("yes");
            assertThat(seen.allHeaders("authorization")).containsExactly("Bearer k");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "header.Host=x, the gateway writes itself",
        "header.Content-Length=1, the gateway writes itself",
        "header.Connection=close, belongs to one connection",
        "header.Authorization=x, expected: apiKey",
        "header.traceparent=x, comes from the client",
        "header.a b=x, the name of a header",
        "header.X-A=a%0d%0aX-B: c, a character that no header may have",
        "healthPath=health, 'expected: a path such as /health, or none'",
        "healthStatus=2xx, expected: a status such as 204",
        "healthStatus=299-200, expected: a status such as 204",
        "loadPath=/a b, 'expected: a path such as /health, or none'",
        "resolve=some, expected: one or all",
        "trustStore=/tmp/none.pem, expected: only with https",
        "slots=0, expected: >= 1"
    })
    void optionsThatMakeNoSenseEndTheStart(String option, String complaint) {
        TestGateway.Builder builder = TestGateway.builder().model("m1", provider.url() + "?" + option);
        assertThatThrownBy(() -> builder.start().close()).hasStackTraceContaining(complaint);
    }

    // ---- which of a client's headers go on

    @ParameterizedTest
    @ValueSource(
            strings = {
                "connection",
                "Keep-Alive",
                "te",
                "transfer-encoding",
                "upgrade",
                "authorization",
                "x-api-key",
                "cookie",
                "host",
                "content-length",
                "x-request-id",
                "no header"
            })
    void headersThatMustNotGoOnAreRefusedAtTheStart(String name) {
        TestGateway.Builder builder = TestGateway.builder()
                .model("m1", provider.url())
                .property("gateway.forward-headers", "x-good, " + name);
        assertThatThrownBy(() -> builder.start().close())
                .hasStackTraceContaining("gateway.forward-headers: '" + name.toLowerCase(Locale.ROOT) + "'");
    }

    @Test
    void whatConnectionNamesEndsHere() throws Exception {
        try (TestGateway gateway = TestGateway.builder()
                .model("m1", provider.url())
                .property("gateway.forward-headers", "x-one, x-two, x-three, accept")
                .start()) {
            RecordedRequest seen = ask(
                    gateway,
                    request()
                            .header("X-One", "1")
                            .header("X-Two", "2")
                            .header("X-Three", "3")
                            .header("Accept", "application/json")
                            .header("traceparent", TRACE)
                            .header("Connection", "keep-alive, X-ONE ,traceparent")
                            .header("Connection", "x-two"));
            assertThat(seen.allHeaders("x-one")).isEmpty();
            assertThat(seen.allHeaders("x-two")).isEmpty();
            assertThat(seen.allHeaders("x-three")).containsExactly("3");
            assertThat(seen.allHeaders("accept")).containsExactly("application/json");
            assertThat(seen.allHeaders("connection")).isEmpty();
            assertThat(seen.allHeaders("traceparent"))
                    .singleElement()
                    .asString()
                    .isNotEqualTo(TRACE);
        }
    }

    // ---- traces

    @Test
    void aTraceGoesOn() throws Exception {
        try (TestGateway gateway = TestGateway.serving(provider.url())) {
            RecordedRequest seen =
                    ask(gateway, request().header("traceparent", TRACE).header("tracestate", "vendor=1"));
            assertThat(seen.allHeaders("traceparent")).containsExactly(TRACE);
            assertThat(seen.allHeaders("tracestate")).containsExactly("vendor=1");
        }
    }

    @Test
    void aTraceThatIsNoneOrNotThereBeginsHere() throws Exception {
        try (TestGateway gateway = TestGateway.serving(provider.url())) {
            RecordedRequest none = ask(gateway, request());
            RecordedRequest bad = ask(
                    gateway,
                    request().header("traceparent", TRACE.replace('a', 'G')).header("tracestate", "vendor=1"));
            RecordedRequest two =
                    ask(gateway, request().header("traceparent", TRACE).header("traceparent", TRACE));

            for (RecordedRequest seen : new RecordedRequest[] {none, bad, two}) {
                assertThat(seen.allHeaders("traceparent"))
                        .singleElement()
                        .asString()
                        .matches(BEGUN);
                assertThat(seen.allHeaders("tracestate")).isEmpty();
            }
            assertThat(none.header("traceparent")).isNotEqualTo(bad.header("traceparent"));
        }
    }
}
