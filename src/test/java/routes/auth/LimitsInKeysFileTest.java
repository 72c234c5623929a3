package routes.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import routes.error.GatewayException;
import routes.quota.Grant;
import routes.quota.Quota;
import routes.quota.Quotas;
import routes.request.CacheSalts;

final class LimitsInKeysFileTest {

    private static final String TERMS = "requests-per-minute, tokens-per-minute, concurrent-requests, tokens-per-day,"
            + " tokens-per-month, money-per-day, money-per-month, priority, weight, on-exhausted";

    private final Quotas quotas = new Quotas();

    @Test
    void aKeyHasTheLimitsOfItsPlanItsOwnAndThoseOfItsTenant() {
        KeyStore store = parse("""
            keys:
              - {id: a, tenant: t, sha256: HASH-A, plan: gold, limits: {tokens-per-minute: 2000, weight: 2}}
              - {id: b, tenant: t, sha256: HASH-B, plan: gold}
              - {id: c, tenant: t, sha256: HASH-C}
              - {id: d, tenant: other, sha256: HASH-D}
            plans:
              gold: {requests-per-minute: 10, tokens-per-minute: 1000, money-per-day: 1.50, priority: -2}
            tenants:
              t:
                plan: gold
                limits: {requests-per-minute: 15, on-exhausted: end, weight: 7}
            prices:
              demo: {input: 1, cached-input: 0.1, output: 4.5}
              "*": {input: 0, output: 0}
            """);

        Quota a = quota(store, "secret-a");
        assertThat(refusal(a, 1, 1001))
                .startsWith("This prompt has about 1001 tokens. The keys of this tenant together");
        assertThat(refusal(a, 11, 1)).contains("This key may use 10 requests per minute");
        assertThat(a.priority()).isEqualTo(-2);
        assertThat(a.weight()).isEqualTo(2);
        assertThat(a.endsStreams()).isTrue();
        Quota b = quota(store, "secret-b");
        assertThat(b.weight()).isEqualTo(7);
        assertThat(refusal(b, 1, 2000)).contains("1000 tokens per minute");
        Quota c = quota(store, "secret-c");
        assertThat(refusal(c, 16, 1)).contains("The keys of this tenant together may use 15 requests per minute");
        assertThat(quota(store, "secret-d")).isSameAs(Quota.UNLIMITED);
    }

    @Test
    void readingTheFileAgainGoesOnCounting() throws GatewayException {
        String text = """
            keys: [{id: a, tenant: t, sha256: HASH-A, limits: {requests-per-minute: 3}}]
            tenants: {t: {limits: {tokens-per-day: 1000}}}
            """;
        Keys keys = new Keys(parse(text));
        quota(keys.current(), "secret-a").reserve("demo", 2, 600).settle(100, 0, 500);

        keys.replace(parse(text.replace("minute: 3", "minute: 5").replace("HASH-A", "HASH-B")));

        Quota after = quota(keys.current(), "secret-b");
        assertThat(refusal(after, 4, 1)).contains("5 requests per minute");
        assertThat(refusal(after, 1, 401)).contains("1000 tokens per day");
        assertThatCode(() -> after.reserve("demo", 3, 400)).doesNotThrowAnyException();
    }

    @Test
    void aFileThatIsRefusedChangesNothing() throws GatewayException {
        String text = "keys: [{id: a, tenant: t, sha256: HASH-A, limits: {concurrent-requests: 1}}]";
        Quota before = quota(parse(text), "secret-a");
        Grant running = before.reserve("demo", 1, 1);

        assertThatThrownBy(() -> parse(text.replace("1}}", "9}, plan: x}"))).hasMessageContaining("there is no 'x'");

        assertThat(refusal(before, 1, 1)).contains("1 request at once");
        running.refund();
        assertThat(quotas.running()).isZero();
        assertThat(quotas.accounts()).isOne();
    }

