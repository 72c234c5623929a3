package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.stream.IntStream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import routes.fixture.FakeReplica;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.RecordedRequest;
import routes.fixture.Requests;
import routes.fixture.Scripts;

/** Tenants that are kept apart in the replicas' prefix caches. */
class CacheSaltJourneyTest {

    private static final String SECRET = "a secret of the journey";
    private static final String SALTED = TestGateway.KEY;
    private static final String PLAIN = TestGateway.OTHER_KEY;

    private static FakeReplica one;
    private static FakeReplica two;
    private static TestGateway gateway;
    private UsageMark usage;

    /** Of the two keys the first asks for a salt on every model; of the models {@code apart} asks for one for every key. */
    @BeforeAll
    static void start() throws IOException {
        one = FakeReplica.start();
        two = FakeReplica.start();
        gateway = TestGateway.builder()
                .property("gateway.cache-salt-secret", SECRET)
                .keysFile(keys("cache-salt: tenant"))
                .modelWith("aliases: other", "m1", one.url())
                .modelWith("cacheSalt: tenant", "apart", one.url())
                .model("both", one.url(), two.url())
                .start();
    }

    @AfterAll
    static void stop() throws IOException {
        gateway.close();
        one.close();
        two.close();
    }

    @BeforeEach
    void mark() {
        one.answering(Scripts.vllmLike());
        two.answering(Scripts.vllmLike());
        usage = UsageMark.of(gateway);
    }

