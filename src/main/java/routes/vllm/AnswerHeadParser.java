package routes.vllm;

import io.netty.buffer.ByteBuf;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import routes.net.HeadBytes;
import routes.relay.Content;
import routes.relay.Framing;
import routes.request.Client.AnswerHead;

/**
 * Reads the heads of a replica's answers, one after another, and is itself the head read last. Interim answers (1xx) are
 * passed over.
 *
 * <p>Less strict than with clients, but never with our memory: a head is at most {@value #MAX_BYTES} bytes.
 *
 * <p><b>Threading:</b> event-loop confined; one for each connection.
 */
final class AnswerHeadParser implements AnswerHead {

    static final int MAX_BYTES = 65_536;
    private static final int MAX_INTERIM = 16;
    private static final int LONGEST_RETRY_AFTER = 3600;

    private static final VarHandle WORD = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long SIXTEENS = 0x1010101010101010L;
    private static final long HIGH_BITS = 0x8080808080808080L;

    /** The connection's own headers, and those that the gateway writes itself. */
    private static final String[] DROPPED = {
        "connection",
        "keep-alive",
        "proxy-connection",
        "proxy-authenticate",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "content-length",
        "x-request-id"
    };

    private static final String ACCESS_CONTROL = "access-control-";

    /** Not HTTP, or not to be trusted as such. */
    static final class Malformed extends Exception {
        private static final long serialVersionUID = 1L;

        Malformed(String why) {
            super(why, null, false, false);
        }
    }

    private byte[] bytes = new byte[1024];
    private int[] lines = new int[32];
    private int lineCount;
    private int searched;
    private int interim;

    private int status;
    private boolean keepAlive;
    private boolean chunked;
    private long length;
    private @Nullable String contentType;
    private boolean encoded;
    private boolean resized;
    private int retryAfterSeconds;

    /** Ready for the next answer. */
    void reset() {
        searched = 0;
        interim = 0;
    }

    /**
     * Reads a final head from the beginning of {@code in} and passes over it.
     *
     * @return false while it is incomplete
     */
    boolean parse(ByteBuf in) throws Malformed {
        while (true) {
            int end = findEnd(in);
            if (end < 0) {
                if (in.readableBytes() > MAX_BYTES) {
                    throw new Malformed("head larger than " + MAX_BYTES + " bytes");
                }
                return false;
            }
            int size = end - in.readerIndex();
            if (bytes.length < size) {
                bytes = new byte[Math.max(size, bytes.length * 2)];
            }
            in.readBytes(bytes, 0, size);
            searched = 0;
            read(size);
            if (status >= 200) {
                return true;
            }
            if (status == 101 || ++interim > MAX_INTERIM) {
                throw new Malformed("status " + status);
            }
        }
    }

    private int findEnd(ByteBuf in) throws Malformed {
        int start = in.readerIndex();
        int from = start + Math.max(0, searched - 3);
        int limit = Math.min(in.writerIndex(), start + MAX_BYTES);
        while (from < limit) {
            int lf = in.indexOf(from, limit, (byte) '\n');
            if (lf < 0) {
                break;
            }
            if (lf == start || in.getByte(lf - 1) != '\r') {
                throw new Malformed("a line that ends without CR");
            }
            if (lf - start >= 3 && in.getByte(lf - 2) == '\n') {
                return lf + 1;
            }
            from = lf + 1;
        }
        searched = limit - start;
        return -1;
    }

    private void read(int size) throws Malformed {
        readStatusLine();
        chunked = false;
        length = -1;
        contentType = null;
        encoded = false;
        resized = false;
        retryAfterSeconds = -1;
        lineCount = 0;
        String connection = null;
        int at = endOfLine(0, size) + 2;
        while (at < size - 2) {
            int end = endOfLine(at, size);
            int colon = at;
            // a name with space in it would be read otherwise by whoever gets the line
            while (colon < end && bytes[colon] != ':' && bytes[colon] > ' ') {
                colon++;
            }
            if (colon == end || colon == at || bytes[colon] != ':') {
                throw new Malformed("header line without a name");
            }
            if (named(at, colon, "transfer-encoding")) {
                transferEncoding(value(colon, end));
            } else if (named(at, colon, "content-length")) {
                contentLength(colon + 1, end);
            } else if (named(at, colon, "connection")) {
                String more = value(colon, end).toLowerCase(Locale.ROOT);
                connection = connection == null ? more : connection + ',' + more;
            } else if (!dropped(at, colon) && !isAccessControl(at, colon)) {
                if (named(at, colon, "content-type")) {
                    contentType = value(colon, end);
                } else if (named(at, colon, "content-encoding")) {
                    encoded = !value(colon, end).equalsIgnoreCase("identity");
                } else if (status >= 400 && named(at, colon, "retry-after")) {
                    retryAfterSeconds = seconds(colon + 1, end);
                }
                addLine(at, end + 2);
            }
            at = end + 2;
        }
        if (connection != null) {
            keepAlive = keepAlive ? !connection.contains("close") : connection.contains("keep-alive");
            dropNamed(connection);
        }
        if (chunked && length >= 0) {
            // the coding wins, and the connection is not used again
            length = -1;
            keepAlive = false;
        }
    }

    private void readStatusLine() throws Malformed {
        boolean http = bytes[0] == 'H' && bytes[1] == 'T' && bytes[2] == 'T' && bytes[3] == 'P' && bytes[4] == '/';
        if (!http || bytes[5] != '1' || bytes[6] != '.' || bytes[8] != ' ') {
            throw new Malformed("not a status line");
        }
        int code = 0;
        for (int i = 9; i < 12; i++) {
            if (bytes[i] < '0' || bytes[i] > '9') {
                throw new Malformed("not a status code");
            }
            code = code * 10 + bytes[i] - '0';
        }
        if (code < 100 || code > 599) {
            throw new Malformed("status " + code);
        }
        status = code;
        keepAlive = bytes[7] != '0';
    }

