package routes.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import routes.config.Settings;

class TimeoutsTest {

    private static final Timeouts GATEWAY =
            Timeouts.of(new Settings(key -> Optional.of("7s").filter(value -> key.equals("gateway.stall-timeout"))));

    @Test
    void theGatewaysComeFromItsSettings() {
        assertThat(GATEWAY).isEqualTo(new Timeouts(seconds(60), seconds(7), seconds(600)));
    }

    @Test
    void aModelSaysOtherwiseWhereItSaysSomething() {
        assertThat(GATEWAY.with("", "", "")).isEqualTo(GATEWAY);
        assertThat(GATEWAY.with("2m", "", "1h")).isEqualTo(new Timeouts(seconds(120), seconds(7), seconds(3_600)));
        assertThat(GATEWAY.with("", "500ms", "")).isEqualTo(new Timeouts(seconds(60), 500_000_000, seconds(600)));
    }

    @Test
    void whatIsNoDurationIsRefused() {
        assertThatThrownBy(() -> GATEWAY.with("soon", "", ""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("headTimeout: 'soon' (expected: a duration, such as 250ms, 2s or 10m)");
        assertThatThrownBy(() -> GATEWAY.with("", "0s", ""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("stallTimeout: 0ms (expected: a duration longer than zero and at most 3650d)");
        assertThatThrownBy(() -> GATEWAY.with("", "", "999999999d"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("totalTimeout: ");
    }

    private static long seconds(long seconds) {
        return TimeUnit.SECONDS.toNanos(seconds);
    }
}
