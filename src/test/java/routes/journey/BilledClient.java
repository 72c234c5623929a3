package routes.journey;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.Requests;

/**
 * Asks for one request after the other, on one connection while that lasts.
 *
 * <p><b>Threading:</b> confined to one thread; what is seen goes to a map that all clients share.
 */
final class BilledClient implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /**
     * What the client saw of its request.
     *
     * @param status 0 when no answer came
     * @param whole whether the answer came to its end
     * @param atNanos when that was
     */
    record Seen(int status, boolean whole, long atNanos) {}

    private final BilledGateway gateway;
    private final Map<String, Seen> seen;
    private @Nullable RawClient connection;
    private int connectedTo;

    BilledClient(BilledGateway gateway, ConcurrentHashMap<String, Seen> seen) {
        this.gateway = gateway;
        this.seen = seen;
    }

    /** @return false when it was refused, or nobody was there to be asked */
    boolean ask(String id, BilledKind kind) throws IOException {
        RawClient open = connection();
        if (open == null) {
            return false;
        }
        RawResponse answer = send(open, id, kind);
        if (answer == null) {
            seen.put(id, new Seen(0, false, System.nanoTime()));
            disconnect();
            return false;
        }
        if (kind.clientLeaves()) {
            answer.until("all of it", PATIENCE);
        } else {
            answer.finish(PATIENCE);
        }
        boolean whole = answer.end().filter(RawResponse.End.CLEAN::equals).isPresent();
        seen.put(id, new Seen(answer.status(), whole, System.nanoTime()));
        boolean closing = answer.header("connection").filter("close"::equals).isPresent();
        if (!whole || closing) {
            disconnect();
        }
        return answer.status() != 503;
    }

    /** Asks for an answer that goes on, and returns when some of it has come. */
    RawResponse begin(String id) throws IOException {
        RawClient open = connection();
        RawResponse answer = open == null ? null : send(open, id, BilledKind.LASTING);
        if (answer == null || !answer.until("all of it", PATIENCE)) {
            throw new IOException("no answer: " + answer);
        }
        seen.put(id, new Seen(answer.status(), false, System.nanoTime()));
        return answer;
    }

    private static @Nullable RawResponse send(RawClient to, String id, BilledKind kind) throws IOException {
        String json = "{\"model\":\"demo\",\"messages\":[{\"role\":\"user\",\"content\":\""
                + BilledReplica.prompt(id, kind) + "\"}]"
                + (kind.isStream() ? ",\"stream\":true" : "")
                + (kind.tellsRunningCounts()
                        ? ",\"stream_options\":{\"include_usage\":true,\"continuous_usage_stats\":true}}"
                        : "}");
        try {
            RawResponse answer = to.send(Requests.post("/v1/chat/completions", json)
                            .key(BilledGateway.KEY)
                            .header("X-Request-Id", id))
                    .begin(PATIENCE);
            return answer.status() == 0 ? null : answer;
        } catch (IOException e) {
            return null;
        }
    }

    private @Nullable RawClient connection() {
        int port = gateway.port();
        if (connection != null && connectedTo == port) {
            return connection;
        }
        try {
            disconnect();
            connection = RawClient.connect(port);
            connectedTo = port;
        } catch (IOException e) {
            // between two gateways
        }
        return connection;
    }

    private void disconnect() throws IOException {
        RawClient open = connection;
        connection = null;
        if (open != null) {
            open.leaveFin();
        }
    }

    @Override
    public void close() throws IOException {
        disconnect();
    }
}
