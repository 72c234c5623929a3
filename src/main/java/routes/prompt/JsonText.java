package routes.prompt;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import routes.error.GatewayException;

/** Decodes JSON strings: UTF-8 and escapes to characters. Malformed UTF-8 becomes U+FFFD. */
final class JsonText {

    /** The most bytes that one character takes: {@code \}{@code uXXXX}. */
    static final int MAX_BYTES_PER_CHAR = 6;

    private JsonText() {}

    /**
     * The text between two quotes.
     *
     * @param view the body
     * @param from offset behind the opening quote
     * @param to offset of the closing quote
     * @param maxChars how many characters to keep; a surrogate pair is never split
     * @throws GatewayException INVALID_JSON for an unknown escape within what is kept
     */
    static String decode(ByteBuffer view, int from, int to, int maxChars) throws GatewayException {
        // One character more than is kept, so that neither a cut-off sequence nor half a pair is within what is kept.
        int enough = maxChars + 1;
        int length = (int) Math.min(to - from, (long) enough * MAX_BYTES_PER_CHAR);
        byte[] raw = new byte[length];
        view.get(from, raw);
        int slash = backslash(raw, 0);
        if (slash == length && length <= maxChars) {
            return new String(raw, StandardCharsets.UTF_8);
        }
        StringBuilder text = new StringBuilder(Math.min(length, enough));
        int at = 0;
        while (true) {
            text.append(new String(raw, at, slash - at, StandardCharsets.UTF_8));
            if (slash == length || text.length() >= enough) {
                break;
            }
            at = unescape(raw, slash, from, text);
            slash = backslash(raw, at);
        }
        if (text.length() > maxChars) {
            text.setLength(maxChars > 0 && isSplit(text, maxChars) ? maxChars - 1 : maxChars);
        }
        return text.toString();
    }

    private static boolean isSplit(CharSequence text, int at) {
        return Character.isSurrogatePair(text.charAt(at - 1), text.charAt(at));
    }

    private static int backslash(byte[] raw, int from) {
        int at = from;
        while (at < raw.length && raw[at] != '\\') {
            at++;
        }
        return at;
    }

    private static int unescape(byte[] raw, int slash, int base, StringBuilder text) throws GatewayException {
        char c = slash + 1 < raw.length ? (char) raw[slash + 1] : 0;
        switch (c) {
            case '"', '\\', '/' -> text.append(c);
            case 'b' -> text.append('\b');
            case 'f' -> text.append('\f');
            case 'n' -> text.append('\n');
            case 'r' -> text.append('\r');
            case 't' -> text.append('\t');
            case 'u' -> {
                text.append(hex(raw, slash, base));
                return slash + MAX_BYTES_PER_CHAR;
            }
            default -> throw JsonWalk.invalid("an unknown escape", base + slash);
        }
        return slash + 2;
    }

    private static char hex(byte[] raw, int slash, int base) throws GatewayException {
        if (slash + MAX_BYTES_PER_CHAR > raw.length) {
            throw JsonWalk.invalid("an escape that is cut off", base + slash);
        }
        int value = 0;
        for (int i = slash + 2; i < slash + MAX_BYTES_PER_CHAR; i++) {
            int digit = raw[i] < 0 ? -1 : Character.digit(raw[i], 16);
            if (digit < 0) {
                throw JsonWalk.invalid("an escape without four hexadecimal digits", base + slash);
            }
            value = value << 4 | digit;
        }
        return (char) value;
    }
}
