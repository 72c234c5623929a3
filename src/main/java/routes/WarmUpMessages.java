package routes;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** A connection that carries the few HTTP messages which {@link WarmUpClient} and {@link WarmUpReplica} exchange. */
final class WarmUpMessages implements AutoCloseable {

    private static final int PATIENCE_MILLIS = 5_000;
    private static final String LENGTH = "content-length: ";

    private final Socket socket;
    private final InputStream in;

    WarmUpMessages(Socket socket) throws IOException {
        this.socket = socket;
        this.in = new BufferedInputStream(socket.getInputStream());
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(PATIENCE_MILLIS);
    }

    void write(String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Reads one message, framed by its length or by chunks. */
    String read() throws IOException {
        StringBuilder message = new StringBuilder();
        readThrough("\r\n\r\n", message);
        String head = message.toString().toLowerCase(Locale.ROOT);
        int length = head.indexOf(LENGTH);
        if (length < 0) {
            readThrough("0\r\n\r\n", message);
        } else {
            int from = length + LENGTH.length();
            int bytes = Integer.parseInt(head.substring(from, head.indexOf('\r', from)));
            message.append(new String(in.readNBytes(bytes), StandardCharsets.US_ASCII));
        }
        return message.toString();
    }

    private void readThrough(String end, StringBuilder message) throws IOException {
        for (int matching = 0; matching < end.length(); ) {
            int next = in.read();
            if (next < 0) {
                throw new EOFException();
            }
            message.append((char) next);
            matching = next == end.charAt(matching) ? matching + 1 : next == end.charAt(0) ? 1 : 0;
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
