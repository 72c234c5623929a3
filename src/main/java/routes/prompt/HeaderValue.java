package routes.prompt;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A header's value with parameters, such as {@code form-data; name="file"; filename="a; b.wav"}. What servers read differently
 * is no such value: a parameter that stands there twice, a quote that is not closed, two backslashes in a quoted text.
 *
 * @param value in lower case, such as {@code multipart/form-data}
 * @param parameters by their names in lower case; a quoted text without its quotes
 */
record HeaderValue(String value, Map<String, String> parameters) {

    /** Null when it can't be read in one way only. */
    static @Nullable HeaderValue parse(String text) {
        int semicolon = text.indexOf(';');
        String value = (semicolon < 0 ? text : text.substring(0, semicolon)).strip();
        Map<String, String> parameters = new HashMap<>();
        int at = semicolon < 0 ? text.length() : semicolon + 1;
        while (at < text.length()) {
            int equals = at;
            while (equals < text.length() && text.charAt(equals) != '=' && text.charAt(equals) != ';') {
                equals++;
            }
            String name = text.substring(at, equals).strip().toLowerCase(Locale.ROOT);
            if (equals == text.length() || text.charAt(equals) == ';') {
                if (!name.isEmpty()) {
                    return null;
                }
                at = equals + 1;
                continue;
            }
            int start = equals + 1;
            boolean quoted = start < text.length() && text.charAt(start) == '"';
            int end = quoted ? quote(text, start + 1) : semicolon(text, start);
            String found = end < 0 ? null : quoted ? unescaped(text, start + 1, end) : plain(text, start, end);
            // blanks around the equals sign are no syntax, but some servers pass over them
            boolean spaced = equals > at && text.charAt(equals - 1) <= ' ';
            if (name.isEmpty() || spaced || found == null || parameters.put(name, found) != null) {
                return null;
            }
            at = quoted ? blanks(text, end + 1) : end;
            if (at < text.length() && text.charAt(at++) != ';') {
                return null;
            }
        }
        return new HeaderValue(value.toLowerCase(Locale.ROOT), parameters);
    }

    private static int blanks(String text, int from) {
        int at = from;
        while (at < text.length() && (text.charAt(at) == ' ' || text.charAt(at) == '\t')) {
            at++;
        }
        return at;
    }

    private static int semicolon(String text, int from) {
        int at = text.indexOf(';', from);
        return at < 0 ? text.length() : at;
    }

    /** The closing quote; -1 without one, or where it depends on who reads it. */
    private static int quote(String text, int from) {
        for (int at = from; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c == '"') {
                return at;
            }
            if (c == '\\' && at + 1 < text.length()) {
                if (text.charAt(at + 1) == '\\') {
                    return -1;
                }
                if (text.charAt(at + 1) == '"') {
                    at++;
                }
            }
        }
        return -1;
    }

    private static String unescaped(String text, int from, int to) {
        return text.substring(from, to).replace("\\\"", "\"");
    }

    private static @Nullable String plain(String text, int from, int to) {
        String found = text.substring(from, to).stripTrailing();
        return found.isEmpty() || found.charAt(0) <= ' ' || found.indexOf('"') >= 0 || found.indexOf('\\') >= 0
                ? null
                : found;
    }
}
