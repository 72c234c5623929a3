package routes.prompt;

import java.nio.ByteBuffer;
import routes.error.ErrorCode;
import routes.error.GatewayException;

/**
 * Steps over JSON in a buffer and checks its structure on the way. Offsets go in and come out; the walk keeps only the
 * span of the last key.
 *
 * <p>Checked are brackets, commas, colons, literals, and that numbers consist of a number's characters. Strings are
 * searched for their end only: escapes, control characters and UTF-8 inside are left to whoever decodes them.
 *
 * <p><b>Threading</b>: confined to one scan. <b>Failure</b>: whatever is not JSON is INVALID_JSON, and the message says
 * what stands at which byte.
 */
final class JsonWalk {

    /** The most arrays and objects inside one another, the body's own object included. */
    static final int MAX_DEPTH = 128;

    private final ByteBuffer view;
    private final int limit;
    private int keyStart;
    private int keyEnd;

    /** @param view little-endian, from the body's first byte to its last; borrowed */
    JsonWalk(ByteBuffer view) {
        this.view = view;
        this.limit = view.limit();
    }

    static GatewayException invalid(String what, int at) {
        return new GatewayException(
                ErrorCode.INVALID_JSON, "The body is not valid JSON: " + what + " at byte " + at + ".");
    }

    /** Start of the last key's text, behind its opening quote. */
    int keyStart() {
        return keyStart;
    }

    /** End of the last key's text, at its closing quote. */
    int keyEnd() {
        return keyEnd;
    }

    /** The byte at an offset at which the document must go on. */
    byte peek(int at) throws GatewayException {
        if (at >= limit) {
            throw cutOff();
        }
        return view.get(at);
    }

    /** The first offset from {@code at} on that holds no white space; the body's length if there is none. */
    int blank(int at) {
        int end = at;
        while (end < limit) {
            byte b = view.get(end);
            if (b > ' ' || b != ' ' && b != '\n' && b != '\r' && b != '\t') {
                break;
            }
            end++;
        }
        return end;
    }

    /**
     * Enters an array or object.
     *
     * @param open offset of its opening bracket
     * @return the offset of its first element, or {@code ~end} if it is empty
     */
    int first(int open, char close) throws GatewayException {
        int at = blank(open + 1);
        return peek(at) == close ? ~(at + 1) : at;
    }

    /**
     * Goes on behind an element.
     *
     * @return the offset of the next element, or {@code ~end} if that was the last
     */
    int next(int end, char close) throws GatewayException {
        int at = blank(end);
        byte b = peek(at);
        if (b == ',') {
            return blank(at + 1);
        }
        if (b == close) {
            return ~(at + 1);
        }
        throw invalid("no ',' or '" + close + "'", at);
    }

    /** Steps over a key and its colon to the value. */
    int key(int at) throws GatewayException {
        if (peek(at) != '"') {
            throw invalid("no key in quotes", at);
        }
        int end = string(at);
        keyStart = at + 1;
        keyEnd = end - 1;
        int colon = blank(end);
        if (peek(colon) != ':') {
            throw invalid("no ':'", colon);
        }
        return blank(colon + 1);
    }

    /** Steps over a string, from its opening quote. */
    int string(int at) throws GatewayException {
        int end = Quotes.end(view, at + 1, limit);
        if (end < 0) {
            throw cutOff();
        }
        return end;
    }

    /**
     * Steps over any value.
     *
     * @param depth how many arrays and objects the value stands in
     */
    int value(int at, int depth) throws GatewayException {
        byte b = peek(at);
        if (b == '"') {
            return string(at);
        }
        return b == '{' || b == '[' ? nested(at, depth) : scalar(at);
    }

    private int nested(int from, int depth) throws GatewayException {
        int at = from;
        int open = 0;
        // One bit for each open bracket, the innermost lowest: set for an object.
        long inner = 0;
        long outer = 0;
        while (true) {
            byte b = peek(at);
            boolean object = b == '{';
            if (object || b == '[') {
                if (depth + ++open > MAX_DEPTH) {
                    throw invalid("nesting deeper than " + MAX_DEPTH, at);
                }
                outer = outer << 1 | inner >>> 63;
                inner = inner << 1 | (object ? 1 : 0);
                at = first(at, object ? '}' : ']');
            } else {
                at = next(b == '"' ? string(at) : scalar(at), (inner & 1) != 0 ? '}' : ']');
            }
            while (at < 0) {
                inner = inner >>> 1 | outer << 63;
                outer >>>= 1;
                if (--open == 0) {
                    return ~at;
                }
                at = next(~at, (inner & 1) != 0 ? '}' : ']');
            }
            if ((inner & 1) != 0) {
                at = key(at);
            }
        }
    }

    private int scalar(int at) throws GatewayException {
        byte b = peek(at);
        int end =
                switch (b) {
                    case 't' -> literal(at, "true");
                    case 'f' -> literal(at, "false");
                    case 'n' -> literal(at, "null");
                    default -> number(at);
                };
        if (end == limit) {
            throw cutOff();
        }
        return end;
    }

    private int literal(int at, String word) throws GatewayException {
        for (int i = 1; i < word.length(); i++) {
            if (peek(at + i) != word.charAt(i)) {
                throw invalid("an unknown word", at);
            }
        }
        return at + word.length();
    }

    private int number(int at) throws GatewayException {
        byte sign = view.get(at);
        if (sign != '-' && (sign < '0' || sign > '9')) {
            throw invalid("no value", at);
        }
        int end = at + 1;
        while (end < limit && isNumeric(view.get(end))) {
            end++;
        }
        return end;
    }

    private static boolean isNumeric(byte b) {
        return b >= '0' && b <= '9' || b == '.' || b == 'e' || b == 'E' || b == '-' || b == '+';
    }

    private GatewayException cutOff() {
        return invalid("it ends too early,", limit);
    }
}
