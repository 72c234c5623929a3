package routes.door;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.FastThreadLocal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.net.Ascii;
import routes.request.RequestHead;
import routes.request.RequestHead.Expectation;
import routes.request.RequestHead.Fields;
import routes.request.RequestHead.Framing;
import routes.request.RequestHead.Known;
import routes.request.RequestHead.Line;
import routes.request.RequestHead.Method;

/**
 * The parser of request heads, as strict as RFC 9112 allows: what another server might read differently is an error. It
 * copies the head and finds the empty line, each byte once however the head is split over reads, then checks the copy in
 * one pass.
 *
 * <p><b>Threading:</b> one for each connection, event-loop confined.
 *
 * <p><b>Failure:</b> after an exception nothing more may be read from this connection: where the next request would begin is
 * not known.
 */
final class HeadParser {

    /** Empty lines before a request line that are passed over (RFC 9112 section 2.2). */
    private static final int MAX_EMPTY_LINES = 4;

    private static final int MAX_LENGTH_DIGITS = 18;

    /** Bytes first copied to search for the end of the head. */
    private static final int PIECE = 1024;

    private static final byte[] NOTHING = {};

    /** Where a loop's parsers look at the first piece of a head; most are complete there. */
    private static final FastThreadLocal<byte[]> FIRST_PIECE = new FastThreadLocal<>() {
        @Override
        protected byte[] initialValue() {
            return new byte[PIECE];
        }
    };

    private final int maxHeadBytes;
    private final int maxFields;

    private int emptyLines;
    /** The first {@code copied} bytes of a head that is not complete yet. */
    private byte[] head = NOTHING;

    private int copied;
    private int lineStart;
    private int lines;

    private long length;
    private int lengthDigits;
    private boolean chunked;
    private boolean unknownCoding;
    private boolean close;
    private boolean keepAlive;
    private Expectation expectation = Expectation.NONE;

    /**
     * @param maxHeadBytes from the method to the empty line, both included
     * @param maxFields header fields
     */
    HeadParser(int maxHeadBytes, int maxFields) {
        this.maxHeadBytes = maxHeadBytes;
        this.maxFields = maxFields;
    }

    /**
     * Takes a whole head, and empty lines before it, from {@code in}; a part of a head is left there until the rest has
     * come. Borrows; bytes already looked at must stand in {@code in} again at the next call.
     *
     * @return the head, or null while it is incomplete
     */
    @Nullable
    RequestHead parse(ByteBuf in) throws GatewayException {
        if ((copied == 0 && !atRequestLine(in)) || !findEnd(in)) {
            return null;
        }
        int end = lineStart;
        int fields = lines - 1;
        byte[] whole = Arrays.copyOf(head, end);
        in.skipBytes(end);
        head = NOTHING;
        copied = 0;
        emptyLines = 0;
        lineStart = 0;
        lines = 0;
        return parse(whole, fields);
    }

    /** Whether some of a head has come that is not complete yet. */
    boolean inside() {
        return copied > 0;
    }

    private boolean atRequestLine(ByteBuf in) throws GatewayException {
        while (in.isReadable()) {
            int start = in.readerIndex();
            byte first = in.getByte(start);
            if (first != '\r') {
                if (!Octets.isToken(first)) {
                    throw bad("The request does not begin with a method.");
                }
                return true;
            }
            if (in.readableBytes() == 1) {
                return false;
            }
            if (in.getByte(start + 1) != '\n' || ++emptyLines > MAX_EMPTY_LINES) {
                throw bad("The request does not begin with a method.");
            }
            in.skipBytes(2);
        }
        return false;
    }

    private boolean findEnd(ByteBuf in) throws GatewayException {
        int readable = Math.min(in.readableBytes(), maxHeadBytes);
        while (copied < readable) {
            // by pieces, since most of what stands there may be a body
            int upTo = Math.min(readable, Math.max(PIECE, 2 * copied));
            if (copied == 0) {
                head = FIRST_PIECE.get();
            } else if (upTo > head.length) {
                head = Arrays.copyOf(head, Math.max(upTo, 2 * head.length));
            }
            in.getBytes(in.readerIndex() + copied, head, copied, upTo - copied);
            int from = copied;
            copied = upTo;
            if (findEmptyLine(from)) {
                return true;
            }
        }
        if (readable == maxHeadBytes) {
            throw new GatewayException(
                    ErrorCode.HEAD_TOO_LARGE,
                    "The request line and headers are larger than " + maxHeadBytes + " bytes.");
        }
        if (head == FIRST_PIECE.get()) {
            // other connections look at theirs there before the rest of this one comes
            head = Arrays.copyOf(head, Math.min(PIECE, 2 * copied));
        }
        return false;
    }

