package routes.request;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import routes.net.Ascii;

/**
 * The head of a client's request, checked and split: request line, header fields and how the body is framed. The fields
 * are spans over one copy of the head, so that a value becomes a string only when somebody asks for it.
 *
 * <p><b>Threading:</b> immutable once the parser has handed it out.
 */
public final class RequestHead {

    private final Line line;
    private final Fields fields;
    private final Framing framing;

    public RequestHead(Line line, Fields fields, Framing framing) {
        this.line = line;
        this.fields = fields;
        this.framing = framing;
    }

    public Method method() {
        return line.method;
    }

    /** The method as the client wrote it; differs from {@link #method()} for {@link Method#OTHER}. */
    public String methodName() {
        return line.method == Method.OTHER ? text(0, line.targetStart - 1) : line.method.name();
    }

    /** The path, normalised: escapes of unreserved characters decoded, all others in upper case; {@code *} possible. */
    public String path() {
        return line.path;
    }

    /** What follows the {@code ?} of the target, as it was sent; null without {@code ?}. */
    public @Nullable String query() {
        return line.query;
    }

    /** The request target as it was sent. */
    public String rawTarget() {
        return text(line.targetStart, line.targetEnd);
    }

    public boolean http10() {
        return framing.http10;
    }

    /** Whether the client is willing to send another request on this connection. */
    public boolean keepAlive() {
        return framing.keepAlive;
    }

    /** Bytes of body announced; -1 when there is no Content-Length. */
    public long contentLength() {
        return Math.max(-1, framing.length);
    }

    public boolean chunked() {
        return framing.length == Framing.CHUNKED;
    }

    /** Whether the client waits for an interim 100 before it sends the body. */
    public boolean expectContinue() {
        return framing.expectation == Expectation.CONTINUE;
    }

    /** Whether the client expects something that this gateway does not know. */
    public boolean unknownExpectation() {
        return framing.expectation == Expectation.UNKNOWN;
    }

    public boolean has(Known name) {
        return fields.spans[name.slot] != 0;
    }

    /** Whether more than one field of this name was sent; the value in use is that of the first. */
    public boolean repeated(Known name) {
        return fields.repeated(name);
    }

    /** The first value of this name, without the white space around it; null when it was not sent. */
    public @Nullable String header(Known name) {
        int at = fields.spans[name.slot];
        return at == 0 ? null : text(fields.spans[at + Fields.VALUE], fields.spans[at + Fields.VALUE_END]);
    }

    /**
     * The first value of any header, by a search through all of them.
     *
     * @param name in lower case
     */
    public @Nullable String header(String name) {
        for (int at = Fields.FIRST; at < fields.end; at += Fields.STRIDE) {
            if (named(at, name)) {
                return text(fields.spans[at + Fields.VALUE], fields.spans[at + Fields.VALUE_END]);
            }
        }
        return null;
    }

    /**
     * All fields in the order they were sent, names as the client wrote them. With a target in absolute form, Host holds
     * the target's authority; a Content-Length sent several times with one value appears once.
     */
    public void forEach(BiConsumer<String, String> action) {
        int[] spans = fields.spans;
        for (int at = Fields.FIRST; at < fields.end; at += Fields.STRIDE) {
            action.accept(
                    text(spans[at], spans[at + Fields.NAME_END]),
                    text(spans[at + Fields.VALUE], spans[at + Fields.VALUE_END]));
        }
    }

    /** The head from the method to the empty line. Borrows; do not change. */
    public byte[] bytes() {
        return fields.bytes;
    }

    /** Where in {@link #bytes()} the first value of this name starts; -1 when it was not sent. */
    public int valueStart(Known name) {
        int at = fields.spans[name.slot];
        return at == 0 ? -1 : fields.spans[at + Fields.VALUE];
    }

    /** Bytes of the first value of this name; 0 when it was not sent. */
    public int valueLength(Known name) {
        int at = fields.spans[name.slot];
        return at == 0 ? 0 : fields.spans[at + Fields.VALUE_END] - fields.spans[at + Fields.VALUE];
    }

