package routes.relay;

import org.jspecify.annotations.Nullable;

/** What an answer's body holds, as far as the observer cares. */
public enum Content {
    /** Server-sent events with JSON inside. */
    SSE,
    /** One JSON document. */
    JSON,
    /** Anything else; not looked into. */
    OPAQUE;

    /**
     * By media type, in any case and with any parameters. A body with a {@code Content-Encoding} is opaque whatever its
     * type says; that is for the caller to know.
     *
     * @param contentType the header's value, such as {@code text/event-stream; charset=utf-8}, or null without one
     */
    public static Content of(@Nullable CharSequence contentType) {
        if (contentType == null) {
            return OPAQUE;
        }
        String value = contentType.toString().strip();
        if (isMediaType(value, "text/event-stream")) {
            return SSE;
        }
        return isMediaType(value, "application/json") ? JSON : OPAQUE;
    }

    private static boolean isMediaType(String value, String type) {
        if (!value.regionMatches(true, 0, type, 0, type.length())) {
            return false;
        }
        if (value.length() == type.length()) {
            return true;
        }
        char next = value.charAt(type.length());
        return next == ';' || next == ' ' || next == '\t';
    }
}
