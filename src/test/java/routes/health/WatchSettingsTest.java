package routes.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import routes.config.Settings;

class WatchSettingsTest {

    private static WatchSettings with(String key, String value) {
        return WatchSettings.of(new Settings(name -> name.equals(key) ? Optional.of(value) : Optional.empty()));
    }

    @Test
    void theDefaultsMakeSense() {
        WatchSettings settings = WatchSettings.of(new Settings(name -> Optional.empty()));

        assertThat(settings.health())
                .isEqualTo(new WatchSettings.Health(Duration.ofSeconds(2), Duration.ofSeconds(2), 3, 2));
        assertThat(settings.slowStart()).isEqualTo(Duration.ofSeconds(10));
        assertThat(settings.load().running())
                .containsExactly(
                        "vllm:num_requests_running", "ray_vllm_num_requests_running", "sglang:num_running_reqs");
    }

    @Test
    void namesOfMetricsKeepTheirOrderAndCase() {
        assertThat(with("gateway.load.waiting", " b:B ,, A ").load().waiting()).isEqualTo(List.of("b:B", "A"));
        assertThat(with("gateway.load.waiting", "").load().waiting()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "gateway.health.misses, 0",
        "gateway.health.hits, -1",
        "gateway.health.interval, 1ms",
        "gateway.health.interval, 2h",
        "gateway.health.timeout, 2m",
        "gateway.slow-start, 2h",
        "gateway.load.interval, 5ms",
        "gateway.load.interval, 6s",
        "gateway.load.max-age, 500ms",
        "gateway.load.running, ''",
        "gateway.load.running, vllm num",
        "gateway.load.waiting, 1st",
    })
    void whatMakesNoSenseIsRefused(String key, String value) {
        // an interval that outlasts a reading is refused as the reading's age
        String named = key.equals("gateway.load.interval") && value.equals("6s") ? "gateway.load.max-age" : key;
        assertThatIllegalArgumentException()
                .isThrownBy(() -> with(key, value))
                .withMessageStartingWith(named + ": ")
                .withMessageContaining("(expected: ")
                .withMessageContaining("environment: GATEWAY_");
    }
}
