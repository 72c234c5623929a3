package routes.quota;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class RefusalTextTest {

    @ParameterizedTest
    @CsvSource({
        "0, 0s",
        "1, 1ms",
        "20000000, 20ms",
        "999000001, 1s",
        "1000000000, 1s",
        "1500000000, 1.5s",
        "8640000000, 8.64s",
        "60000000000, 1m0s",
        "360000000000, 6m0s",
        "3600000000000, 1h0m0s",
        "90061005000000, 25h1m1.005s"
    })
    void aDurationReadsAsOpenAiWritesIt(long nanos, String text) {
        assertThat(RefusalText.duration(nanos)).isEqualTo(text);
    }

    @Property(tries = 500)
    void aDurationIsNeverShorterThanTheTimeAndAtMostAMillisecondLonger(
            @ForAll @LongRange(min = 1, max = 1L << 58) long nanos) {
        String text = RefusalText.duration(nanos);

        Duration read = text.endsWith("ms")
                ? Duration.ofMillis(Long.parseLong(text.substring(0, text.length() - 2)))
                : Duration.parse("PT" + text);
        assertThat(read.toNanos() - nanos).isBetween(0L, 999_999L);
    }
}
