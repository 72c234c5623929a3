package routes.vllm;

import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import routes.config.Setting;
import routes.config.Settings;
import routes.replica.ReplicaOptions.HealthCheck;

/**
 * How the gateway talks to replicas.
 *
 * @param connectMillis for a connection, and once more for its TLS handshake
 * @param credentialRestNanos how long a refused key rests when the server doesn't say
 * @param forwardHeaders lower-case names of further request headers that go upstream
 */
public record UpstreamSettings(
        int connectMillis, Reuse reuse, long credentialRestNanos, Probes probes, Set<String> forwardHeaders) {

    /**
     * How long a connection is used.
     *
     * @param idleNanos between two requests
     * @param ageNanos from its beginning to its last request's
     */
    public record Reuse(long idleNanos, long ageNanos) {}

    /** Where replicas tell how they are, unless a route says otherwise; a path or {@code none}. */
    public record Probes(String healthPath, String loadPath) {

        private static final String NONE = "none";
        private static final Pattern STATUSES = Pattern.compile("([1-5]\\d\\d)(?:\\s*-\\s*([1-5]\\d\\d))?");

        /**
         * A route's health check.
         *
         * @param path null for the gateway's own
         * @param statuses such as {@code 204} or {@code 200-299}
         * @throws IllegalArgumentException naming the option
         */
        HealthCheck health(@Nullable String path, String statuses) {
            Matcher range = STATUSES.matcher(statuses.trim());
            int lowest = range.matches() ? Integer.parseInt(range.group(1)) : 0;
            int highest = lowest == 0 || range.group(2) == null ? lowest : Integer.parseInt(range.group(2));
            if (lowest == 0 || highest < lowest) {
                throw new IllegalArgumentException("healthStatus: '" + statuses
                        + "' (expected: a status such as 204, or a range such as 200-299)");
            }
            return new HealthCheck(path("healthPath", path == null ? healthPath : path), lowest, highest);
        }

        /** The path of a route's load reports, or nothing; see {@link #health}. */
        String load(@Nullable String path) {
            return path("loadPath", path == null ? loadPath : path);
        }

        private static String path(String option, String value) {
            if (value.equals(NONE)) {
                return "";
            }
            if (!value.startsWith("/") || !value.chars().allMatch(c -> c > ' ' && c < 0x7f && c != '#')) {
                throw new IllegalArgumentException(
                        option + ": '" + value + "' (expected: a path such as /health, or none)");
            }
            return value;
        }
    }

    /** @throws IllegalArgumentException for a header that must not go upstream */
    public UpstreamSettings {
        forwardHeaders = UpstreamHeaders.forwarded(forwardHeaders);
    }

    public static UpstreamSettings of(Settings settings) {
        return new UpstreamSettings(
                (int) Math.min(
                        Integer.MAX_VALUE,
                        settings.duration(Setting.CONNECT_TIMEOUT).toMillis()),
                new Reuse(settings.nanos(Setting.POOL_IDLE_TIMEOUT), settings.nanos(Setting.POOL_MAX_AGE)),
                settings.nanos(Setting.CREDENTIAL_REST),
                new Probes(settings.text(Setting.HEALTH_PATH), settings.text(Setting.LOAD_PATH)),
                settings.names(Setting.FORWARD_HEADERS));
    }
}
