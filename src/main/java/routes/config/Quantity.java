package routes.config;

import java.util.Locale;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How sizes and durations are written, in properties and in options of endpoints alike. */
public final class Quantity {

    private static final Pattern DURATION = Pattern.compile("(\\d{1,9})\\s*(ms|s|m|h|d)?");
    private static final Pattern BYTES = Pattern.compile("(\\d{1,18})\\s*([kmg]?)i?b?");

    private Quantity() {}

    /**
     * Reads {@code 65536}, {@code 64k}, {@code 32m}, {@code 1g}.
     *
     * @throws IllegalArgumentException naming the option, what was found and what is expected
     */
    public static long bytes(String option, String value) {
        return known(option, value, Setting.Kind.BYTES, bytes(value));
    }

    /**
     * Reads {@code 250ms}, {@code 2s}, {@code 10m}, {@code 1h}, {@code 7d}; milliseconds without a unit.
     *
     * @return milliseconds
     * @throws IllegalArgumentException naming the option, what was found and what is expected
     */
    public static long millis(String option, String value) {
        return known(option, value, Setting.Kind.DURATION, millis(value));
    }

    static OptionalLong bytes(String value) {
        Matcher m = BYTES.matcher(value.toLowerCase(Locale.ROOT));
        if (!m.matches()) {
            return OptionalLong.empty();
        }
        int shift =
                switch (m.group(2)) {
                    case "k" -> 10;
                    case "m" -> 20;
                    case "g" -> 30;
                    default -> 0;
                };
        long number = Long.parseLong(m.group(1));
        return number > Long.MAX_VALUE >> shift ? OptionalLong.empty() : OptionalLong.of(number << shift);
    }

    static OptionalLong millis(String value) {
        Matcher m = DURATION.matcher(value.toLowerCase(Locale.ROOT));
        if (!m.matches()) {
            return OptionalLong.empty();
        }
        long number = Long.parseLong(m.group(1));
        String unit = m.group(2) == null ? "ms" : m.group(2);
        return OptionalLong.of(
                switch (unit) {
                    case "ms" -> number;
                    case "s" -> number * 1_000;
                    case "m" -> number * 60_000;
                    case "h" -> number * 3_600_000;
                    default -> number * 86_400_000;
                });
    }

    private static long known(String option, String value, Setting.Kind kind, OptionalLong number) {
        return number.orElseThrow(
                () -> new IllegalArgumentException(option + ": '" + value + "' (expected: " + kind.expected() + ")"));
    }
}
