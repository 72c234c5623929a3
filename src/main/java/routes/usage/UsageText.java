package routes.usage;

/**
 * Text inside a JSON line: UTF-8 that is always valid (a lone surrogate becomes U+FFFD, and so does NUL, which databases
 * refuse) and bounded, with every character
 * escaped that could end a line or hide in a terminal: quote, backslash, the control characters of ASCII and of C1, DEL,
 * U+2028, U+2029.
 */
final class UsageText {

    /** The most that a name or an id takes of a line. */
    static final int ID_BYTES = 128;

    /** The most that any other text takes. */
    static final int TEXT_BYTES = 256;

    private static final byte[] HEX = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
    private static final boolean[] PLAIN = new boolean[128];

    static {
        for (char c = ' '; c < 0x7f; c++) {
            PLAIN[c] = c != '"' && c != '\\';
        }
    }

    private UsageText() {}

    /**
     * The longest beginning of a text that takes at most so many bytes of a line, its lone surrogates and NULs replaced
     * by U+FFFD. No pair is cut in two.
     */
    static String fit(String text, int maxBytes) {
        StringBuilder out = new StringBuilder(Math.min(text.length(), maxBytes));
        int bytes = 0;
        for (int i = 0; i < text.length(); ) {
            int c = text.codePointAt(i);
            i += Character.charCount(c);
            if (c == 0 || c >= 0xd800 && c <= 0xdfff) {
                c = 0xfffd;
            }
            bytes += bytes(c);
            if (bytes > maxBytes) {
                break;
            }
            out.appendCodePoint(c);
        }
        return out.toString();
    }

    /** Writes what fits of a text, without its quotes, in at most so many bytes. Returns the end. */
    static int write(String text, int maxBytes, byte[] to, int at) {
        int length = text.length();
        if (length <= maxBytes) {
            int i = 0;
            for (; i < length; i++) {
                char c = text.charAt(i);
                if (c >= 128 || !PLAIN[c]) {
                    break;
                }
                to[at + i] = (byte) c;
            }
            if (i == length) {
                return at + length;
            }
        }
        return writeAll(fit(text, maxBytes), to, at);
    }

    private static int bytes(int c) {
        if (c < 128 && PLAIN[c]) {
            return 1;
        }
        if (c == '"' || c == '\\') {
            return 2;
        }
        if (escaped(c)) {
            return 6;
        }
        return c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    }

    private static int writeAll(String text, byte[] to, int at) {
        for (int i = 0; i < text.length(); ) {
            int c = text.codePointAt(i);
            i += Character.charCount(c);
            at = writeOne(c, to, at);
        }
        return at;
    }

    private static int writeOne(int c, byte[] to, int at) {
        if (c < 128 && PLAIN[c]) {
            to[at++] = (byte) c;
        } else if (c == '"' || c == '\\') {
            to[at++] = '\\';
            to[at++] = (byte) c;
        } else if (escaped(c)) {
            to[at++] = '\\';
            to[at++] = 'u';
            to[at++] = HEX[c >> 12];
            to[at++] = HEX[(c >> 8) & 15];
            to[at++] = HEX[(c >> 4) & 15];
            to[at++] = HEX[c & 15];
        } else if (c < 0x800) {
            to[at++] = (byte) (0xc0 | (c >> 6));
            to[at++] = (byte) (0x80 | (c & 0x3f));
        } else {
            if (c < 0x10000) {
                to[at++] = (byte) (0xe0 | (c >> 12));
            } else {
                to[at++] = (byte) (0xf0 | (c >> 18));
                to[at++] = (byte) (0x80 | ((c >> 12) & 0x3f));
            }
            to[at++] = (byte) (0x80 | ((c >> 6) & 0x3f));
            to[at++] = (byte) (0x80 | (c & 0x3f));
        }
        return at;
    }

    private static boolean escaped(int c) {
        return c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;
    }
}
