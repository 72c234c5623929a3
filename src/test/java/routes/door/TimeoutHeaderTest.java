package routes.door;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.request.RequestHead;

class TimeoutHeaderTest {

    private static final TimeoutHeader HEADER =
            new TimeoutHeader("x-request-timeout", Duration.ofHours(1).toNanos());

    @ParameterizedTest
    @CsvSource({
        "30, 30000",
        "2.5, 2500",
        "0.25, 250",
        "30s, 30000",
        "1.5s, 1500",
        "500ms, 500",
        "2m, 120000",
        "1h, 3600000",
        "61m, 3600000",
        "999999999h, 3600000",
        "007, 7000"
    })
    void aTimeIsSecondsOrHasAUnitAndIsCutToTheMaximum(String value, long millis) throws GatewayException {
        assertThat(HEADER.nanos(head("X-Request-Timeout: " + value)))
                .isEqualTo(Duration.ofMillis(millis).toNanos());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "0",
                "0.0",
                "0ms",
                "-1",
                "+1",
                "-0.5s",
                "soon",
                "1e3",
                "30 s",
                "30sec",
                "1d",
                ".5",
                "5.",
                "1,5",
                "1.2.3",
                "1234567890",
                "Infinity",
                "NaN",
                "0x10",
                "30;q=1"
            })
    void anythingElseIsRefused(String value) {
        GatewayException refusal =
                catchThrowableOfType(GatewayException.class, () -> HEADER.nanos(head("x-request-timeout: " + value)));

        assertThat(refusal.code()).isEqualTo(ErrorCode.BAD_REQUEST);
        assertThat(refusal.getMessage())
                .isEqualTo(
                        "The header 'x-request-timeout' has to be a time longer than zero: seconds such as 30 or 2.5,"
                                + " or with a unit such as 500ms, 30s or 2m.");
    }

    @Test
    void withoutTheHeaderThereIsNoLimit() throws GatewayException {
        assertThat(HEADER.nanos(head("x-request-timeou: 1"))).isZero();
        assertThat(new TimeoutHeader("", 1).nanos(head("x-request-timeout: 1"))).isZero();
    }

    private static RequestHead head(String line) throws GatewayException {
        String head = "GET / HTTP/1.1\r\nhost: a\r\n" + line + "\r\n\r\n";
        RequestHead parsed = new HeadParser(8192, 100).parse(Unpooled.copiedBuffer(head, StandardCharsets.ISO_8859_1));
        return Objects.requireNonNull(parsed);
    }
}
