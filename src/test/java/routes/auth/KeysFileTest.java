package routes.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import routes.quota.Quotas;
import routes.request.ApiKey;
import routes.request.CacheSalts;

final class KeysFileTest {

    private static final String FULL = """
        # a comment
        keys:
          - id: team-a-prod
            tenant: team-a
            sha256: %s
            models: ["*"]
            expires: 2027-01-01
            enabled: true
          - {id: b, tenant: team-b, sha256: "%s", models: [org/name-7b, 4.50], expires: 2027-01-01T08:00:00+01:00}
        """;

    @Test
    void readsEveryField() {
        KeyStore store = parse(FULL.formatted(hash("secret-a"), hash("secret-b")));

        ApiKey a = Objects.requireNonNull(KeyStoreTest.find(store, "secret-a", 0));
        assertThat(a.id()).isEqualTo("team-a-prod");
        assertThat(a.tenant()).isEqualTo("team-a");
        assertThat(a.mayUse("anything")).isTrue();
        assertThat(a.expiresAtEpochMillis())
                .isEqualTo(Instant.parse("2027-01-01T00:00:00Z").toEpochMilli());
        ApiKey b = Objects.requireNonNull(KeyStoreTest.find(store, "secret-b", 0));
        assertThat(b.models()).containsExactlyInAnyOrder("org/name-7b", "4.50");
        assertThat(b.mayUse("org/name-7b")).isTrue();
        assertThat(b.mayUse("Org/name-7b")).isFalse();
        assertThat(b.mayUse("*")).isFalse();
        assertThat(b.expiresAtEpochMillis())
                .isEqualTo(Instant.parse("2027-01-01T07:00:00Z").toEpochMilli());
    }

    @Test
    void whatIsLeftOutMeansAllModelsForEver() {
        KeyStore store = parse(key("id: a", "tenant: t", "sha256: " + hash("s")));

        ApiKey key = Objects.requireNonNull(KeyStoreTest.find(store, "s", Long.MAX_VALUE - 1));
        assertThat(key.mayUse("m1")).isTrue();
        assertThat(key.expiresAtEpochMillis()).isEqualTo(ApiKey.NEVER);
    }

    @Test
    void aDisabledKeyIsRefused() {
        KeyStore store = parse(key("id: a", "tenant: t", "sha256: " + hash("s"), "enabled: false"));

        assertThat(KeyStoreTest.find(store, "s", 0)).isNull();
        assertThat(store.size()).isZero();
    }

    @Test
    void aHashThatLooksLikeANumberStaysText() {
        String digits = "12345678".repeat(8);
        String exponent = "1e" + "2".repeat(62);

        assertThat(parse(key("id: 1", "tenant: 2", "sha256: " + digits)).size()).isOne();
        assertThat(parse(key("id: 1", "tenant: 2", "sha256: " + exponent)).size())
                .isOne();
    }

    @Test
    void everyKeyHasItsTenantsSaltAndSomeForEveryModel() {
        CacheSalts salts = new CacheSalts("secret");
        KeyStore store = parse("""
                keys:
                  - { id: a, tenant: t1, sha256: "%s", cache-salt: tenant }
                  - { id: b, tenant: t1, sha256: "%s" }
                  - { id: c, tenant: t2, sha256: "%s" }
                tenants:
                  t2: { cache-salt: tenant }
                """.formatted(hash("sa"), hash("sb"), hash("sc")));

        assertThat(Objects.requireNonNull(KeyStoreTest.find(store, "sa", 0)).cacheSalt())
                .isEqualTo(salts.of("t1", true));
        assertThat(Objects.requireNonNull(KeyStoreTest.find(store, "sb", 0)).cacheSalt())
                .isEqualTo(salts.of("t1", false));
        assertThat(Objects.requireNonNull(KeyStoreTest.find(store, "sc", 0)).cacheSalt())
                .isEqualTo(salts.of("t2", true));
    }

