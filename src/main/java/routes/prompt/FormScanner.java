package routes.prompt;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import routes.error.ErrorBody;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.request.Prompt;

/**
 * Reads the fields {@code model} and {@code stream} of a {@code multipart/form-data} body, wherever they stand, and passes
 * over everything else.
 *
 * <p>As strict as RFC 7578 and RFC 2046 allow: what another server may read differently is an error, such as text around the
 * parts, white space behind a boundary, or a field that stands there twice. A line that only begins as a boundary does is
 * content.
 *
 * <p>A boundary holds no CR, so that comparisons with it never overlap: the scan is linear whatever the body holds, and most
 * of a file is leapt over.
 *
 * <p><b>Threading</b>: holds no state between scans. <b>Ownership</b>: borrows the body; neither its indices nor its content
 * change. <b>Failure</b>: the first thing found wrong, in the order of the bytes; a missing model last.
 */
final class FormScanner {

    private static final int MAX_BOUNDARY = 70;
    private static final int MAX_PARTS = 128;
    private static final int MAX_PART_HEAD = 4096;
    private static final int MAX_MODEL_BYTES = 512;
    private static final int MAX_FLAG_BYTES = 8;
    private static final String BOUNDARY_CHARACTERS = "'()+_,-./:=?";

    private final ByteBuffer view;
    /** CR, LF, two hyphens and the boundary: what stands before each part but the first, and behind the last. */
    private final byte[] delimiter;
    /** For each byte, how far to go on when it is the last of a window that doesn't match. */
    private final int[] leaps = new int[256];

    private final Prompt.Draft draft = new Prompt.Draft();
    private boolean modelSeen;
    private boolean streamSeen;

    private FormScanner(ByteBuffer view, byte[] delimiter) {
        this.view = view;
        this.delimiter = delimiter;
        Arrays.fill(leaps, delimiter.length);
        for (int i = 0; i < delimiter.length - 1; i++) {
            leaps[delimiter[i] & 0xff] = delimiter.length - 1 - i;
        }
    }

    /**
     * Reads the readable bytes of a body.
     *
     * @param type the request's media type
     * @throws GatewayException INVALID_FORM, INVALID_FIELD, DUPLICATE_FIELD, MISSING_MODEL, or MODEL_NOT_FOUND for a name that
     *     is too long to be one
     */
    static Prompt scan(ByteBuf body, HeaderValue type) throws GatewayException {
        byte[] delimiter = delimiter(type);
        int length = body.readableBytes();
        ByteBuffer view = body.nioBuffer(body.readerIndex(), length);
        // a view of a part may start in the middle of its buffer; offsets are the body's
        return new FormScanner(view.position() == 0 ? view : view.slice(), delimiter).scan();
    }

    private static byte[] delimiter(HeaderValue type) throws GatewayException {
        String boundary = type.parameters().get("boundary");
        boolean fits = boundary != null
                && !boundary.isEmpty()
                && boundary.length() <= MAX_BOUNDARY
                && !boundary.endsWith(" ")
                && boundary.chars().allMatch(FormScanner::isOfBoundary);
        if (!fits) {
            throw invalid("The Content-Type has to name a boundary: 1 to " + MAX_BOUNDARY
                    + " letters, digits and some punctuation.");
        }
        String charset = type.parameters().getOrDefault("charset", "utf-8");
        if (!charset.equalsIgnoreCase("utf-8") && !charset.equalsIgnoreCase("us-ascii")) {
            throw invalid("The form's charset has to be UTF-8.");
        }
        return ("\r\n--" + boundary).getBytes(StandardCharsets.US_ASCII);
    }

    private static boolean isOfBoundary(int c) {
        return c >= 'a' && c <= 'z'
                || c >= 'A' && c <= 'Z'
                || c >= '0' && c <= '9'
                || c == ' '
                || BOUNDARY_CHARACTERS.indexOf(c) >= 0;
    }

