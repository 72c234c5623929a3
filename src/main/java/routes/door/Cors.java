package routes.door;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import routes.config.Setting;
import routes.config.Settings;
import routes.request.RequestHead;

/**
 * Which pages of other origins may call the gateway from a browser (the fetch standard's CORS), and what answers tell
 * browsers of it. The lines for answers are made once, one set for each origin.
 *
 * <p><b>Threading:</b> immutable.
 */
final class Cors {

    private static final Pattern ORIGIN = Pattern.compile("[a-z][a-z0-9+.-]*://[a-z0-9.\\-\\[\\]:]+");
    private static final Pattern NAMES =
            Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+(?:[ \\t]*,[ \\t]*[A-Za-z0-9!#$%&'*+.^_`|~-]+)*");
    private static final int MOST_ASKED = 1024;
    private static final String ANY = "*";
    private static final String EXPOSED =
            "retry-after, x-dromedary-fallback, x-ratelimit-limit-requests, x-ratelimit-limit-tokens,"
                    + " x-ratelimit-remaining-requests, x-ratelimit-remaining-tokens, x-ratelimit-reset-requests,"
                    + " x-ratelimit-reset-tokens, x-request-id, x-should-retry";
    private static final String VARY = "vary: origin\r\n";

    private final Map<String, byte[]> lines = new LinkedHashMap<>();
    private final byte[] otherwise;
    private final boolean any;
    private final boolean credentials;
    private final String headers;
    private final String maxAge;

    private Cors(List<String> origins, boolean credentials, String headers, long maxAgeSeconds) {
        this.any = origins.contains(ANY);
        this.credentials = credentials;
        this.headers = headers;
        this.maxAge = Long.toString(maxAgeSeconds);
        String more = (credentials ? "access-control-allow-credentials: true\r\n" : "")
                + "access-control-expose-headers: " + EXPOSED + "\r\n";
        for (String origin : origins) {
            lines.put(origin, ascii("access-control-allow-origin: " + origin + "\r\n" + more + VARY));
        }
        // who may call doesn't depend on who asks, where everybody may
        this.otherwise = ascii(any ? "access-control-allow-origin: *\r\n" + more : VARY);
    }

    /**
     * Null where it is off.
     *
     * @throws IllegalArgumentException for what is no origin, for credentials together with every origin, and for headers that
     *     are none
     */
    static @Nullable Cors of(Settings settings) {
        List<String> origins = new ArrayList<>(settings.names(Setting.CORS_ORIGINS));
        if (origins.isEmpty()) {
            return null;
        }
        boolean any = origins.contains(ANY);
        for (String origin : origins) {
            if (any ? origins.size() > 1 : !ORIGIN.matcher(origin).matches()) {
                throw invalid(
                        Setting.CORS_ORIGINS, origin, "*, or origins such as https://chat.example.com, without a path");
            }
        }
        boolean credentials = settings.flag(Setting.CORS_CREDENTIALS);
        if (any && credentials) {
            throw invalid(
                    Setting.CORS_CREDENTIALS,
                    "true",
                    "false, or the origins one by one: browsers refuse both together");
        }
        String headers = settings.text(Setting.CORS_HEADERS);
        if (!headers.isEmpty() && !NAMES.matcher(headers).matches()) {
            throw invalid(Setting.CORS_HEADERS, headers, "*, or names of headers, separated by commas");
        }
        return new Cors(
                origins,
                credentials,
                headers,
                settings.duration(Setting.CORS_MAX_AGE).toSeconds());
    }

    /** Header lines for the answer to this request, each ended by CRLF. Shared; do not change. */
    byte[] lines(RequestHead head) {
        String origin = any ? null : head.header("origin");
        byte[] known = origin == null ? null : lines.get(origin.toLowerCase(Locale.ROOT));
        return known == null ? otherwise : known;
    }

    /**
     * Headers of the answer to OPTIONS, beside {@link #lines}.
     *
     * @param methods of the path, such as {@code GET, HEAD}
     */
    List<Map.Entry<String, String>> preflight(RequestHead head, String methods) {
        List<Map.Entry<String, String>> answer = new ArrayList<>();
        answer.add(Map.entry("allow", methods));
        boolean allowed =
                any || lines.containsKey(String.valueOf(head.header("origin")).toLowerCase(Locale.ROOT));
        if (allowed && head.header("access-control-request-method") != null) {
            answer.add(Map.entry("access-control-allow-methods", methods));
            String asked = head.header("access-control-request-headers");
            if (asked != null) {
                boolean echo = headers.equals(ANY)
                        && asked.length() <= MOST_ASKED
                        && NAMES.matcher(asked).matches();
                String names = headers.equals(ANY) ? echo ? asked : "" : headers;
                if (!names.isEmpty()) {
                    answer.add(Map.entry("access-control-allow-headers", names));
                }
                answer.add(Map.entry("vary", "access-control-request-headers"));
            }
            answer.add(Map.entry("access-control-max-age", maxAge));
        }
        return answer;
    }

    @Override
    public String toString() {
        return "Cors[" + lines.keySet() + (credentials ? ", credentials]" : "]");
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static IllegalArgumentException invalid(Setting setting, String value, String expected) {
        return new IllegalArgumentException(setting.key() + ": '" + value + "' (expected: " + expected
                + "; environment: " + setting.environmentName() + ")");
    }
}