    @Test
    void aSaltNeedsASecret() {
        String salted = key("id: a", "tenant: t", "sha256: " + hash("s"), "cache-salt: tenant");
        String plain = key("id: a", "tenant: t", "sha256: " + hash("s"));

        assertThatThrownBy(() -> KeyStore.parse("keys.yaml", salted, new Quotas(), CacheSalts.NONE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("keys.yaml: key 'a': cache-salt: there is no secret to make it from (expected:"
                        + " gateway.cache-salt-secret to be set; environment: GATEWAY_CACHE_SALT_SECRET)");
        KeyStore store = KeyStore.parse("keys.yaml", plain, new Quotas(), CacheSalts.NONE);
        assertThat(Objects.requireNonNull(KeyStoreTest.find(store, "s", 0)).cacheSalt())
                .isNull();
    }

    static List<Arguments> mistakes() {
        String good = "sha256: " + hash("s");
        String hashHelp = "(expected: the 64 hex digits of printf %s \"$KEY\" | sha256sum)";
        return List.of(
                Arguments.of("", "keys.yaml: is empty (expected: a list 'keys')"),
                Arguments.of("# only a comment\n", "keys.yaml: is empty (expected: a list 'keys')"),
                Arguments.of("keys", "keys.yaml:1: found a single value (expected: a mapping with the list 'keys')"),
                Arguments.of("- id: a\n", "keys.yaml:1: found a list (expected: a mapping with the list 'keys')"),
                Arguments.of("{}", "keys.yaml: 'keys' holds no key (expected: a list of at least one)"),
                Arguments.of("keys: []", "keys.yaml:1: 'keys' holds no key (expected: a list of at least one)"),
                Arguments.of("keys:\n", "keys.yaml:1: 'keys' holds no key (expected: a list of at least one)"),
                Arguments.of("keys:\n  a: b\n", "keys.yaml:2: 'keys' holds no key (expected: a list of at least one)"),
                Arguments.of(
                        "\nkey: []\n", "keys.yaml:2: unknown field 'key' (expected: keys, plans, tenants or prices)"),
                Arguments.of(
                        "keys:\n  - a\n",
                        "keys.yaml:2: found a single value (expected: a key: a mapping with id, tenant and sha256)"),
                Arguments.of(
                        key("id: a", "tenant: t", good, "rpm: 5"),
                        "keys.yaml:5: unknown field 'rpm' (expected: id, tenant, sha256, models, expires, enabled,"
                                + " cache-salt, plan or limits)"),
                Arguments.of(
                        key("id: a", "tenant: t", good, "sk-secret!: x"),
                        "keys.yaml:5: unknown field with an odd name"
                                + " (expected: id, tenant, sha256, models, expires, enabled, cache-salt, plan or limits)"),
                Arguments.of(key("id: a", "id: b"), "keys.yaml:3: field 'id' appears twice (expected: once)"),
                Arguments.of(key("tenant: t", good), "keys.yaml:2: a key without id (expected: id, tenant and sha256)"),
                Arguments.of(
                        key("id: a", good), "keys.yaml:2: key 'a' without tenant (expected: id, tenant and sha256)"),
                Arguments.of(
                        key("id: a", "tenant: t"),
                        "keys.yaml:2: key 'a' without sha256 (expected: id, tenant and sha256)"),
                Arguments.of(key("id:", "tenant: t", good), "keys.yaml:2: id: found nothing (expected: one value)"),
                Arguments.of(
                        key("id: \"a b\"", "tenant: t", good),
                        "keys.yaml:2: id: not a name (expected: 1 to 128 of A-Z a-z 0-9 . _ : @ / -)"),
                Arguments.of(
                        key("id: a", "tenant: [t]", good),
                        "keys.yaml:3: key 'a': tenant: found a list (expected: one value)"),
                Arguments.of(
                        key("id: a", "tenant: t", "sha256: sk-a-plain-secret"),
                        "keys.yaml:4: key 'a': sha256: not a hash " + hashHelp),
                Arguments.of(
                        key("id: a", "tenant: t", good + "0"), "keys.yaml:4: key 'a': sha256: not a hash " + hashHelp),
                Arguments.of(
                        key("id: a", "tenant: t", "sha256: " + "g".repeat(64)),
                        "keys.yaml:4: key 'a': sha256: not a hash " + hashHelp),
                Arguments.of(
                        key("id: a", "tenant: t", "sha256: {}"),
                        "keys.yaml:4: key 'a': sha256: found a mapping (expected: one value)"),
                Arguments.of(
                        key("id: a", "tenant: t", "sha256: " + hash("")),
                        "keys.yaml:4: key 'a': sha256: the hash of an empty secret (expected: $KEY to be set)"),
                Arguments.of(
                        key("id: a", "tenant: t", good, "models: m1"),
                        "keys.yaml:5: key 'a': models: not a list of names"
                                + " (expected: [\"*\"] or names of models)"),
                Arguments.of(
                        key("id: a", "tenant: t", good, "models: []"),
                        "keys.yaml:5: key 'a': models: not a list of names"
                                + " (expected: [\"*\"] or names of models)"),
                Arguments.of(
                        key("id: a", "tenant: t", good, "models: [org/*]"),
                        "keys.yaml:5: key 'a': models: a pattern or blank"
                                + " (expected: a model's whole name, or \"*\" alone)"),
                Arguments.of(
                        key("id: a", "tenant: t", good, "models: [{}]"),
                        "keys.yaml:5: key 'a': models: found a mapping (expected: one value)"),
                Arguments.of(
                        key("id: a", "tenant: t", good, "expires: 2027-02-30"),
                        "keys.yaml:5: key 'a': expires: not a date"
                                + " (expected: as 2027-01-01 or 2027-01-01T00:00:00Z)"),
                Arguments.of(
                        key("id: a", "tenant: t", good, "expires: 2027-01-01T00:00:00"),
                        "keys.yaml:5: key 'a': expires: not a date"
                                + " (expected: as 2027-01-01 or 2027-01-01T00:00:00Z)"),
                Arguments.of(
                        key("id: a", "tenant: t", good, "cache-salt: yes"),
                        "keys.yaml:5: key 'a': cache-salt: not known (expected: tenant)"),
                Arguments.of(
                        key("id: a", "tenant: t", good, "enabled: \"true\""),
                        "keys.yaml:5: key 'a': enabled: not a truth value (expected: true or false)"),
                Arguments.of(
                        key("id: a", "tenant: t", good) + "  - {id: a, tenant: t, sha256: " + hash("other") + "}\n",
                        "keys.yaml: two keys have the id 'a' (expected: each its own)"),
                Arguments.of(
                        key("id: a", "tenant: t", good) + "  - {id: b, tenant: t, " + good + "}\n",
                        "keys.yaml: keys 'a' and 'b' have the same secret (expected: each its own)"));
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void aMistakeIsNamedInOneLine(String text, String message) {
        assertThatThrownBy(() -> parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }

    @Test
    void brokenYamlIsNamedWithItsLine() {
        assertThatThrownBy(() -> parse("keys:\n  - id: a\n   tenant: t\n"))
                .isInstanceOf(IllegalArgumentException.class)
                .message()
                .startsWith("keys.yaml:3: is not valid YAML: ")
                .doesNotContain("\n");
        assertThatThrownBy(() -> parse("a: 1\n---\nb: 1\n"))
                .isInstanceOf(IllegalArgumentException.class)
                .message()
                .startsWith("keys.yaml:2: is not valid YAML: ")
                .doesNotContain("\n");
    }

    @Property(tries = 300)
    void anyPieceOfAFileIsReadOrRefusedWithOneLine(
            @ForAll @IntRange(max = 400) int from, @ForAll @IntRange(max = 400) int to) {
        String full = FULL.formatted(hash("secret-a"), hash("secret-b"));
        String piece = full.substring(
                Math.min(from, full.length()), Math.max(Math.min(from, full.length()), Math.min(to, full.length())));
        try {
            assertThat(parse(piece).size()).isBetween(1, 2);
        } catch (IllegalArgumentException e) {
            assertThat(e)
                    .message()
                    .startsWith("keys.yaml:")
                    .doesNotContain("\n")
                    .doesNotContain(hash("secret-b"));
        }
    }

    @Test
    void readsAFile(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("keys.yaml"), FULL.formatted(hash("x"), hash("y")));

        assertThat(KeyStore.load(file, new Quotas(), CacheSalts.NONE).size()).isEqualTo(2);
    }

    @Test
    void aFileThatCanNotBeReadIsNamed(@TempDir Path directory) throws IOException {
        Path missing = directory.resolve("missing.yaml");
        Path binary = Files.write(directory.resolve("binary.yaml"), new byte[] {(byte) 0xc3, 0x28});

        assertThatThrownBy(() -> KeyStore.load(missing, new Quotas(), CacheSalts.NONE))
                .hasMessage(missing + ": there is no such file");
        assertThatThrownBy(() -> KeyStore.load(binary, new Quotas(), CacheSalts.NONE))
                .hasMessage(binary + ": is not UTF-8 text");
        assertThatThrownBy(() -> KeyStore.load(directory, new Quotas(), CacheSalts.NONE))
                .hasMessage(directory + ": can not be read");
    }

    private static String key(String... fields) {
        return "keys:\n  - " + String.join("\n    ", fields) + "\n";
    }

    private static KeyStore parse(String text) {
        return KeyStore.parse("keys.yaml", text, new Quotas(), new CacheSalts("secret"));
    }

    private static String hash(String secret) {
        Sha256 hash = Sha256.of(secret);
        return "%016x%016x%016x%016x".formatted(hash.a(), hash.b(), hash.c(), hash.d());
    }
}