    private Prompt scan() throws GatewayException {
        int boundary = delimiter.length - 2;
        if (view.limit() < boundary || !matches(0, 2)) {
            throw invalid("The form does not begin with its boundary.");
        }
        int at = afterBoundary(boundary);
        for (int parts = 0; at >= 0; parts++) {
            if (parts == MAX_PARTS) {
                throw invalid("The form has more than " + MAX_PARTS + " parts.");
            }
            at = part(at);
        }
        if (!modelSeen) {
            throw new GatewayException(ErrorCode.MISSING_MODEL, "The form needs a field 'model'.", "model");
        }
        draft.form();
        return draft.finish();
    }

    /** Reads the part whose head starts there; returns where the next one does, -1 behind the last. */
    private int part(int start) throws GatewayException {
        PartHead head = new PartHead();
        int data = head(start, head);
        if (view.limit() - data >= delimiter.length - 2 && matches(data, 2) && isLineEnd(data + delimiter.length - 2)) {
            throw invalid("A boundary of the form does not stand on a line of its own.");
        }
        int end = next(data);
        field(head, data, end);
        return afterBoundary(end + delimiter.length);
    }

    /** Where the next delimiter starts; a line that goes on behind it is none. */
    private int next(int from) throws GatewayException {
        int last = delimiter.length - 1;
        int at = from;
        while (at + last < view.limit()) {
            byte end = view.get(at + last);
            if (end == delimiter[last] && matches(at, 0) && isLineEnd(at + delimiter.length)) {
                return at;
            }
            at += leaps[end & 0xff];
        }
        throw invalid("The form does not end with its boundary.");
    }

    private boolean matches(int at, int skipped) {
        for (int i = skipped; i < delimiter.length; i++) {
            if (view.get(at + i - skipped) != delimiter[i]) {
                return false;
            }
        }
        return true;
    }

    /** Whether the line with a boundary ends there, rightly or in one of the ways that servers read differently. */
    private boolean isLineEnd(int at) {
        if (at == view.limit()) {
            return true;
        }
        return switch (view.get(at)) {
            case ' ', '\t' -> true;
            case '\r' -> at + 1 == view.limit() || view.get(at + 1) == '\n';
            case '-' -> at + 1 < view.limit() && view.get(at + 1) == '-';
            default -> false;
        };
    }

    /** Where the next part's head starts; -1 behind the last boundary. */
    private int afterBoundary(int at) throws GatewayException {
        int left = view.limit() - at;
        if (left >= 2 && view.get(at) == '\r' && view.get(at + 1) == '\n') {
            return at + 2;
        }
        boolean ends = left >= 2 && view.get(at) == '-' && view.get(at + 1) == '-';
        if (ends && (left == 2 || left == 4 && view.get(at + 2) == '\r' && view.get(at + 3) == '\n')) {
            return -1;
        }
        throw invalid(
                ends
                        ? "Something stands behind the form's last boundary."
                        : "A boundary of the form does not stand on a line of its own.");
    }

    // -- parts

    /** What a part says of itself. */
    private static final class PartHead {
        private @Nullable HeaderValue disposition;
        private boolean encoded;
    }

    /** Reads a part's headers; returns where its content starts. */
    private int head(int start, PartHead head) throws GatewayException {
        int line = start;
        while (true) {
            int end = lineEnd(line, start + MAX_PART_HEAD);
            if (end == line) {
                return end + 2;
            }
            header(text(line, end), head);
            line = end + 2;
        }
    }

    private int lineEnd(int from, int bound) throws GatewayException {
        int limit = Math.min(view.limit() - 1, bound);
        for (int at = from; at < limit; at++) {
            byte b = view.get(at);
            if (b == '\r' && view.get(at + 1) == '\n') {
                return at;
            }
            if (b == '\r' || b == '\n' || b == 0) {
                break;
            }
        }
        throw invalid("The headers of a part of the form are cut off, not lines, or longer than " + MAX_PART_HEAD
                + " bytes.");
    }

