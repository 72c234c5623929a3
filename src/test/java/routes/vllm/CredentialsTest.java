package routes.vllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Which key is used next. */
class CredentialsTest {

    private final Credentials keys = new Credentials("api-key", TimeUnit.MINUTES.toNanos(1));

    private Credential next() {
        return Objects.requireNonNull(keys.next());
    }

    private static String line(Credential key) {
        return new String(key.line(), StandardCharsets.US_ASCII);
    }

    @Test
    void withoutKeysThereIsNone() {
        assertThat(keys.next()).isNull();
    }

    @Test
    void allAreUsedInTurn() {
        keys.replace(List.of("a", "b", "c"));
        assertThat(List.of(line(next()), line(next()), line(next()), line(next())))
                .containsExactly("api-key: a\r\n", "api-key: b\r\n", "api-key: c\r\n", "api-key: a\r\n");
    }

    @Test
    void oneThatRestsIsPassedOver() {
        keys.replace(List.of("a", "b"));
        assertThat(keys.refused(next(), -1)).as("another one is awake").isTrue();
        for (int i = 0; i < 5; i++) {
            assertThat(line(next())).isEqualTo("api-key: b\r\n");
        }
    }

    @Test
    void ofThoseThatRestTheOneThatRestsLeastIsUsed() {
        keys.replace(List.of("a", "b", "c"));
        assertThat(keys.refused(next(), -1)).isTrue();
        assertThat(keys.refused(next(), 10)).isTrue();
        assertThat(keys.refused(next(), 1000)).as("another one is awake").isFalse();
        for (int i = 0; i < 5; i++) {
            assertThat(line(next())).isEqualTo("api-key: b\r\n");
        }
    }

    @Test
    void aRestIsNotMadeShorter() {
        keys.replace(List.of("a", "b"));
        Credential a = next();
        keys.refused(a, 1000);
        keys.refused(a, 1);
        keys.refused(next(), 100);
        assertThat(line(next())).isEqualTo("api-key: b\r\n");
    }

    @Test
    void aKeyThatStaysKeepsItsRest() {
        keys.replace(List.of("a", "b"));
        keys.refused(next(), -1);
        assertThat(keys.replace(List.of("a", "b"))).isFalse();
        assertThat(keys.replace(List.of("a", "c"))).isTrue();
        assertThat(line(next())).isEqualTo("api-key: c\r\n");
        assertThat(line(next())).isEqualTo("api-key: c\r\n");
    }

    @Test
    void aKeyThatNoHeaderMayHaveIsRefusedAndNotShown() {
        keys.replace(List.of("a"));
        assertThatThrownBy(() -> keys.replace(List.of("b", "c\r\nx-evil: 1")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("key 2")
                .hasMessageNotContaining("evil");
        assertThat(line(next())).isEqualTo("api-key: a\r\n");
    }
}
