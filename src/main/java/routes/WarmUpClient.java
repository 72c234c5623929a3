package routes;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;

/** The client of a {@link WarmUp}: one connection, one request after the other, those that fail included. */
final class WarmUpClient implements AutoCloseable {

    private static final String MESSAGES = "\"messages\":[{\"role\":\"user\",\"content\":\"Is it warm?\"}]}";

    private final WarmUpMessages connection;
    private final String[] requests;

    WarmUpClient(URI door, String secret) throws IOException {
        connection = new WarmUpMessages(new Socket(door.getHost(), door.getPort()));
        requests = new String[] {
            chat(secret, "{\"model\":\"warm-up\",\"stream\":true," + MESSAGES),
            chat(secret, "{\"model\":\"warm-up\"," + MESSAGES),
            chat(secret, "{\"model\":\"unknown\"," + MESSAGES),
            chat("stranger", "{}")
        };
    }

    /** Sends each of the requests and reads its answer. */
    void round() throws IOException {
        for (String request : requests) {
            connection.write(request);
            connection.read();
        }
    }

    @Override
    public void close() throws IOException {
        connection.close();
    }

    private static String chat(String secret, String body) {
        return "POST /v1/chat/completions HTTP/1.1\r\nHost: warm-up\r\nAuthorization: Bearer " + secret
                + "\r\nContent-Type: application/json\r\nContent-Length: " + body.length() + "\r\n\r\n" + body;
    }
}
