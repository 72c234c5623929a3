package routes;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/**
 * The replica of a {@link WarmUp}: the shortest answers that a vLLM server gives.
 *
 * <p><b>Threading:</b> a daemon thread of its own serves one connection, which is all that one client needs.
 */
final class WarmUpReplica implements AutoCloseable {

    private static final String USAGE = "\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1,\"total_tokens\":4}}";
    private static final String DOCUMENT =
            "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"Yes\"},\"finish_reason\":\"stop\"}]," + USAGE;
    private static final String WHOLE = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "
            + DOCUMENT.length() + "\r\n\r\n" + DOCUMENT;
    private static final String[] STREAM = {
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
        event("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Yes\"}}]}"),
        event("{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}"),
        event("{\"choices\":[]," + USAGE) + event("[DONE]") + "0\r\n\r\n"
    };

    private final ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());

    WarmUpReplica() throws IOException {
        Thread thread = new Thread(this::serve, "warm-up-replica");
        thread.setDaemon(true);
        thread.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getLocalPort();
    }

    @Override
    public void close() throws IOException {
        server.close();
    }

    private void serve() {
        try (WarmUpMessages connection = new WarmUpMessages(server.accept())) {
            while (true) {
                if (connection.read().contains("\"stream\":true")) {
                    for (String part : STREAM) {
                        connection.write(part);
                    }
                } else {
                    connection.write(WHOLE);
                }
            }
        } catch (IOException e) {
            // the warm-up is over
        }
    }

    private static String event(String data) {
        String event = "data: " + data + "\n\n";
        return Integer.toHexString(event.length()) + "\r\n" + event + "\r\n";
    }
}
