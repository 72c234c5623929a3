package routes.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CacheSaltsTest {

    /** RFC 4231, test case 2: 5bdcc146 bf60754e 6a042426 089575c7 5a003f08 9d273983 9dec58b9 64ec3843. */
    @Test
    void theSaltIsTheHmacOfTheTenantInBase64ForUrls() {
        CacheSalt salt = salt("Jefe", "what do ya want for nothing?");

        assertThat(text(salt.value())).isEqualTo("\"W9zBRr9gdU5qBCQmCJV1x1\"");
        assertThat(text(salt.member())).isEqualTo("\"cache_salt\":\"W9zBRr9gdU5qBCQmCJV1x1\",");
        assertThat(salt.hash()).isEqualTo(0x5bdcc146bf60754eL);
    }

    @Test
    void secretAndTenantEachChangeIt() {
        CacheSalt salt = salt("one", "a");

        assertThat(salt).isEqualTo(salt("one", "a")).hasSameHashCodeAs(salt("one", "a"));
        assertThat(salt).isNotEqualTo(salt("one", "b")).isNotEqualTo(salt("two", "a"));
        assertThat(salt).isNotEqualTo(new CacheSalts("one").of("a", false));
    }

    @Test
    void saltsKeepEqualKeysApart() {
        Set<Long> keys = new HashSet<>();
        for (int tenant = 0; tenant < 1_000; tenant++) {
            keys.add(CacheSalt.mix(1, salt("secret", "tenant-" + tenant).hash()));
            keys.add(CacheSalt.mix(2, salt("secret", "tenant-" + tenant).hash()));
        }

        assertThat(keys).hasSize(2_000);
    }

    @Test
    void aSaltIsNotShown() {
        CacheSalt salt = salt("secret", "t");
        ApiKey key = new ApiKey("a", "t", ApiKey.ALL_MODELS, ApiKey.NEVER).with(salt);

        assertThat(key.cacheSalt()).isSameAs(salt);
        assertThat(key.toString()).doesNotContain(text(salt.value()).substring(1, 8));
    }

    @Test
    void withoutASecretThereIsNone() {
        assertThat(CacheSalts.NONE.of("a", true)).isNull();
        assertThat(new CacheSalts("").of("a", true)).isNull();
        assertThatThrownBy(() -> CacheSalts.NONE.require("model:m1: cacheSalt"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("model:m1: cacheSalt: there is no secret to make it from (expected:"
                        + " gateway.cache-salt-secret to be set; environment: GATEWAY_CACHE_SALT_SECRET)");
        assertThatCode(() -> new CacheSalts("s").require("x")).doesNotThrowAnyException();
    }

    private static CacheSalt salt(String secret, String tenant) {
        return Objects.requireNonNull(new CacheSalts(secret).of(tenant, true));
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.US_ASCII);
    }
}
