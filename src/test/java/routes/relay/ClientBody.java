package routes.relay;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** What a strict HTTP/1.1 client makes of a chunked body. Shares nothing with the code under test. */
final class ClientBody {

    private final byte[] data;
    private final boolean complete;
    private final String trailers;

    private ClientBody(byte[] data, boolean complete, String trailers) {
        this.data = data;
        this.complete = complete;
        this.trailers = trailers;
    }

    byte[] data() {
        return data;
    }

    /** Whether the end was seen. */
    boolean complete() {
        return complete;
    }

    String trailers() {
        return trailers;
    }

    static ClientBody of(byte[] wire) {
        ByteArrayOutputStream data = new ByteArrayOutputStream();
        int p = 0;
        while (p < wire.length) {
            int lineEnd = crlf(wire, p);
            if (lineEnd < 0) {
                return new ClientBody(data.toByteArray(), false, "");
            }
            String line = text(wire, p, lineEnd);
            int semicolon = line.indexOf(';');
            int size = Integer.parseInt((semicolon < 0 ? line : line.substring(0, semicolon)).strip(), 16);
            p = lineEnd + 2;
            if (size == 0) {
                return trailers(wire, p, data.toByteArray());
            }
            int have = Math.min(size, wire.length - p);
            data.write(wire, p, have);
            p += have;
            if (wire.length < p + 2) {
                return new ClientBody(data.toByteArray(), false, "");
            }
            if (wire[p] != '\r' || wire[p + 1] != '\n') {
                throw new AssertionError("no CRLF behind the data at " + p);
            }
            p += 2;
        }
        return new ClientBody(data.toByteArray(), false, "");
    }

    private static ClientBody trailers(byte[] wire, int from, byte[] data) {
        int p = from;
        while (true) {
            int lineEnd = crlf(wire, p);
            if (lineEnd < 0) {
                return new ClientBody(data, false, text(wire, from, wire.length));
            }
            if (lineEnd == p) {
                if (lineEnd + 2 != wire.length) {
                    throw new AssertionError("bytes behind the end at " + (lineEnd + 2));
                }
                return new ClientBody(data, true, text(wire, from, p));
            }
            p = lineEnd + 2;
        }
    }

    private static int crlf(byte[] wire, int from) {
        for (int i = from; i + 1 < wire.length; i++) {
            if (wire[i] == '\r' && wire[i + 1] == '\n') {
                return i;
            }
        }
        return -1;
    }

    private static String text(byte[] wire, int from, int to) {
        return new String(wire, from, to - from, StandardCharsets.ISO_8859_1);
    }
}
