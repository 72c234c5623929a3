package routes.vllm;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.ThreadLocalRandom;
import routes.net.HeadBytes;

/** The value of {@code traceparent} (W3C Trace Context): the trace that a request belongs to. */
final class TraceParent {

    private static final int LENGTH = 55;
    private static final int TRACE_ID = 3;
    private static final int PARENT_ID = 36;
    private static final int FLAGS = 53;
    private static final byte[] VERSION = ascii("traceparent: 00-");
    private static final byte[] DASH = ascii("-");
    private static final byte[] NOT_SAMPLED = ascii("-00\r\n");

    private TraceParent() {}

    /** Whether a value names a trace that can go on. */
    static boolean isWellFormed(byte[] bytes, int start, int length) {
        if (length < LENGTH) {
            return false;
        }
        boolean firstVersion = bytes[start] == '0' && bytes[start + 1] == '0';
        boolean noVersion = bytes[start] == 'f' && bytes[start + 1] == 'f';
        if (noVersion || length > LENGTH && (firstVersion || bytes[start + LENGTH] != '-')) {
            return false;
        }
        return bytes[start + TRACE_ID - 1] == '-'
                && bytes[start + PARENT_ID - 1] == '-'
                && bytes[start + FLAGS - 1] == '-'
                && isHex(bytes, start, start + TRACE_ID - 1)
                && isId(bytes, start + TRACE_ID, start + PARENT_ID - 1)
                && isId(bytes, start + PARENT_ID, start + FLAGS - 1)
                && isHex(bytes, start + FLAGS, start + LENGTH);
    }

    /** Appends the header line of a trace that begins here, not sampled. */
    static void begin(HeadBytes out) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        // an id of zeros only is none
        out.put(VERSION).putHex(random.nextLong()).putHex(random.nextLong() | 1);
        out.put(DASH).putHex(random.nextLong() | 1).put(NOT_SAMPLED);
    }

    private static boolean isId(byte[] bytes, int from, int to) {
        boolean zero = true;
        for (int i = from; i < to; i++) {
            zero &= bytes[i] == '0';
        }
        return !zero && isHex(bytes, from, to);
    }

    private static boolean isHex(byte[] bytes, int from, int to) {
        for (int i = from; i < to; i++) {
            byte b = bytes[i];
            if ((b < '0' || b > '9') && (b < 'a' || b > 'f')) {
                return false;
            }
        }
        return true;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
