package routes.health;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import routes.config.Setting;
import routes.config.Settings;

/**
 * How replicas are watched; the same for all of them.
 *
 * @param slowStart time in which a replica that has come back gets all of its slots; zero for at once
 */
public record WatchSettings(Health health, Duration slowStart, Load load) {

    private static final Duration SHORTEST = Duration.ofMillis(10);
    private static final Duration LONGEST = Duration.ofHours(1);
    private static final Duration LONGEST_TIMEOUT = Duration.ofMinutes(1);
    private static final int MOST_IN_A_ROW = 1000;
    private static final int MOST_NAMES = 16;
    private static final Pattern METRIC = Pattern.compile("[a-zA-Z_:][a-zA-Z0-9_:]{0,199}");

    /**
     * How often a replica is probed and what that means.
     *
     * @param timeout for the whole answer
     * @param misses in a row until it is down
     * @param hits in a row until it is up again
     */
    public record Health(Duration interval, Duration timeout, int misses, int hits) {
        public Health {
            between(Setting.HEALTH_INTERVAL, interval, SHORTEST, LONGEST);
            between(Setting.HEALTH_TIMEOUT, timeout, SHORTEST, LONGEST_TIMEOUT);
            between(Setting.HEALTH_MISSES, misses);
            between(Setting.HEALTH_HITS, hits);
        }
    }

    /**
     * How often a replica's load is read, and where it stands.
     *
     * @param maxAge after which a reading counts no more
     * @param running names of the metric with the requests that run; the first that a replica has counts
     * @param waiting names of the metric with those that wait; may be empty
     */
    public record Load(Duration interval, Duration maxAge, List<String> running, List<String> waiting) {
        public Load {
            between(Setting.LOAD_INTERVAL, interval, SHORTEST, LONGEST);
            between(Setting.LOAD_MAX_AGE, maxAge, interval, LONGEST);
            running = metrics(Setting.LOAD_RUNNING, running);
            waiting = metrics(Setting.LOAD_WAITING, waiting);
            if (running.isEmpty()) {
                throw invalid(Setting.LOAD_RUNNING, "''", "at least one metric");
            }
        }
    }

    /** @throws IllegalArgumentException naming the setting and what is expected */
    public static WatchSettings of(Settings settings) {
        return new WatchSettings(
                new Health(
                        settings.duration(Setting.HEALTH_INTERVAL),
                        settings.duration(Setting.HEALTH_TIMEOUT),
                        settings.integer(Setting.HEALTH_MISSES),
                        settings.integer(Setting.HEALTH_HITS)),
                settings.duration(Setting.SLOW_START),
                new Load(
                        settings.duration(Setting.LOAD_INTERVAL),
                        settings.duration(Setting.LOAD_MAX_AGE),
                        list(settings.text(Setting.LOAD_RUNNING)),
                        list(settings.text(Setting.LOAD_WAITING))));
    }

    public WatchSettings {
        between(Setting.SLOW_START, slowStart, Duration.ZERO, LONGEST);
    }

    private static List<String> list(String text) {
        return Stream.of(text.split(",", -1))
                .map(String::trim)
                .filter(name -> !name.isEmpty())
                .toList();
    }

    private static List<String> metrics(Setting setting, List<String> names) {
        for (String name : names) {
            if (!METRIC.matcher(name).matches()) {
                throw invalid(setting, "'" + name + "'", "names of metrics, separated by commas");
            }
        }
        if (names.size() > MOST_NAMES) {
            throw invalid(setting, names.size() + " names", "at most " + MOST_NAMES);
        }
        return List.copyOf(names);
    }

    private static void between(Setting setting, Duration value, Duration least, Duration most) {
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw invalid(setting, text(value), text(least) + " to " + text(most));
        }
    }

    private static void between(Setting setting, int value) {
        if (value < 1 || value > MOST_IN_A_ROW) {
            throw invalid(setting, Integer.toString(value), "1 to " + MOST_IN_A_ROW);
        }
    }

    private static String text(Duration duration) {
        return duration.toMillis() % 1000 == 0 ? duration.toSeconds() + "s" : duration.toMillis() + "ms";
    }

    private static IllegalArgumentException invalid(Setting setting, String value, String expected) {
        return new IllegalArgumentException(String.format(
                Locale.ROOT,
                "%s: %s (expected: %s; environment: %s)",
                setting.key(),
                value,
                expected,
                setting.environmentName()));
    }
}
