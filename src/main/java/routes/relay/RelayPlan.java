package routes.relay;

/**
 * How one answer is relayed.
 *
 * @param upstream how the replica delimits the body
 * @param length bytes of the body with {@link Framing#LENGTH} upstream, else -1
 * @param client how the body is delimited for the client: {@code CHUNKED} writes HTTP/1.1 chunks, {@code LENGTH} hands
 *     the bytes on under the replica's own length, {@code CLOSE} writes data without framing
 * @param content what the body holds
 * @param cutUsage whether the usage-only event is taken out of the stream
 */
public record RelayPlan(Framing upstream, long length, Framing client, Content content, boolean cutUsage) {

    public RelayPlan {
        if ((upstream == Framing.LENGTH) != (length >= 0)) {
            throw new IllegalArgumentException("length: " + length + " (expected: >= 0 with LENGTH, -1 without)");
        }
        if (client == Framing.LENGTH && upstream != Framing.LENGTH) {
            throw new IllegalArgumentException("client: LENGTH (expected: CHUNKED or CLOSE for " + upstream + ")");
        }
        if (cutUsage && content != Content.SSE) {
            throw new IllegalArgumentException("content: " + content + " (expected: SSE when usage is cut)");
        }
        if (cutUsage && client == Framing.LENGTH) {
            throw new IllegalArgumentException("client: LENGTH (expected: CHUNKED or CLOSE when usage is cut)");
        }
    }

    /** Whether a read may leave as it came when nothing in it is cut. */
    boolean keepsFraming() {
        return (upstream == Framing.CHUNKED) == (client == Framing.CHUNKED);
    }
}
