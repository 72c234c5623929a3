package routes.door;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** The classes of bytes that RFC 9110 and RFC 9112 build a head from. */
final class Octets {

    private static final byte TOKEN = 1;
    private static final byte TARGET = 2;
    private static final byte AUTHORITY = 4;
    private static final byte UNRESERVED = 8;
    private static final byte[] CLASSES = classes();

    private static final VarHandle WORD = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long ONES = 0x0101010101010101L;
    private static final long LINE_FEEDS = 0x0a0a0a0a0a0a0a0aL;
    private static final long SPACES = 0x2020202020202020L;
    private static final long DELETES = 0x7f7f7f7f7f7f7f7fL;
    private static final long HIGH_BITS = 0x8080808080808080L;

    private Octets() {}

    /** Whether the byte may stand in a method or in a header's name (RFC 9110 section 5.6.2). */
    static boolean isToken(byte c) {
        return (CLASSES[c & 0xff] & TOKEN) != 0;
    }

    /** Whether the byte may stand in a request target: printable ASCII but for the start of a fragment. */
    static boolean isTarget(byte c) {
        return (CLASSES[c & 0xff] & TARGET) != 0;
    }

    /** Whether a server never changes the meaning of a URL when it decodes this byte (RFC 3986 section 2.3). */
    static boolean isUnreserved(byte c) {
        return (CLASSES[c & 0xff] & UNRESERVED) != 0;
    }

    static boolean isDigit(byte c) {
        return c >= '0' && c <= '9';
    }

    /** Whether the byte may not stand in a header's value. */
    static boolean isControl(byte c) {
        return (c >= 0 && c < ' ' && c != '\t') || c == 0x7f;
    }

    static boolean isBlank(byte c) {
        return c == ' ' || c == '\t';
    }

    /** Whether the bytes can be a host with an optional port; user information and lists can not. */
    static boolean isAuthority(byte[] bytes, int start, int end) {
        for (int i = start; i < end; i++) {
            if ((CLASSES[bytes[i] & 0xff] & AUTHORITY) == 0) {
                return false;
            }
        }
        return end > start && bytes[start] != ':';
    }

    /** The first line feed from {@code from} on, or {@code end}. */
    static int lineFeed(byte[] bytes, int from, int end) {
        int at = from;
        while (at <= end - Long.BYTES) {
            long lineFeedAsZero = (long) WORD.get(bytes, at) ^ LINE_FEEDS;
            long found = (lineFeedAsZero - ONES) & ~lineFeedAsZero & HIGH_BITS;
            if (found != 0) {
                return at + (Long.numberOfTrailingZeros(found) >>> 3);
            }
            at += Long.BYTES;
        }
        while (at < end && bytes[at] != '\n') {
            at++;
        }
        return at;
    }

    /** The first control character other than a tab; there must be one. */
    static int control(byte[] bytes, int from) {
        int at = from;
        while (at <= bytes.length - Long.BYTES) {
            long word = (long) WORD.get(bytes, at);
            long deleteAsZero = word ^ DELETES;
            // the lowest bit that is set marks the first byte below 0x20 or equal to 0x7f
            long found = (((word - SPACES) & ~word) | ((deleteAsZero - ONES) & ~deleteAsZero)) & HIGH_BITS;
            if (found == 0) {
                at += Long.BYTES;
            } else {
                at += Long.numberOfTrailingZeros(found) >>> 3;
                if (bytes[at] != '\t') {
                    return at;
                }
                at++;
            }
        }
        while (!isControl(bytes[at])) {
            at++;
        }
        return at;
    }

    /** The first byte from {@code start} on that is neither a space nor a tab, or {@code end}. */
    static int skipBlanks(byte[] bytes, int start, int end) {
        int at = start;
        while (at < end && isBlank(bytes[at])) {
            at++;
        }
        return at;
    }

    /** The end without the spaces and tabs before it. */
    static int trimEnd(byte[] bytes, int start, int end) {
        int at = end;
        while (at > start && isBlank(bytes[at - 1])) {
            at--;
        }
        return at;
    }

    private static byte[] classes() {
        byte[] classes = new byte[256];
        for (int c = '!'; c <= '~'; c++) {
            boolean alphanumeric = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            int of = c == '#' ? 0 : TARGET;
            if (alphanumeric || "!#$%&'*+-.^_`|~".indexOf(c) >= 0) {
                of |= TOKEN;
            }
            if (alphanumeric || "-._~%:[]".indexOf(c) >= 0) {
                of |= AUTHORITY;
            }
            if (alphanumeric || "-._~".indexOf(c) >= 0) {
                of |= UNRESERVED;
            }
            classes[c] = (byte) of;
        }
        return classes;
    }
}
