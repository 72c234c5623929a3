package routes.relay;

/**
 * The framing of a chunked body, followed byte by byte and more strictly than most parsers: line ends are CRLF only, so
 * that whoever reads the same bytes behind us finds the same chunks.
 *
 * <p><b>Threading</b>: event-loop confined.
 *
 * <p><b>Failure</b>: a broken frame leaves the scanner {@link #malformed()} for good, standing at the byte at fault.
 */
final class ChunkScanner {

    /** Bytes of a chunk-size line with its extension. */
    static final int MAX_SIZE_LINE = 1024;
    /** Bytes of all trailers. */
    static final int MAX_TRAILERS = 8 * 1024;
    /** Hex digits of a chunk size. */
    static final int MAX_SIZE_DIGITS = 15;

    private static final int SIZE_START = 0;
    private static final int SIZE = 1;
    private static final int EXTENSION = 2;
    private static final int SIZE_LF = 3;
    private static final int DATA = 4;
    private static final int DATA_CR = 5;
    private static final int DATA_LF = 6;
    private static final int TRAILER_START = 7;
    private static final int TRAILER = 8;
    private static final int TRAILER_LF = 9;
    private static final int END_LF = 10;
    private static final int END = 11;
    private static final int MALFORMED = 12;

    private int state = SIZE_START;
    private int lineBytes;
    private long left;

    /** Whether nothing of a chunk has begun. */
    boolean atBoundary() {
        return state == SIZE_START;
    }

    /** Whether the next byte is data. */
    boolean inData() {
        return state == DATA;
    }

    /** Whether the line of the last chunk was seen. */
    boolean afterLastChunk() {
        return state >= TRAILER_START && state <= END;
    }

    boolean ended() {
        return state == END;
    }

    boolean malformed() {
        return state == MALFORMED;
    }

    /** How many of the given bytes are data of the current chunk; they count as read. */
    int takeData(int available) {
        int taken = (int) Math.min(left, available);
        left -= taken;
        if (left == 0) {
            state = DATA_CR;
        }
        return taken;
    }

    /**
     * Reads framing until data, the trailers or the end begins, or the bytes run out.
     *
     * @return the position after the last good byte
     */
    int advance(byte[] bytes, int from, int to) {
        int p = from;
        while (p < to) {
            int before = state;
            state = next(bytes[p]);
            if (state == MALFORMED) {
                return p;
            }
            p++;
            if (state != before && (state == DATA || state == END || (state == TRAILER_START && before == SIZE_LF))) {
                return p;
            }
        }
        return p;
    }

    private int next(byte c) {
        return switch (state) {
            case SIZE_START -> {
                left = 0;
                lineBytes = 0;
                yield size(c);
            }
            case SIZE -> size(c);
            case EXTENSION -> extension(c);
            case SIZE_LF -> c != '\n' ? MALFORMED : left > 0 ? DATA : lastChunk();
            case DATA_CR -> c == '\r' ? DATA_LF : MALFORMED;
            case DATA_LF -> c == '\n' ? SIZE_START : MALFORMED;
            case TRAILER_START -> c == '\r' ? END_LF : trailer(c);
            case TRAILER -> c == '\r' ? TRAILER_LF : trailer(c);
            case TRAILER_LF -> c == '\n' ? TRAILER_START : MALFORMED;
            case END_LF -> c == '\n' ? END : MALFORMED;
            default -> MALFORMED;
        };
    }

    private int size(byte c) {
        int digit = Character.digit(c, 16);
        if (digit >= 0 && c >= 0) {
            left = (left << 4) | digit;
            return ++lineBytes > MAX_SIZE_DIGITS ? MALFORMED : SIZE;
        }
        if (lineBytes == 0) {
            return MALFORMED;
        }
        return c == '\r' ? SIZE_LF : c == ';' || c == ' ' || c == '\t' ? extension(c) : MALFORMED;
    }

    private int extension(byte c) {
        if (c == '\r') {
            return SIZE_LF;
        }
        boolean control = c == 0x7f || (c >= 0 && c < ' ' && c != '\t');
        return control || ++lineBytes > MAX_SIZE_LINE ? MALFORMED : EXTENSION;
    }

    private int lastChunk() {
        lineBytes = 0;
        return TRAILER_START;
    }

    private int trailer(byte c) {
        return c == '\n' || ++lineBytes > MAX_TRAILERS ? MALFORMED : TRAILER;
    }
}