    /** For logs: neither the query nor any header, since both may hold a key. */
    @Override
    public String toString() {
        return methodName() + ' ' + line.path + (framing.http10 ? " HTTP/1.0, " : " HTTP/1.1, ") + fields.count()
                + " fields";
    }

    private boolean named(int at, String lowerCase) {
        return Ascii.equalsIgnoreCase(fields.bytes, fields.spans[at], fields.spans[at + Fields.NAME_END], lowerCase);
    }

    private String text(int start, int end) {
        return new String(fields.bytes, start, end - start, StandardCharsets.ISO_8859_1);
    }

    /** The methods that a route may ask for by name. */
    public enum Method {
        POST,
        GET,
        HEAD,
        OPTIONS,
        PUT,
        PATCH,
        DELETE,
        TRACE,
        OTHER;

        private static final Method[] NAMED = {POST, GET, HEAD, OPTIONS, PUT, PATCH, DELETE, TRACE};

        /** The method whose name stands from {@code start} to {@code end}; methods are case-sensitive. */
        public static Method find(byte[] bytes, int start, int end) {
            for (Method method : NAMED) {
                if (method.name().length() == end - start && method.matches(bytes, start)) {
                    return method;
                }
            }
            return OTHER;
        }

        private boolean matches(byte[] bytes, int start) {
            String name = name();
            for (int i = 0; i < name.length(); i++) {
                if (bytes[start + i] != name.charAt(i)) {
                    return false;
                }
            }
            return true;
        }
    }

    /** The headers that the gateway itself reads; they are found while the head is parsed. */
    public enum Known {
        HOST(0),
        AUTHORIZATION(1),
        X_API_KEY(2),
        CONTENT_TYPE(3),
        CONTENT_LENGTH(4),
        CONTENT_ENCODING(5),
        TRANSFER_ENCODING(6),
        CONNECTION(7),
        EXPECT(8),
        UPGRADE(9),
        ACCEPT(10),
        ACCEPT_ENCODING(11),
        X_REQUEST_ID(12),
        TRACEPARENT(13),
        TRACESTATE(14),
        USER_AGENT(15);

        private static final int COUNT = values().length;
        private static final Known[][] BY_LENGTH = byLength();

        private final int slot;
        private final String lowerCase = name().toLowerCase(Locale.ROOT).replace('_', '-');
        private final long firstWord = Words.at(lowerCase, 0);
        private final long lastWord = Words.at(lowerCase, Math.max(0, lowerCase.length() - Long.BYTES));

        Known(int slot) {
            this.slot = slot;
        }

        /** The name in lower case, such as {@code content-type}. */
        public String lowerCase() {
            return lowerCase;
        }

        /** The header whose name, a token in any case, stands from {@code start} to {@code end}. */
        static @Nullable Known find(byte[] bytes, int start, int end) {
            int length = end - start;
            if (length < BY_LENGTH.length) {
                Known[] candidates = BY_LENGTH[length];
                if (candidates.length > 0) {
                    long first = Words.at(bytes, start, end);
                    for (Known known : candidates) {
                        if (known.firstWord == first && known.endsAt(bytes, end)) {
                            return known;
                        }
                    }
                }
            }
            return null;
        }

        /** Whether the name ends at {@code end}, given that its length and its first word are the same. */
        private boolean endsAt(byte[] bytes, int end) {
            int length = lowerCase.length();
            if (length <= Long.BYTES) {
                return true;
            }
            for (int i = Long.BYTES; i < length - Long.BYTES; i++) {
                if ((bytes[end - length + i] | 0x20) != lowerCase.charAt(i)) {
                    return false;
                }
            }
            return Words.at(bytes, end - Long.BYTES, end) == lastWord;
        }

        private static Known[][] byLength() {
            List<List<Known>> lists = new ArrayList<>();
            for (Known known : values()) {
                while (lists.size() <= known.lowerCase.length()) {
                    lists.add(new ArrayList<>());
                }
                lists.get(known.lowerCase.length()).add(known);
            }
            return lists.stream().map(list -> list.toArray(new Known[0])).toArray(Known[][]::new);
        }
    }