    private int endOfLine(int from, int size) throws Malformed {
        int i = from;
        while (true) {
            for (; i <= size - Long.BYTES; i += Long.BYTES) {
                long word = (long) WORD.get(bytes, i);
                // the lowest bit that is set marks the first byte below 16
                long control = (word - SIXTEENS) & ~word & HIGH_BITS;
                if (control != 0) {
                    i += Long.numberOfTrailingZeros(control) >>> 3;
                    break;
                }
            }
            if (i >= size) {
                throw new Malformed("a line without an end");
            }
            if (bytes[i] == '\n') {
                if (i == from || bytes[i - 1] != '\r') {
                    throw new Malformed("a line that ends without CR");
                }
                return i - 1;
            }
            if (bytes[i] == 0 || bytes[i] == '\r' && bytes[i + 1] != '\n') {
                throw new Malformed("NUL or a lone CR in the head");
            }
            i++;
        }
    }

    private void transferEncoding(String value) throws Malformed {
        if (!value.equalsIgnoreCase("chunked") || chunked) {
            throw new Malformed("transfer coding");
        }
        chunked = true;
    }

    private void contentLength(int from, int end) throws Malformed {
        int at = from;
        int last = end;
        while (at < last && isBlank(bytes[at])) {
            at++;
        }
        while (last > at && isBlank(bytes[last - 1])) {
            last--;
        }
        if (at == last || last - at > 18) {
            throw new Malformed("content-length");
        }
        long parsed = 0;
        for (int i = at; i < last; i++) {
            int digit = bytes[i] - '0';
            if (digit < 0 || digit > 9) {
                throw new Malformed("content-length");
            }
            parsed = parsed * 10 + digit;
        }
        if (length >= 0 && length != parsed) {
            throw new Malformed("two lengths");
        }
        length = parsed;
    }

    /** A date, or what is neither, tells nothing. */
    private int seconds(int from, int end) {
        int at = from;
        int last = end;
        while (at < last && isBlank(bytes[at])) {
            at++;
        }
        while (last > at && isBlank(bytes[last - 1])) {
            last--;
        }
        int seconds = at == last ? -1 : 0;
        for (; at < last; at++) {
            int digit = bytes[at] - '0';
            if (digit < 0 || digit > 9) {
                return -1;
            }
            seconds = Math.min(LONGEST_RETRY_AFTER, seconds * 10 + digit);
        }
        return seconds;
    }

    private static boolean isBlank(byte b) {
        return b == ' ' || b == '\t';
    }

    private void addLine(int from, int to) {
        if (lineCount + 2 > lines.length) {
            lines = Arrays.copyOf(lines, lines.length * 2);
        }
        lines[lineCount++] = from;
        lines[lineCount++] = to;
    }

    /** Headers that {@code Connection} names belong to the connection. */
    private void dropNamed(String connection) {
        if (connection.equals("keep-alive") || connection.equals("close")) {
            return;
        }
        for (String token : connection.split(",", -1)) {
            String name = token.trim();
            for (int i = 0; i < lineCount; i += 2) {
                int colon = lines[i] + name.length();
                if (!name.isEmpty() && colon < lines[i + 1] && bytes[colon] == ':' && named(lines[i], colon, name)) {
                    lines[i + 1] = lines[i];
                }
            }
        }
    }

    private boolean dropped(int from, int to) {
        for (String name : DROPPED) {
            if (named(from, to, name)) {
                return true;
            }
        }
        return false;
    }

    /** Which pages may call the gateway is not for replicas to say. */
    private boolean isAccessControl(int from, int to) {
        int end = from + ACCESS_CONTROL.length();
        return end < to && named(from, end, ACCESS_CONTROL);
    }

    private boolean named(int from, int to, String lowerCase) {
        if (to - from != lowerCase.length()) {
            return false;
        }
        for (int i = 0; i < lowerCase.length(); i++) {
            int c = bytes[from + i];
            if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != lowerCase.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    private String value(int colon, int end) {
        return new String(bytes, colon + 1, end - colon - 1, StandardCharsets.ISO_8859_1).trim();
    }

    // ---- the head read last

    @Override
    public int status() {
        return status;
    }

    @Override
    public boolean bodyless() {
        return status == 204 || status == 304;
    }

    @Override
    public long contentLength() {
        return resized ? -1 : length;
    }

    /** The body's length will change on its way: no length is announced to the client. */
    void resize() {
        resized = true;
    }

    Framing framing() {
        return chunked ? Framing.CHUNKED : length >= 0 ? Framing.LENGTH : Framing.CLOSE;
    }

    /** Length of the body as the replica announced it; -1 when it did not. */
    long length() {
        return length;
    }

    /** Seconds that an error asks to wait, an hour at most; -1 when it does not say. */
    int retryAfterSeconds() {
        return retryAfterSeconds;
    }

    Content content() {
        return encoded ? Content.OPAQUE : Content.of(contentType);
    }

    boolean keepAlive() {
        return keepAlive && (chunked || length >= 0 || bodyless());
    }

    @Override
    public void writeLines(HeadBytes out) {
        int i = 0;
        while (i < lineCount) {
            int from = lines[i];
            int to = lines[i + 1];
            for (i += 2; i < lineCount && lines[i] == to; i += 2) {
                to = lines[i + 1];
            }
            out.put(bytes, from, to - from);
        }
    }
}