    static List<Arguments> mistakes() {
        String price = "prices: {m: {input: 1, output: 1}}\n";
        return List.of(
                limit("rpm: 5", "unknown field 'rpm' (expected: " + TERMS + ")"),
                limit("weight: 1, weight: 2", "field 'weight' appears twice (expected: once)"),
                limit(
                        "requests-per-minute: 0",
                        "requests-per-minute: 0 (expected: a whole number from 1 to 1000000000)"),
                limit(
                        "tokens-per-minute: -5",
                        "tokens-per-minute: -5 (expected: a whole number from 1 to 1000000000000)"),
                limit(
                        "tokens-per-day: 99999999999999999999",
                        "tokens-per-day: 99999999999999999999 (expected: a whole number from 1 to 1000000000000000)"),
                limit(
                        "tokens-per-day: " + "9".repeat(40),
                        "tokens-per-day: not a whole number (expected: a whole number from 1 to 1000000000000000)"),
                limit(
                        "concurrent-requests: 1.5",
                        "concurrent-requests: not a whole number (expected: a whole number from 1 to 1000000)"),
                limit(
                        "concurrent-requests: \"4\"",
                        "concurrent-requests: not a whole number (expected: a whole number from 1 to 1000000)"),
                limit("concurrent-requests: [4]", "concurrent-requests: found a list (expected: one value)"),
                limit("concurrent-requests:", "concurrent-requests: found nothing (expected: one value)"),
                limit("priority: 1001", "priority: 1001 (expected: a whole number from -1000 to 1000)"),
                limit("weight: 0", "weight: 0 (expected: a whole number from 1 to 1000)"),
                limit("on-exhausted: stop", "on-exhausted: neither of the two (expected: finish or end)"),
                limit(
                        "money-per-day: 5",
                        "money-per-day: nothing has a price (expected: 'prices' of models in this file)"),
                Arguments.of(price + key("limits: {money-per-day: 0}"), money("0")),
                Arguments.of(price + key("limits: {money-per-day: -1.5}"), money("-1.5")),
                Arguments.of(price + key("limits: {money-per-day: 1e99}"), money("1e99")),
                Arguments.of(price + key("limits: {money-per-day: 1.0000000001}"), money("1.0000000001")),
                Arguments.of(price + key("limits: {money-per-day: 5 EUR}"), money("not a number")),
                Arguments.of(price + key("limits: {money-per-day: .inf}"), money("not a number")),
                Arguments.of(
                        key("limits: 5"),
                        "1: key 'a': limits: found a single value"
                                + " (expected: a mapping such as requests-per-minute: 60)"),
                Arguments.of(
                        key("plan: gold"),
                        "1: key 'a': plan: there is no 'gold' (expected: the name of one of 'plans')"),
                Arguments.of(
                        "plans: [gold]\n" + key("plan: gold"),
                        "1: plans: found a list (expected: a mapping of plans, each with its limits)"),
                Arguments.of(
                        "plans: {gold: {}, gold: {}}\n" + key("plan: gold"),
                        "1: plans: 'gold' appears twice (expected: once)"),
                Arguments.of(
                        "plans: {gold: {plan: silver}}\n" + key("plan: gold"),
                        "1: plan 'gold': unknown field 'plan' (expected: " + TERMS + ")"),
                Arguments.of(
                        "plans: {go ld: {}}\n" + key("plan: gold"),
                        "1: plan: not a name (expected: 1 to 128 of A-Z a-z 0-9 . _ : @ / -)"),
                Arguments.of(
                        key("models: [m]") + "tenants: {x: {limits: {weight: 2}}}",
                        "2: tenant 'x': no key has it (expected: the tenant of a key above)"),
                Arguments.of(
                        key("models: [m]") + "tenants: {t: {weight: 2}}",
                        "2: tenant 't': unknown field 'weight' (expected: plan, limits or cache-salt)"),
                Arguments.of(
                        key("models: [m]") + "tenants: {t: {plan: x}}",
                        "2: tenant 't': plan: there is no 'x' (expected: the name of one of 'plans')"),
                Arguments.of(
                        key("models: [m]") + "prices: {m: {input: 1}}",
                        "2: price of 'm': without output (expected: input and output, per million tokens)"),
                Arguments.of(
                        key("models: [m]") + "prices: {m: {input: 1, output: -1}}",
                        "2: price of 'm': output: -1 (expected: a decimal number from 0 to 1000000,"
                                + " with at most 9 decimals)"),
                Arguments.of(
                        key("models: [m]") + "prices: {m: {input: 1, output: 1, cached: 1}}",
                        "2: price of 'm': unknown field 'cached' (expected: input, cached-input or output)"),
                Arguments.of(
                        key("models: [m]") + "prices: {\"org/*\": {input: 1, output: 1}}",
                        "2: price: a pattern or blank (expected: a model's whole name, or \"*\" alone)"));
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void aMistakeIsNamedInOneLine(String text, String message) {
        assertThatThrownBy(() -> parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("keys.yaml:" + message);
        assertThat(quotas.accounts()).isZero();
    }

    @Test
    void aHundredThousandKeysAreReadTwiceInSeconds() {
        StringBuilder text =
                new StringBuilder("plans: {p: {requests-per-minute: 60, tokens-per-day: 1000000}}\nkeys:\n");
        for (int i = 0; i < 100_000; i++) {
            text.append("  - {id: key-").append(i).append(", tenant: tenant-").append(i % 1000);
            text.append(", sha256: \"")
                    .append(String.format(Locale.ROOT, "%064x", i + 1))
                    .append("\", ");
            text.append(i % 2 == 0 ? "plan: p}\n" : "limits: {concurrent-requests: 8, priority: 1}}\n");
        }
        String yaml = text.toString();

        long begin = System.nanoTime();
        Keys keys = new Keys(parse(yaml));
        keys.replace(parse(yaml));
        long took = System.nanoTime() - begin;

        assertThat(quotas.accounts()).isEqualTo(100_000);
        assertThat(keys.current().size()).isEqualTo(100_000);
        assertThat(took).isLessThan(TimeUnit.SECONDS.toNanos(40));
    }

    private static Arguments limit(String limits, String message) {
        return Arguments.of(key("limits: {" + limits + "}"), "1: key 'a': limits: " + message);
    }

    private static String money(String problem) {
        return "2: key 'a': limits: money-per-day: " + problem
                + " (expected: a decimal number above 0, to 1000000000, with at most 9 decimals)";
    }

    private static String key(String field) {
        return "keys: [{id: a, tenant: t, sha256: HASH-A, " + field + "}]\n";
    }

    private KeyStore parse(String text) {
        String yaml = text;
        for (char key = 'a'; key <= 'd'; key++) {
            Sha256 hash = Sha256.of("secret-" + key);
            yaml = yaml.replace(
                    "HASH-" + Character.toUpperCase(key),
                    "\"%016x%016x%016x%016x\"".formatted(hash.a(), hash.b(), hash.c(), hash.d()));
        }
        return KeyStore.parse("keys.yaml", yaml, quotas, CacheSalts.NONE);
    }

    private static Quota quota(KeyStore store, String secret) {
        return Objects.requireNonNull(KeyStoreTest.find(store, secret, 0)).quota();
    }

    private static String refusal(Quota quota, int n, long tokens) {
        try {
            quota.reserve("demo", n, tokens);
            return "admitted";
        } catch (GatewayException e) {
            return String.valueOf(e.getMessage());
        }
    }
}
