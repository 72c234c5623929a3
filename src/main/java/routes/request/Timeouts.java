package routes.request;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import routes.config.Quantity;
import routes.config.Setting;
import routes.config.Settings;

/**
 * How long a request may take, and how long a streamed answer may keep its client waiting.
 *
 * @param headNanos from sending a streaming request to the first event of its answer
 * @param stallNanos longest silence of a streamed answer after its first event
 * @param totalNanos the whole request, from the end of its head to the last byte of the answer
 */
public record Timeouts(long headNanos, long stallNanos, long totalNanos) {

    private static final long LONGEST_NANOS = Duration.ofDays(3650).toNanos();

    /** As good as none. */
    static final Timeouts NONE = new Timeouts(LONGEST_NANOS, LONGEST_NANOS, LONGEST_NANOS);

    public Timeouts {
        check("headTimeout", headNanos);
        check("stallTimeout", stallNanos);
        check("totalTimeout", totalNanos);
    }

    /** Those of the gateway. */
    public static Timeouts of(Settings settings) {
        return new Timeouts(
                settings.nanos(Setting.HEAD_TIMEOUT),
                settings.nanos(Setting.STALL_TIMEOUT),
                settings.nanos(Setting.TOTAL_TIMEOUT));
    }

    /**
     * These, but for what a model's route says otherwise; empty where it says nothing.
     *
     * @throws IllegalArgumentException naming the option, what was found and what is expected
     */
    public Timeouts with(String headTimeout, String stallTimeout, String totalTimeout) {
        return new Timeouts(
                nanos("headTimeout", headTimeout, headNanos),
                nanos("stallTimeout", stallTimeout, stallNanos),
                nanos("totalTimeout", totalTimeout, totalNanos));
    }

    private static long nanos(String option, String value, long otherwise) {
        return value.isEmpty() ? otherwise : TimeUnit.MILLISECONDS.toNanos(Quantity.millis(option, value));
    }

    private static void check(String option, long nanos) {
        if (nanos <= 0 || nanos > LONGEST_NANOS) {
            throw new IllegalArgumentException(option + ": " + TimeUnit.NANOSECONDS.toMillis(nanos)
                    + "ms (expected: a duration longer than zero and at most 3650d)");
        }
    }
}
