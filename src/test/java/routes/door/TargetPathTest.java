package routes.door;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import routes.error.ErrorCode;
import routes.error.GatewayException;

final class TargetPathTest {

    @ParameterizedTest
    @CsvSource({
        "/, /",
        "/v1/chat/completions, /v1/chat/completions",
        "/v1/%63hat%2dx, /v1/chat-x",
        "/v1/models/org%2fname%3A7b, /v1/models/org%2Fname%3A7b",
        "/v1/models/org/name:free, /v1/models/org/name:free",
        "/%e4%b8%ad, /%E4%B8%AD",
        "/%252e%252e/, /%252e%252e/",
        "/a/, /a/",
        "/...%2Ea, /....a",
        "/.hidden/..a/a.., /.hidden/..a/a..",
        "/%20%23%3f, /%20%23%3F"
    })
    void hasOneSpelling(String raw, String normal) throws GatewayException {
        assertThat(normalise(raw)).isEqualTo(normal);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/.",
                "/..",
                "/a/../b",
                "/a/./b",
                "/%2e%2E/a",
                "/.%2e/a",
                "/a/%2e",
                "/a%2f..%2fb",
                "/a%2f..",
                "/..%2Fa",
                "/..;x/a",
                "/.;/a",
                "//",
                "/a//b",
                "/a\\b",
                "/a%5cb",
                "/%00",
                "/a%0d%0ab",
                "/%7f",
                "/%",
                "/%2",
                "/a%2",
                "/%zz",
                "/%2g",
                "/%%41"
            })
    void refusesWhatServersReadDifferently(String raw) {
        assertThatThrownBy(() -> normalise(raw))
                .isInstanceOfSatisfying(
                        GatewayException.class,
                        error -> assertThat(error.code()).isEqualTo(ErrorCode.BAD_REQUEST));
    }

    @Test
    void readsOnlyItsOwnBytes() throws GatewayException {
        byte[] bytes = "x/a.%41/..".getBytes(StandardCharsets.US_ASCII);

        assertThat(TargetPath.normalise(bytes, 1, 7)).isEqualTo("/a.A");
        assertThatThrownBy(() -> TargetPath.normalise(bytes, 1, 6)).isInstanceOf(GatewayException.class);
    }

    @Test
    void refusesOverlongPaths() throws GatewayException {
        assertThat(normalise("/" + "a".repeat(TargetPath.MAX_BYTES - 1))).hasSize(TargetPath.MAX_BYTES);
        assertThatThrownBy(() -> normalise("/" + "a".repeat(TargetPath.MAX_BYTES)))
                .isInstanceOf(GatewayException.class);
    }

    @Property(tries = 2000)
    void aNormalPathIsNormal(@ForAll("paths") String raw) throws GatewayException {
        String normal;
        try {
            normal = normalise(raw);
        } catch (GatewayException refused) {
            return;
        }
        assertThat(normalise(normal)).isEqualTo(normal);
        assertThat(normal.split("(/|%2F)", -1)).doesNotContain(".", "..");
    }

    @Provide
    Arbitrary<String> paths() {
        return Arbitraries.of(
                        "/", "a", ".", "%2e", "%2E", "%2f", "%2F", "%41", "%25", "2", "e", "E", "f", "%", ";", "5")
                .list()
                .ofMaxSize(8)
                .map(parts -> "/" + String.join("", parts));
    }

    private static String normalise(String raw) throws GatewayException {
        return TargetPath.normalise(raw.getBytes(StandardCharsets.US_ASCII), 0, raw.length());
    }
}