    /** Looks at the bytes from {@code from} on; when true, the next line would start after the empty line. */
    private boolean findEmptyLine(int from) throws GatewayException {
        int lf = Octets.lineFeed(head, from, copied);
        while (lf < copied) {
            if (lf == lineStart || head[lf - 1] != '\r') {
                throw bad("A line of the request's head does not end in CRLF.");
            }
            boolean empty = lf == lineStart + 1;
            lineStart = lf + 1;
            if (empty) {
                return true;
            }
            if (++lines > maxFields + 1) {
                throw new GatewayException(
                        ErrorCode.HEAD_TOO_LARGE, "The request has more than " + maxFields + " header fields.");
            }
            lf = Octets.lineFeed(head, lineStart, copied);
        }
        return false;
    }

    /** Parses a head whose lines all end in CRLF and whose last line, and no other, is empty. */
    private RequestHead parse(byte[] head, int fieldLines) throws GatewayException {
        length = Framing.NO_LENGTH;
        lengthDigits = 0;
        chunked = false;
        unknownCoding = false;
        close = false;
        keepAlive = false;
        expectation = Expectation.NONE;

        int methodEnd = 0;
        while (Octets.isToken(head[methodEnd])) {
            methodEnd++;
        }
        int targetStart = methodEnd + 1;
        int targetEnd = targetStart;
        if (head[methodEnd] == ' ') {
            while (Octets.isTarget(head[targetEnd])) {
                targetEnd++;
            }
        }
        if (targetEnd == targetStart || head[targetEnd] != ' ') {
            throw bad("The request line is not 'method target HTTP/1.1' with single spaces and a valid target.");
        }
        boolean http10 = http10(head, targetEnd + 1);
        Method method = Method.find(head, 0, methodEnd);
        if (method == Method.OTHER && Ascii.equalsIgnoreCase(head, 0, methodEnd, "connect")) {
            throw bad("This gateway opens no tunnels.");
        }

        Fields fields = new Fields(head, fieldLines);
        int at = targetEnd + 1 + "HTTP/1.1\r\n".length();
        while (head[at] != '\r') {
            at = field(head, at, fields, http10);
        }
        if (at + 2 != head.length) {
            throw bad("A carriage return stands alone.");
        }
        Framing framing = framing(fields, http10);
        return new RequestHead(target(head, method, targetStart, targetEnd, fields), fields, framing);
    }

    private static boolean http10(byte[] head, int at) throws GatewayException {
        boolean wellFormed = head.length - at >= 10
                && head[at] == 'H'
                && head[at + 1] == 'T'
                && head[at + 2] == 'T'
                && head[at + 3] == 'P'
                && head[at + 4] == '/'
                && Octets.isDigit(head[at + 5])
                && head[at + 6] == '.'
                && Octets.isDigit(head[at + 7])
                && head[at + 8] == '\r'
                && head[at + 9] == '\n';
        if (!wellFormed) {
            throw bad("The request line does not end in 'HTTP/1.1'.");
        }
        if (head[at + 5] != '1' || head[at + 7] > '1') {
            throw new GatewayException(ErrorCode.HTTP_VERSION);
        }
        return head[at + 7] == '0';
    }

    private static Line target(byte[] head, Method method, int start, int end, Fields fields) throws GatewayException {
        int path = start;
        if (head[start] != '/') {
            if (method == Method.OPTIONS && head[start] == '*' && end == start + 1) {
                return new Line(method, "*", null, start, end);
            }
            int authority = start + schemeLength(head, start, end);
            path = authority;
            while (path < end && head[path] != '/' && head[path] != '?') {
                path++;
            }
            if (authority == start || !Octets.isAuthority(head, authority, path)) {
                throw bad("The request target is neither a path nor an http URL without user information.");
            }
            // RFC 9112 section 3.2.2: the target's authority replaces what Host says
            fields.replace(Known.HOST, authority, path);
        }
        int query = path;
        while (query < end && head[query] != '?') {
            query++;
        }
        return new Line(
                method,
                query == path ? "/" : TargetPath.normalise(head, path, query),
                query == end ? null : new String(head, query + 1, end - query - 1, StandardCharsets.ISO_8859_1),
                start,
                end);
    }

    private static int schemeLength(byte[] head, int start, int end) {
        for (String scheme : new String[] {"http://", "https://"}) {
            if (end - start > scheme.length() && Ascii.equalsIgnoreCase(head, start, start + scheme.length(), scheme)) {
                return scheme.length();
            }
        }
        return 0;
    }

