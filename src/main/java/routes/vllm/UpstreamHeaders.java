package routes.vllm;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** The rules for request headers that configuration adds: which names it may use, and how a value may look. */
final class UpstreamHeaders {

    /** They belong to one connection, whoever sends them (RFC 9110, 7.6.1). */
    private static final Set<String> OF_THE_CONNECTION = Set.of(
            "connection",
            "expect",
            "http2-settings",
            "keep-alive",
            "proxy-authenticate",
            "proxy-connection",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade");

    private static final Set<String> CREDENTIALS =
            Set.of("api-key", "authorization", "cookie", "proxy-authorization", "x-api-key", "x-goog-api-key");

    private static final Set<String> WRITTEN =
            Set.of("accept-encoding", "content-encoding", "content-length", "content-type", "host", "x-request-id");

    /** Copied from the client's request wherever they are there. */
    private static final Set<String> COPIED = Set.of("accept", "traceparent", "tracestate");

    private static final String OTHER_TOKEN_CHARACTERS = "!#$%&'*+-.^_`|~";

    private UpstreamHeaders() {}

    /**
     * The client's headers that may go upstream, without those that do so anyway.
     *
     * @param names in lower case
     * @throws IllegalArgumentException for a name that must not go upstream
     */
    static Set<String> forwarded(Set<String> names) {
        Set<String> kept = new LinkedHashSet<>(names);
        kept.removeAll(COPIED);
        for (String name : kept) {
            String what = "gateway.forward-headers: '" + name + "'";
            checkToken(what, name);
            if (CREDENTIALS.contains(name)) {
                throw new IllegalArgumentException(what + " (expected: no header with a client's credentials)");
            }
            checkFree(what, name);
        }
        return kept;
    }

    /**
     * An endpoint's own headers by their names in lower case, values trimmed.
     *
     * @throws IllegalArgumentException for a name or value that can not be sent
     */
    static Map<String, String> own(Map<String, Object> headers) {
        Map<String, String> checked = new LinkedHashMap<>();
        headers.forEach((written, value) -> {
            String what = "header." + written;
            String name = written.toLowerCase(Locale.ROOT);
            checkToken(what, name);
            if (CREDENTIALS.contains(name)) {
                throw new IllegalArgumentException(what + " (expected: apiKey, and apiKeyHeader if need be)");
            }
            if (COPIED.contains(name)) {
                throw new IllegalArgumentException(what + " (expected: no header that comes from the client)");
            }
            checkFree(what, name);
            if (checked.put(name, checkedValue(what, String.valueOf(value).trim())) != null) {
                throw new IllegalArgumentException(what + ": given twice");
            }
        });
        return checked;
    }

    /** @throws IllegalArgumentException when a key can not be sent in a header of this name */
    static String keyHeader(String written) {
        String what = "apiKeyHeader: '" + written + "'";
        String name = written.toLowerCase(Locale.ROOT);
        checkToken(what, name);
        checkFree(what, name);
        return name;
    }

    /** Lower-case names that a list such as the value of {@code Connection} has. */
    static Set<String> tokens(String list) {
        Set<String> names = new HashSet<>();
        for (String token : list.split(",", -1)) {
            names.add(token.trim().toLowerCase(Locale.ROOT));
        }
        return names;
    }

    private static void checkFree(String what, String name) {
        if (OF_THE_CONNECTION.contains(name)) {
            throw new IllegalArgumentException(what + " (expected: no header that belongs to one connection)");
        }
        if (WRITTEN.contains(name)) {
            throw new IllegalArgumentException(what + " (expected: no header that the gateway writes itself)");
        }
    }

    private static void checkToken(String what, String name) {
        if (name.isEmpty() || !name.chars().allMatch(UpstreamHeaders::isTokenCharacter)) {
            throw new IllegalArgumentException(what + " (expected: the name of a header)");
        }
    }

    private static boolean isTokenCharacter(int c) {
        return c >= 'a' && c <= 'z'
                || c >= 'A' && c <= 'Z'
                || c >= '0' && c <= '9'
                || OTHER_TOKEN_CHARACTERS.indexOf(c) >= 0;
    }

    private static String checkedValue(String what, String value) {
        if (!value.chars().allMatch(c -> c == '\t' || c >= ' ' && c < 0x7f || c >= 0xa0 && c <= 0xff)) {
            throw new IllegalArgumentException(what + ": a character that no header may have");
        }
        return value;
    }
}
