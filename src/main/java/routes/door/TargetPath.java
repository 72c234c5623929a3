package routes.door;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import routes.error.ErrorCode;
import routes.error.GatewayException;

/**
 * The one spelling of a request's path. Escapes of unreserved characters are decoded (RFC 3986 section 6.2.2), all others
 * stay with their hex digits in upper case. What servers are known to read differently is refused and never repaired: dot
 * segments, empty segments, backslashes and control characters, escaped or not.
 */
final class TargetPath {

    /** Bytes of a path as the client sends it. */
    static final int MAX_BYTES = 2048;

    private static final byte[] HEX = "0123456789ABCDEF".getBytes(StandardCharsets.US_ASCII);

    private TargetPath() {}

    /**
     * Normalises the path that stands from {@code start} to {@code end}: it begins with a slash and holds neither
     * controls nor bytes beyond ASCII.
     */
    static String normalise(byte[] bytes, int start, int end) throws GatewayException {
        if (end - start > MAX_BYTES) {
            throw bad("The path is longer than " + MAX_BYTES + " bytes.");
        }
        for (int i = start; i < end; i++) {
            if (bytes[i] == '%') {
                return decoded(bytes, start, end, i);
            }
        }
        return checked(bytes, start, end);
    }

    private static String decoded(byte[] bytes, int start, int end, int firstEscape) throws GatewayException {
        byte[] out = Arrays.copyOfRange(bytes, start, end);
        int length = firstEscape - start;
        for (int i = firstEscape; i < end; i++) {
            byte c = bytes[i];
            if (c != '%') {
                out[length++] = c;
                continue;
            }
            int high = i + 2 < end ? Character.digit(bytes[i + 1], 16) : -1;
            int low = i + 2 < end ? Character.digit(bytes[i + 2], 16) : -1;
            if (high < 0 || low < 0) {
                throw bad("The path holds a percent sign without two hex digits.");
            }
            i += 2;
            int value = high << 4 | low;
            if (value < 0x20 || value == 0x7f || value == '\\') {
                throw bad("The path holds an escaped control character or backslash.");
            }
            if (Octets.isUnreserved((byte) value)) {
                out[length++] = (byte) value;
            } else {
                out[length++] = '%';
                out[length++] = HEX[high];
                out[length++] = HEX[low];
            }
        }
        return checked(out, 0, length);
    }

    private static String checked(byte[] path, int start, int end) throws GatewayException {
        for (int i = start; i < end; i++) {
            byte c = path[i];
            if (c == '\\') {
                throw bad("The path holds a backslash.");
            }
            if (c == '/' && i + 1 < end && path[i + 1] == '/') {
                throw bad("The path holds an empty segment.");
            }
            if (c == '.' && startsSegment(path, start, i) && isDotSegment(path, i, end)) {
                throw bad("The path holds a dot segment.");
            }
        }
        return new String(path, start, end - start, StandardCharsets.ISO_8859_1);
    }

    private static boolean startsSegment(byte[] path, int start, int i) {
        return path[i - 1] == '/' || (i - start > 3 && isEscapedSlash(path, i - 3));
    }

    /** Whether all of the segment is one or two dots, as servers see it that decode %2F or cut parameters off. */
    private static boolean isDotSegment(byte[] path, int start, int end) {
        int i = start + 1;
        if (i < end && path[i] == '.') {
            i++;
        }
        return i == end || path[i] == '/' || path[i] == ';' || isEscapedSlash(path, i);
    }

    private static boolean isEscapedSlash(byte[] path, int i) {
        return path[i] == '%' && path[i + 1] == '2' && path[i + 2] == 'F';
    }

    private static GatewayException bad(String message) {
        return new GatewayException(ErrorCode.BAD_REQUEST, message);
    }
}
