package routes.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import routes.quota.Terms;
import routes.request.ApiKey;

final class KeyStoreTest {

    private static final long NOW = Instant.parse("2026-06-01T12:00:00Z").toEpochMilli();

    private static final KeyStore TWO_KEYS = KeyStore.of(List.of(
            KeyEntry.ofSecret(new ApiKey("a", "tenant-a", ApiKey.ALL_MODELS, ApiKey.NEVER), "secret-a"),
            KeyEntry.ofSecret(new ApiKey("b", "tenant-b", Set.of("m1"), NOW), "secret-b")));

    @Test
    void findsTheKeyThatASecretProves() {
        ApiKey key = find(TWO_KEYS, "secret-a", NOW);

        assertThat(key).isNotNull();
        assertThat(key.id()).isEqualTo("a");
        assertThat(key.tenant()).isEqualTo("tenant-a");
    }

    @Test
    void findsASecretInTheMiddleOfAnArray() {
        byte[] header = "Bearer secret-a\r\n".getBytes(StandardCharsets.US_ASCII);

        assertThat(TWO_KEYS.find(header, 7, 8, NOW)).isNotNull();
        assertThat(TWO_KEYS.find(header, 7, 7, NOW)).isNull();
        assertThat(TWO_KEYS.find(header, 0, header.length, NOW)).isNull();
    }

    @Test
    void findsNothingForAnUnknownOrEmptySecret() {
        assertThat(find(TWO_KEYS, "secret-c", NOW)).isNull();
        assertThat(find(TWO_KEYS, "SECRET-A", NOW)).isNull();
        assertThat(find(TWO_KEYS, "", NOW)).isNull();
    }

    @Test
    void aKeyIsValidUntilTheMillisecondBeforeItExpires() {
        assertThat(find(TWO_KEYS, "secret-b", NOW - 1)).isNotNull();
        assertThat(find(TWO_KEYS, "secret-b", NOW)).isNull();
    }

    @Test
    void aDisabledKeyIsNotFoundButKeepsItsIdAndSecret() {
        ApiKey key = new ApiKey("a", "t", ApiKey.ALL_MODELS, ApiKey.NEVER);
        KeyEntry disabled = new KeyEntry(key, Sha256.of("secret-a"), false, Terms.NONE, false);

        assertThat(find(KeyStore.of(List.of(disabled)), "secret-a", NOW)).isNull();
        assertThatThrownBy(() -> KeyStore.of(List.of(disabled, KeyEntry.ofSecret(key, "another"))))
                .hasMessage("two keys have the id 'a' (expected: each its own)");
        assertThatThrownBy(() -> KeyStore.of(List.of(
                        disabled,
                        KeyEntry.ofSecret(new ApiKey("b", "t", ApiKey.ALL_MODELS, ApiKey.NEVER), "secret-a"))))
                .hasMessage("keys 'a' and 'b' have the same secret (expected: each its own)");
    }

    @Test
    void aBlankSecretIsRefused() {
        ApiKey key = new ApiKey("a", "t", ApiKey.ALL_MODELS, ApiKey.NEVER);

        assertThatThrownBy(() -> KeyEntry.ofSecret(key, " ")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void replacingTheStoreTakesEffectAtTheNextLookUp() {
        Keys keys = new Keys(TWO_KEYS);
        byte[] secret = "secret-a".getBytes(StandardCharsets.US_ASCII);
        assertThat(keys.find(secret, 0, secret.length, NOW)).isNotNull();

        keys.replace(KeyStore.of(List.of()));

        assertThat(keys.find(secret, 0, secret.length, NOW)).isNull();
        assertThat(keys.current().size()).isZero();
    }

    static @Nullable ApiKey find(KeyStore store, String secret, long nowMillis) {
        byte[] bytes = secret.getBytes(StandardCharsets.UTF_8);
        return store.find(bytes, 0, bytes.length, nowMillis);
    }
}