    /** Checks one field line and adds it. Returns where the next line starts. */
    private int field(byte[] head, int start, Fields fields, boolean http10) throws GatewayException {
        int colon = start;
        while (Octets.isToken(head[colon])) {
            colon++;
        }
        if (head[colon] != ':' || colon == start) {
            throw bad(
                    head[start] == ' ' || head[start] == '\t'
                            ? "A header is folded over several lines."
                            : "A header's name is empty or holds a character that names may not have.");
        }
        int valueStart = Octets.skipBlanks(head, colon + 1, head.length);
        int lineEnd = Octets.control(head, valueStart);
        if (head[lineEnd] != '\r' || head[lineEnd + 1] != '\n') {
            throw bad("A header's value holds a control character.");
        }
        int valueEnd = Octets.trimEnd(head, valueStart, lineEnd);
        Known known = fields.add(start, colon, valueStart, valueEnd);
        if (known != null) {
            switch (known) {
                case HOST -> {
                    if (fields.repeated(Known.HOST) || !Octets.isAuthority(head, valueStart, valueEnd)) {
                        throw bad("The request needs exactly one Host header with a host name and an optional port.");
                    }
                }
                case CONTENT_LENGTH -> contentLength(head, valueStart, valueEnd, fields, http10);
                case TRANSFER_ENCODING -> {
                    unknownCoding |= chunked || !Ascii.equalsIgnoreCase(head, valueStart, valueEnd, "chunked");
                    chunked = true;
                }
                case CONNECTION -> connection(head, valueStart, valueEnd);
                case EXPECT -> {
                    boolean known100 = Ascii.equalsIgnoreCase(head, valueStart, valueEnd, "100-continue");
                    expectation =
                            known100 && expectation != Expectation.UNKNOWN ? Expectation.CONTINUE : Expectation.UNKNOWN;
                }
                default -> {}
            }
        }
        return lineEnd + 2;
    }

    private void contentLength(byte[] head, int start, int end, Fields fields, boolean http10) throws GatewayException {
        int from = start;
        boolean more = lengthDigits > 0;
        while (true) {
            int digitsEnd = from;
            long value = 0;
            while (digitsEnd < end && digitsEnd - from <= MAX_LENGTH_DIGITS && Octets.isDigit(head[digitsEnd])) {
                value = value * 10 + (head[digitsEnd++] - '0');
            }
            int digits = digitsEnd - from;
            int next = Octets.skipBlanks(head, digitsEnd, end);
            if (digits == 0 || digits > MAX_LENGTH_DIGITS || (next < end && head[next] != ',')) {
                throw bad("Content-Length is not a number of bytes.");
            }
            if (lengthDigits == 0) {
                length = value;
                lengthDigits = digits;
            } else if (http10 || length != value || lengthDigits != digits) {
                throw bad("The request has more than one Content-Length.");
            }
            if (!more && from == start) {
                fields.replace(Known.CONTENT_LENGTH, start, digitsEnd);
            }
            if (next == end) {
                break;
            }
            from = Octets.skipBlanks(head, next + 1, end);
        }
        if (more) {
            fields.removeLast();
        }
    }

    private void connection(byte[] head, int start, int end) {
        int from = start;
        while (from < end) {
            int comma = from;
            while (comma < end && head[comma] != ',') {
                comma++;
            }
            int tokenStart = Octets.skipBlanks(head, from, comma);
            int tokenEnd = Octets.trimEnd(head, tokenStart, comma);
            close |= Ascii.equalsIgnoreCase(head, tokenStart, tokenEnd, "close");
            keepAlive |= Ascii.equalsIgnoreCase(head, tokenStart, tokenEnd, "keep-alive");
            from = comma + 1;
        }
    }

    private Framing framing(Fields fields, boolean http10) throws GatewayException {
        if (!http10 && !fields.has(Known.HOST)) {
            throw bad("The request needs exactly one Host header with a host name and an optional port.");
        }
        if (chunked) {
            if (http10) {
                throw bad("HTTP/1.0 has no Transfer-Encoding.");
            }
            if (lengthDigits > 0) {
                throw bad("The request has both Content-Length and Transfer-Encoding.");
            }
            if (unknownCoding) {
                throw new GatewayException(ErrorCode.UNKNOWN_TRANSFER_CODING);
            }
        }
        return new Framing(
                http10,
                !close && (keepAlive || !http10),
                chunked ? Framing.CHUNKED : length,
                http10 ? Expectation.NONE : expectation);
    }

    private static GatewayException bad(String message) {
        return new GatewayException(ErrorCode.BAD_REQUEST, message);
    }
}
