package routes.door;

import io.netty.buffer.ByteBuf;
import routes.error.ErrorCode;
import routes.error.GatewayException;

/**
 * The decoder of one request body in chunked coding (RFC 9112 section 7.1). Chunk extensions and trailer fields are
 * checked and dropped.
 *
 * <p><b>Threading:</b> event-loop confined.
 *
 * <p><b>Failure:</b> after an exception nothing more may be read from this connection.
 */
final class ChunkedBody {

    private static final int MAX_SIZE_DIGITS = 8;
    /** Bytes of a line with a chunk's size, its extensions and CRLF. */
    private static final int MAX_SIZE_LINE = 256;
    /** Bytes of all chunk extensions of a body, so that tiny chunks can not hide a large transfer. */
    private static final int MAX_EXTENSIONS = 8192;
    /** Bytes of all trailer fields. */
    private static final int MAX_TRAILERS = 8192;

    private State state = State.SIZE;
    private long remaining;
    private int digits;
    private int lineBytes;
    private int extensionBytes;
    private int trailerBytes;

    /** Takes the body's data as it is decoded. */
    @FunctionalInterface
    interface Sink {
        /** Borrows; do not retain: {@code length} bytes of {@code source} from {@code index} on. */
        void data(ByteBuf source, int index, int length) throws GatewayException;
    }

    /**
     * Takes what belongs to the body from {@code in} and leaves what follows it. Borrows.
     *
     * @return true once the body is complete
     */
    boolean feed(ByteBuf in, Sink sink) throws GatewayException {
        while (in.isReadable() && state != State.DONE) {
            if (state == State.DATA) {
                int length = (int) Math.min(remaining, in.readableBytes());
                int index = in.readerIndex();
                sink.data(in, index, length);
                in.readerIndex(index + length);
                remaining -= length;
                if (remaining == 0) {
                    state = State.DATA_CR;
                }
            } else {
                state = step(in.readByte());
            }
        }
        return state == State.DONE;
    }

    private State step(byte c) throws GatewayException {
        return switch (state) {
            case SIZE -> size(c);
            case EXTENSION -> extension(c);
            case SIZE_LF -> sizeEnd(c);
            case DATA_CR -> expect(c, '\r', State.DATA_LF);
            case DATA_LF -> expect(c, '\n', State.SIZE);
            case TRAILER, TRAILER_NAME, TRAILER_VALUE, TRAILER_LF -> trailer(c);
            case LAST_LF -> expect(c, '\n', State.DONE);
            case DATA, DONE -> throw new IllegalStateException(state.name());
        };
    }

    private State size(byte c) throws GatewayException {
        int digit = c < 0 ? -1 : Character.digit(c, 16);
        if (digit >= 0) {
            lineBytes++;
            remaining = remaining << 4 | digit;
            if (++digits > MAX_SIZE_DIGITS || remaining > Integer.MAX_VALUE) {
                throw bad("A chunk of the body is too large.");
            }
            return State.SIZE;
        }
        if (digits > 0 && c == '\r') {
            return State.SIZE_LF;
        }
        if (digits > 0 && c == ';') {
            return extension(c);
        }
        throw bad("A chunk of the body does not begin with its size.");
    }

    private State extension(byte c) throws GatewayException {
        if (c == '\r') {
            return State.SIZE_LF;
        }
        if (Octets.isControl(c) || c == '\t') {
            throw bad("A chunk extension holds a control character.");
        }
        if (++lineBytes > MAX_SIZE_LINE - 2 || ++extensionBytes > MAX_EXTENSIONS) {
            throw bad("The chunk extensions are too long.");
        }
        return State.EXTENSION;
    }

    private State sizeEnd(byte c) throws GatewayException {
        State next = expect(c, '\n', remaining == 0 ? State.TRAILER : State.DATA);
        digits = 0;
        lineBytes = 0;
        return next;
    }

    private State trailer(byte c) throws GatewayException {
        if (++trailerBytes > MAX_TRAILERS) {
            throw bad("The trailer fields are too long.");
        }
        if (state == State.TRAILER && c == '\r') {
            return State.LAST_LF;
        }
        if (state == State.TRAILER_LF) {
            return expect(c, '\n', State.TRAILER);
        }
        if (state == State.TRAILER_VALUE) {
            if (c == '\r') {
                return State.TRAILER_LF;
            }
            if (!Octets.isControl(c)) {
                return State.TRAILER_VALUE;
            }
        } else if (Octets.isToken(c)) {
            return State.TRAILER_NAME;
        } else if (state == State.TRAILER_NAME && c == ':') {
            return State.TRAILER_VALUE;
        }
        throw bad("A trailer field is not a valid header.");
    }

    private static State expect(byte c, char expected, State next) throws GatewayException {
        if (c != expected) {
            throw bad("A line of the chunked body does not end in CRLF.");
        }
        return next;
    }

    private static GatewayException bad(String message) {
        return new GatewayException(ErrorCode.BAD_REQUEST, message);
    }

    private enum State {
        SIZE,
        EXTENSION,
        SIZE_LF,
        DATA,
        DATA_CR,
        DATA_LF,
        /** At the start of a trailer field, or of the empty line that ends the body. */
        TRAILER,
        TRAILER_NAME,
        TRAILER_VALUE,
        TRAILER_LF,
        LAST_LF,
        DONE
    }
}