    private static void header(String line, PartHead head) throws GatewayException {
        int colon = line.indexOf(':');
        if (colon <= 0 || !line.substring(0, colon).chars().allMatch(c -> c > ' ' && c < 0x7f)) {
            throw invalid("A header of a part of the form has no name, or stands on several lines.");
        }
        String value = line.substring(colon + 1).strip();
        switch (line.substring(0, colon).toLowerCase(Locale.ROOT)) {
            case "content-disposition" -> {
                HeaderValue read = HeaderValue.parse(value);
                if (head.disposition != null || read == null || !read.value().equals("form-data")) {
                    throw withoutName();
                }
                head.disposition = read;
            }
            case "content-transfer-encoding" ->
                head.encoded = !value.equalsIgnoreCase("binary")
                        && !value.equalsIgnoreCase("8bit")
                        && !value.equalsIgnoreCase("7bit");
            default -> {}
        }
    }

    private void field(PartHead head, int start, int end) throws GatewayException {
        HeaderValue disposition = head.disposition;
        String name = disposition == null ? null : disposition.parameters().get("name");
        if (disposition == null || name == null || name.indexOf('\\') >= 0 || hasExtendedName(disposition)) {
            throw withoutName();
        }
        boolean text = !head.encoded && !disposition.parameters().containsKey("filename");
        switch (name) {
            case "model" -> {
                once(modelSeen, name);
                modelSeen = true;
                model(text, start, end);
            }
            case "stream" -> {
                once(streamSeen, name);
                streamSeen = true;
                draft.stream(flag(text, start, end));
            }
            default -> {}
        }
    }

    /** {@code name*=} and {@code name*0=} are not for forms, but some servers read them. */
    private static boolean hasExtendedName(HeaderValue disposition) {
        return disposition.parameters().keySet().stream().anyMatch(name -> name.startsWith("name*"));
    }

    private static void once(boolean seen, String name) throws GatewayException {
        if (seen) {
            throw new GatewayException(ErrorCode.DUPLICATE_FIELD, "'" + name + "' appears twice: send it once.", name);
        }
    }

    private void model(boolean text, int start, int end) throws GatewayException {
        if (!text || start == end) {
            throw new GatewayException(ErrorCode.INVALID_FIELD, "'model' has to be a text that is not empty.", "model");
        }
        if (end - start > MAX_MODEL_BYTES) {
            throw new GatewayException(
                    ErrorCode.MODEL_NOT_FOUND,
                    "The model '" + ErrorBody.excerpt(text(start, start + MAX_MODEL_BYTES))
                            + "' does not exist or you do not have access to it.",
                    "model");
        }
        draft.model(new String(bytes(start, end), StandardCharsets.UTF_8), start, end);
    }

    /** As forms write true and false, which know no types. */
    private boolean flag(boolean text, int start, int end) throws GatewayException {
        String value = text && end - start <= MAX_FLAG_BYTES ? text(start, end) : "?";
        return switch (value.toLowerCase(Locale.ROOT)) {
            case "true", "1", "on", "yes", "t", "y" -> true;
            case "false", "0", "off", "no", "f", "n", "" -> false;
            default ->
                throw new GatewayException(ErrorCode.INVALID_FIELD, "'stream' has to be true or false.", "stream");
        };
    }

    private String text(int from, int to) {
        return new String(bytes(from, to), StandardCharsets.ISO_8859_1);
    }

    private byte[] bytes(int from, int to) {
        byte[] bytes = new byte[to - from];
        view.get(from, bytes);
        return bytes;
    }

    private static GatewayException withoutName() {
        return invalid("Each part of the form needs one header 'Content-Disposition: form-data' with a plain name.");
    }

    private static GatewayException invalid(String message) {
        return new GatewayException(ErrorCode.INVALID_FORM, message);
    }
}