    /** Eight bytes of a name at a time. */
    private static final class Words {

        private static final VarHandle WORD =
                MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
        /** Of all bytes that a token may hold, only the two cases of a letter differ in nothing but this bit. */
        private static final long CASE_BITS = 0x2020202020202020L;

        private Words() {}

        static long at(String name, int start) {
            return at(name.getBytes(StandardCharsets.US_ASCII), start, name.length());
        }

        /** The token's bytes from {@code start} on, at most eight, in lower case. */
        static long at(byte[] bytes, int start, int end) {
            int length = Math.min(end - start, Long.BYTES);
            if (start + Long.BYTES <= bytes.length) {
                return ((long) WORD.get(bytes, start) | CASE_BITS) & (-1L >>> ((Long.BYTES - length) << 3));
            }
            long word = 0;
            for (int i = length - 1; i >= 0; i--) {
                word = (word << 8) | ((bytes[start + i] | 0x20) & 0xff);
            }
            return word;
        }
    }

    /** What the client waits for before it sends the body. */
    public enum Expectation {
        NONE,
        CONTINUE,
        UNKNOWN
    }

    /**
     * The request line.
     *
     * @param path normalised
     * @param query null without {@code ?}
     * @param targetStart where the target starts in the head; the method and one space stand before it
     * @param targetEnd one past the target's last byte
     */
    public record Line(Method method, String path, @Nullable String query, int targetStart, int targetEnd) {}

    /**
     * What decides where this request ends and whether another may follow.
     *
     * @param length bytes of body, {@link #NO_LENGTH} or {@link #CHUNKED}
     */
    public record Framing(boolean http10, boolean keepAlive, long length, Expectation expectation) {

        /** Neither a Content-Length nor a transfer coding: there is no body. */
        public static final long NO_LENGTH = -1;

        /** The body comes in chunks. */
        public static final long CHUNKED = -2;
    }

    /**
     * The header fields of one head as spans over its bytes.
     *
     * <p><b>Threading:</b> filled by one thread, the parser's; not changed after the head is handed out.
     */
    public static final class Fields {

        private static final int NAME_END = 1;
        private static final int VALUE = 2;
        private static final int VALUE_END = 3;
        private static final int STRIDE = 4;
        private static final int FIRST = Known.COUNT;

        private final byte[] bytes;
        /** For each {@link Known} the index of its first field's span or 0; then the spans. */
        private final int[] spans;

        private int end = FIRST;
        private int repeated;

        /** @param capacity the most fields that will be added */
        public Fields(byte[] bytes, int capacity) {
            this.bytes = bytes;
            this.spans = new int[FIRST + STRIDE * capacity];
        }

        /**
         * Adds a field; its name must be a token.
         *
         * @return the header it is, when it is one of those that the gateway reads
         */
        public @Nullable Known add(int nameStart, int nameEnd, int valueStart, int valueEnd) {
            int at = end;
            spans[at] = nameStart;
            spans[at + NAME_END] = nameEnd;
            spans[at + VALUE] = valueStart;
            spans[at + VALUE_END] = valueEnd;
            end = at + STRIDE;
            Known known = Known.find(bytes, nameStart, nameEnd);
            if (known != null) {
                if (spans[known.slot] == 0) {
                    spans[known.slot] = at;
                } else {
                    repeated |= 1 << known.slot;
                }
            }
            return known;
        }

        /** Takes the field added last away, which must not be the first of its name. */
        public void removeLast() {
            end -= STRIDE;
        }

        /** Lets another piece of the head stand as the value of a header; nothing when it was not sent. */
        public void replace(Known name, int valueStart, int valueEnd) {
            int at = spans[name.slot];
            if (at != 0) {
                spans[at + VALUE] = valueStart;
                spans[at + VALUE_END] = valueEnd;
            }
        }

        public boolean has(Known name) {
            return spans[name.slot] != 0;
        }

        public boolean repeated(Known name) {
            return (repeated & 1 << name.slot) != 0;
        }

        int count() {
            return (end - FIRST) / STRIDE;
        }
    }
}
