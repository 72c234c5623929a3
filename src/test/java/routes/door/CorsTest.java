package routes.door;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import routes.config.Settings;

class CorsTest {

    private static @Nullable Cors cors(Map<String, String> properties) {
        return Cors.of(new Settings(key -> Optional.ofNullable(properties.get(key))));
    }

    @Test
    void itIsOffUnlessOriginsAreGiven() {
        assertThat(cors(Map.of())).isNull();
        assertThat(cors(Map.of("gateway.cors.origins", " ", "gateway.cors.credentials", "true")))
                .isNull();
        assertThat(cors(Map.of("gateway.cors.origins", "https://A.example, http://[::1]:3000, app://x")))
                .isNotNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://a.example/",
                "https://a.example/path",
                "a.example",
                "https://*.example.com",
                "*, https://a.example",
                "null",
                "https://a.example b"
            })
    void whatIsNoOriginEndsTheStart(String origins) {
        assertThatThrownBy(() -> cors(Map.of("gateway.cors.origins", origins)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("gateway.cors.origins: ")
                .hasMessageContaining("expected: ");
    }

    @Test
    void credentialsAndEveryOriginDontGoTogether() {
        assertThatThrownBy(() -> cors(Map.of("gateway.cors.origins", "*", "gateway.cors.credentials", "true")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("gateway.cors.credentials: ");
    }

    @Test
    void headersAreNames() {
        assertThatThrownBy(() -> cors(Map.of("gateway.cors.origins", "*", "gateway.cors.headers", "a b")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("gateway.cors.headers: ");
        assertThat(cors(Map.of("gateway.cors.origins", "*", "gateway.cors.headers", "authorization, X-A")))
                .isNotNull();
    }
}
