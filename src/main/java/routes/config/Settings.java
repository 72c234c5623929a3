package routes.config;

import java.time.Duration;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;

/**
 * The checked values of all {@link Setting}s for one start.
 *
 * <p><b>Failure:</b> the constructor names the property, the value found and what is expected, in one line.
 */
public final class Settings {

    private static final long LONGEST_MILLIS = Duration.ofDays(3650).toMillis();

    private final Map<Setting, String> text = new EnumMap<>(Setting.class);
    private final Map<Setting, Long> numbers = new EnumMap<>(Setting.class);

    /** @param lookup gives the configured value of a property, or nothing for the default */
    public Settings(Function<String, Optional<String>> lookup) {
        for (Setting setting : Setting.values()) {
            String value =
                    lookup.apply(setting.key()).orElse(setting.defaultValue()).trim();
            text.put(setting, value);
            switch (setting.kind()) {
                case TEXT -> {}
                case FLAG -> {
                    if (!value.equalsIgnoreCase("true") && !value.equalsIgnoreCase("false")) {
                        throw invalid(setting, value, setting.kind().expected());
                    }
                }
                case INTEGER -> numbers.put(setting, parseInteger(setting, value));
                case BYTES -> numbers.put(setting, known(setting, value, Quantity.bytes(value)));
                case DURATION -> numbers.put(setting, known(setting, value, Quantity.millis(value)));
            }
        }
        between(Setting.PORT, 0, 65535);
        between(Setting.MANAGEMENT_PORT, 0, 65535);
        between(Setting.EVENT_LOOPS, 0, 1024);
        between(Setting.MAX_HEAD_BYTES, 1024, 1 << 20);
        between(Setting.MAX_HEADER_FIELDS, 8, 10_000);
        between(Setting.MAX_BODY_BYTES, 1, Integer.MAX_VALUE / 2);
        between(Setting.BODY_BUDGET_BYTES, number(Setting.MAX_BODY_BYTES), Long.MAX_VALUE);
        between(Setting.MAX_ATTEMPTS, 1, 16);
        between(Setting.RETRY_BUDGET, 0, 100);
        between(Setting.USAGE_MAX_PENDING, 1, 10_000_000);
        between(Setting.DEMO_REPLICAS, 0, 64);
        between(Setting.DEMO_FIRST_PORT, 0, 65536 - Math.max(1, number(Setting.DEMO_REPLICAS)));
        for (Setting setting : Setting.values()) {
            if (setting.kind() == Setting.Kind.DURATION) {
                long millis = number(setting);
                boolean none = millis == 0 && setting != Setting.SLOW_START;
                if (none || millis > LONGEST_MILLIS) {
                    throw invalid(setting, text(setting), "a duration longer than zero and at most 3650d");
                }
            }
        }
    }

    /** @throws IllegalArgumentException when a name begins as the gateway's do and is none of them */
    public static void refuseUnknown(Set<String> names) {
        for (String name : names) {
            if (name.startsWith("gateway.") && !Setting.exists(name)) {
                throw new IllegalArgumentException(
                        name + ": no such property (expected: one of those that 'dromedary run --help' lists)");
            }
        }
    }

    public String text(Setting setting) {
        return value(text, setting);
    }

    public boolean flag(Setting setting) {
        return Boolean.parseBoolean(text(setting));
    }

    public int integer(Setting setting) {
        return Math.toIntExact(number(setting));
    }

    public long bytes(Setting setting) {
        return number(setting);
    }

    public long nanos(Setting setting) {
        return Duration.ofMillis(number(setting)).toNanos();
    }

    public Duration duration(Setting setting) {
        return Duration.ofMillis(number(setting));
    }

    /** Lower-case names of a comma-separated setting. */
    public Set<String> names(Setting setting) {
        Set<String> names = new LinkedHashSet<>();
        for (String name : text(setting).split(",", -1)) {
            if (!name.isBlank()) {
                names.add(name.trim().toLowerCase(Locale.ROOT));
            }
        }
        return names;
    }

    private long number(Setting setting) {
        return value(numbers, setting);
    }

    private static <T> T value(Map<Setting, T> values, Setting setting) {
        T value = values.get(setting);
        if (value == null) {
            throw new IllegalStateException(setting.key() + " is of kind " + setting.kind());
        }
        return value;
    }

    private void between(Setting setting, long least, long most) {
        long value = number(setting);
        if (value < least || value > most) {
            String range = most == Long.MAX_VALUE ? "at least " + least : least + " to " + most;
            throw invalid(setting, text(setting), range);
        }
    }

    private static long parseInteger(Setting setting, String value) {
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException e) {
            throw invalid(setting, value, setting.kind().expected());
        }
    }

    private static long known(Setting setting, String value, OptionalLong number) {
        return number.orElseThrow(() -> invalid(setting, value, setting.kind().expected()));
    }

    private static IllegalArgumentException invalid(Setting setting, String value, String expected) {
        return new IllegalArgumentException(setting.key() + ": '" + value + "' (expected: " + expected
                + "; environment: " + setting.environmentName() + ")");
    }
}
