package routes.door;

import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import routes.config.Setting;
import routes.config.Settings;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.request.RequestHead;

/**
 * The header in which a client limits the time of its request: seconds, or a number with a unit.
 *
 * @param name in lower case; empty for none
 * @param maxNanos what longer ones are cut to
 */
record TimeoutHeader(String name, long maxNanos) {

    private static final Pattern VALUE = Pattern.compile("(\\d{1,9}(?:\\.\\d{1,9})?)(ms|s|m|h)?");

    static TimeoutHeader of(Settings settings) {
        return new TimeoutHeader(
                settings.text(Setting.TIMEOUT_HEADER).toLowerCase(Locale.ROOT),
                settings.nanos(Setting.MAX_TOTAL_TIMEOUT));
    }

    /**
     * The client's limit in nanoseconds; 0 when it sent none.
     *
     * @throws GatewayException BAD_REQUEST for a value that is no time, or none at all
     */
    long nanos(RequestHead head) throws GatewayException {
        String value = name.isEmpty() ? null : head.header(name);
        return value == null ? 0 : Math.min(parse(value), maxNanos);
    }

    private long parse(String value) throws GatewayException {
        Matcher matcher = VALUE.matcher(value);
        long nanos = matcher.matches() ? (long) (Double.parseDouble(matcher.group(1)) * unit(matcher.group(2))) : 0;
        if (nanos == 0) {
            throw new GatewayException(
                    ErrorCode.BAD_REQUEST,
                    "The header '" + name + "' has to be a time longer than zero: seconds such as 30 or 2.5, or with a"
                            + " unit such as 500ms, 30s or 2m.");
        }
        return nanos;
    }

    /** Nanoseconds of a unit; seconds without one. */
    private static double unit(@Nullable String name) {
        TimeUnit unit = name == null
                ? TimeUnit.SECONDS
                : switch (name) {
                    case "ms" -> TimeUnit.MILLISECONDS;
                    case "m" -> TimeUnit.MINUTES;
                    case "h" -> TimeUnit.HOURS;
                    default -> TimeUnit.SECONDS;
                };
        return unit.toNanos(1);
    }
}