    @Test
    void aKeyThatAsksForItHasItsTenantsSaltInEveryBody() throws Exception {
        String rest = "\"model\":\"m1\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";

        assertThat(upstream(SALTED, "{" + rest)).isEqualTo("{\"cache_salt\":\"" + salt("tenant-one") + "\"," + rest);
        assertThat(usage.ends()).containsExactly("success 200");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"cache_salt\"", "\"cache\\u005fsalt\""})
    void whatTheClientWroteIsReplacedAndNothingElse(String key) throws Exception {
        String body = "{\"model\":\"m1\",\"x\":{\"cache_salt\":\"inner\"}, " + key
                + " :\t\"%s\" ,\"messages\":[{\"role\":\"user\",\"content\":\"\\u00e9\"}]}";

        assertThat(upstream(SALTED, body.formatted("tenant-two's, I hope")))
                .isEqualTo(body.formatted(salt("tenant-one")));
        assertThat(usage.ends()).containsExactly("success 200");
    }

    @Test
    void aSaltThatAppearsTwiceIsRefused() throws Exception {
        try (RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = client.exchange(
                    post(PLAIN, "{\"model\":\"m1\",\"cache_salt\":\"a\",\"cache_salt\":\"b\",\"messages\":[]}"));

            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.text()).contains("\"code\":\"duplicate_field\"", "\"param\":\"cache_salt\"");
        }
        assertThat(usage.ends()).containsExactly("rejected duplicate_field 400");
    }

    @Test
    void aKeyThatDoesNotAskKeepsTheClientsOwn() throws Exception {
        String own = "{\"model\":\"m1\",\"cache_salt\":\"mine\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}";
        String none = Requests.chatJson("m1", "hi", false);

        assertThat(upstream(PLAIN, own)).isEqualTo(own);
        assertThat(upstream(PLAIN, none)).isEqualTo(none);
        assertThat(usage.ends()).containsExactly("success 200", "success 200");
    }

    @Test
    void aModelThatAsksForItSaltsAllTenants() throws Exception {
        String body =
                "{\"model\":\"apart\",\"cache_salt\":\"mine\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}";

        assertThat(upstream(PLAIN, body)).isEqualTo(body.replace("mine", salt("tenant-two")));
        assertThat(upstream(SALTED, body)).isEqualTo(body.replace("mine", salt("tenant-one")));
        assertThat(usage.ends()).containsExactly("success 200", "success 200");
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 200_000})
    void saltUsageAndModelsNameChangeTogetherHoweverLongTheBody(int length) throws Exception {
        String text = "x".repeat(length);
        String stream = "{\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"" + text
                + "\"}],\"cache_salt\":\"mine\",\"model\":\"other\"}";

        assertThat(upstream(SALTED, stream))
                .isEqualTo("{\"stream_options\":{\"include_usage\":true},"
                        + stream.substring(1)
                                .replace("mine", salt("tenant-one"))
                                .replace("other", "m1"));
        JsonNode line = usage.lines().get(0);
        assertThat(line.path("outcome").asText()).isEqualTo("success");
        assertThat(line.path("total_tokens").asInt()).isEqualTo(7);
    }

    @Test
    void everyAttemptCarriesIt() throws Exception {
        int seenByOne = one.requests().size();
        int seenByTwo = two.requests().size();
        one.answering(Scripts.thenRst(""));
        two.answering(Scripts.sequence(Scripts.thenRst(""), Scripts.normal()));
        String body = Requests.chatJson("both", "try again", false);
        try (RawClient client = RawClient.connect(gateway.port())) {
            client.exchange(post(SALTED, body));
        }

        List<RecordedRequest> attempts =
                new ArrayList<>(one.requests().subList(seenByOne, one.requests().size()));
        attempts.addAll(two.requests().subList(seenByTwo, two.requests().size()));
        assertThat(attempts)
                .hasSize(2)
                .allSatisfy(attempt ->
                        assertThat(attempt.json().path("cache_salt").asText()).isEqualTo(salt("tenant-one")));
        assertThat(usage.lines()).hasSize(1);
    }

    /** With a shared cache the same prompt has one home; apart, each salt finds its own, the same every time. */
    @Test
    void tenantsWithASaltHaveHomesOfTheirOwn() throws Exception {
        List<String> plain = homes(PLAIN, "");
        List<String> salted = homes(SALTED, "");
        List<String> own = homes(PLAIN, "\"cache_salt\":\"mine\",");

        assertThat(homes(SALTED, "\"cache_salt\":\"whatever\",")).isEqualTo(salted);
        assertThat(homes(PLAIN, "\"cache_salt\":\"mine\",")).isEqualTo(own);
        for (List<String> apart : List.of(salted, own)) {
            assertThat(IntStream.range(0, plain.size())
                            .filter(i -> apart.get(i).equals(plain.get(i)))
                            .count())
                    .isBetween(5L, 35L);
        }
    }

    private List<String> homes(String key, String member) throws IOException {
        usage = UsageMark.of(gateway);
        try (RawClient client = RawClient.connect(gateway.port())) {
            for (int i = 0; i < 40; i++) {
                String body = "{" + member
                        + Requests.chatJson("both", "question " + i, false).substring(1);
                assertThat(client.exchange(post(key, body)).status()).isEqualTo(200);
            }
        }
        return usage.lines().stream().map(line -> line.path("replica").asText()).toList();
    }

    @Test
    void aGatewayWithoutASecretDoesNotStartWhenAKeyAsksForSalt() {
        TestGateway.Builder builder =
                TestGateway.builder().keysFile(keys("cache-salt: tenant")).model("m1", one.url());

        assertThatThrownBy(builder::start)
                .rootCause()
                .message()
                .satisfies(message -> assertThat(message)
                        .endsWith("key 'key-one': cache-salt: there is no secret to make it from (expected:"
                                + " gateway.cache-salt-secret to be set; environment: GATEWAY_CACHE_SALT_SECRET)")
                        .doesNotContain("\n"));
    }

    @Test
    void aGatewayWithoutASecretDoesNotStartWhenAModelAsksForSalt() {
        TestGateway.Builder builder = TestGateway.builder().modelWith("cacheSalt: tenant", "m1", one.url());

        assertThatThrownBy(builder::start)
                .rootCause()
                .message()
                .satisfies(
                        message -> assertThat(message)
                                .contains(
                                        "cacheSalt: there is no secret to make it from (expected: gateway.cache-salt-secret to be set"));
    }

    /** The body that reaches the replica. */
    private static String upstream(String key, String body) throws IOException {
        int seen = one.requests().size();
        try (RawClient client = RawClient.connect(gateway.port())) {
            assertThat(client.exchange(post(key, body)).status()).isEqualTo(200);
        }
        assertThat(one.requests()).hasSize(seen + 1);
        return one.requests().get(seen).bodyText();
    }

    private static Requests post(String key, String body) {
        return Requests.post("/v1/chat/completions", body).key(key);
    }

    private static String salt(String tenant) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(SECRET.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        byte[] hash = mac.doFinal(tenant.getBytes(StandardCharsets.UTF_8));
        return Base64.getUrlEncoder().encodeToString(hash).substring(0, 22);
    }

    private static String keys(String ofTheFirst) {
        return """
                keys:
                  - { id: key-one, tenant: tenant-one, sha256: "%s", %s }
                  - { id: key-two, tenant: tenant-two, sha256: "%s" }
                """.formatted(TestGateway.sha256(SALTED), ofTheFirst, TestGateway.sha256(PLAIN));
    }
}
