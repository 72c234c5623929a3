package routes.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingsTest {

    @Test
    void theDefaultsAreValid() {
        Settings settings = with(Map.of());
        for (Setting setting : Setting.values()) {
            assertThat(settings.text(setting)).isEqualTo(setting.defaultValue());
        }
        assertThat(settings.duration(Setting.STALL_TIMEOUT)).isEqualTo(Duration.ofSeconds(60));
        assertThat(settings.bytes(Setting.MAX_BODY_BYTES)).isEqualTo(32 << 20);
    }

    @ParameterizedTest
    @CsvSource({
        "gateway.port, 80a, a whole number",
        "gateway.port, '', a whole number",
        "gateway.port, 65536, 0 to 65535",
        "gateway.port, -1, 0 to 65535",
        "gateway.port, 99999999999, a whole number",
        "gateway.management.port, 65536, 0 to 65535",
        "gateway.native-transport, yes, true or false",
        "gateway.warm-up, '', true or false",
        "gateway.max-body-bytes, 32mm, 'a number of bytes, such as 65536, 64k, 32m or 1g'",
        "gateway.max-body-bytes, -1, a number of bytes",
        "gateway.max-body-bytes, 0, 1 to",
        "gateway.max-body-bytes, 999999999999999999g, a number of bytes",
        "gateway.body-budget-bytes, 1k, at least 33554432",
        "gateway.stall-timeout, soon, 'a duration, such as 250ms, 2s or 10m'",
        "gateway.stall-timeout, 1.5s, a duration",
        "gateway.stall-timeout, 0s, a duration longer than zero",
        "gateway.total-timeout, 999999999d, at most 3650d",
        "gateway.max-attempts, 0, 1 to 16",
        "gateway.demo.first-port, 70000, 0 to 65535"
    })
    void aWrongValueIsNamedWithWhatIsExpected(String property, String value, String expected) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> with(Map.of(property, value)))
                .withMessageContaining(property + ": '" + value + "' (expected: ")
                .withMessageContaining(expected)
                .withMessageContaining(
                        "environment: " + property.toUpperCase(Locale.ROOT).replaceAll("[.-]", "_"));
    }

    @ParameterizedTest
    @CsvSource({"250, 250", "250ms, 250", "2s, 2000", "10 m, 600000", "1h, 3600000", "1D, 86400000"})
    void durations(String text, long millis) {
        assertThat(with(Map.of("gateway.stall-timeout", text))
                        .duration(Setting.STALL_TIMEOUT)
                        .toMillis())
                .isEqualTo(millis);
    }

    @ParameterizedTest
    @CsvSource({"65536, 65536", "64k, 65536", "64KiB, 65536", "1M, 1048576", " 2 mb , 2097152"})
    void bytes(String text, long bytes) {
        assertThat(with(Map.of("gateway.max-body-bytes", text)).bytes(Setting.MAX_BODY_BYTES))
                .isEqualTo(bytes);
    }

    @Test
    void namesAreSeparatedByCommas() {
        assertThat(with(Map.of("gateway.forward-headers", " X-One,x-two ,,")).names(Setting.FORWARD_HEADERS))
                .containsExactly("x-one", "x-two");
    }

    @Test
    void aNameThatLooksLikeTheGatewaysAndIsNotIsRefused() {
        Settings.refuseUnknown(Set.of("gateway.port", "gateway.log.level", "demo.replica-1", "camel.main.name"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Settings.refuseUnknown(Set.of("gateway.stall-timout")))
                .withMessageContaining("gateway.stall-timout")
                .withMessageContaining("expected");
    }

    @Test
    void keysAndEnvironmentNamesAreUniqueAndExplained() {
        assertThat(Stream.of(Setting.values()).map(Setting::key))
                .doesNotHaveDuplicates()
                .allMatch(key -> key.matches("gateway(\\.[a-z]+(-[a-z]+)*)+"));
        assertThat(Stream.of(Setting.values()).map(Setting::environmentName)).doesNotHaveDuplicates();
        assertThat(Stream.of(Setting.values()).map(Setting::meaning)).allMatch(text -> text.endsWith("."));
    }

    private static Settings with(Map<String, String> properties) {
        return new Settings(key -> Optional.ofNullable(properties.get(key)));
    }
}
