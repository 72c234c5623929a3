package routes.demo;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Answers {@code /v1/messages} with one text block, as one JSON or as events as they come. */
final class MessageOutput implements Output {

    private final DemoConnection connection;
    private final CompletionRequest request;
    private final String id;
    private final Passage passage;
    private int cachedTokens;
    private int generated;

    MessageOutput(DemoConnection connection, CompletionRequest request, String id) {
        this.connection = connection;
        this.request = request;
        this.id = id;
        passage = new Passage(request.prompt().seed());
    }

    @Override
    public void begin(int cached) {
        cachedTokens = cached;
        if (request.streaming().on()) {
            ObjectNode start = event("message_start");
            start.set("message", message().putNull("stop_reason"));
            send(start);
        }
    }

    @Override
    public void token(int index) {
        generated++;
        if (!request.streaming().on()) {
            return;
        }
        if (index == 0) {
            ObjectNode start = event("content_block_start").put("index", 0);
            start.putObject("content_block").put("type", "text").put("text", "");
            send(start);
        }
        ObjectNode delta = event("content_block_delta").put("index", 0);
        delta.putObject("delta").put("type", "text_delta").put("text", passage.piece(index));
        send(delta);
    }

    @Override
    public void end() {
        String reason = request.cutShort() ? "max_tokens" : "end_turn";
        if (!request.streaming().on()) {
            ObjectNode whole = message().put("stop_reason", reason);
            ((ArrayNode) whole.path("content")).addObject().put("type", "text").put("text", passage.text(generated));
            connection.json(200, whole);
            return;
        }
        send(event("content_block_stop").put("index", 0));
        ObjectNode delta = event("message_delta");
        delta.putObject("delta").put("stop_reason", reason).putNull("stop_sequence");
        putUsage(delta);
        send(delta);
        send(event("message_stop"));
        connection.endEvents();
    }

    private static ObjectNode event(String type) {
        return CompletionJson.object().put("type", type);
    }

    private void send(ObjectNode event) {
        connection.event(event.path("type").asText(), event);
    }

    private ObjectNode message() {
        ObjectNode message = CompletionJson.object()
                .put("id", "msg_" + id)
                .put("type", "message")
                .put("role", "assistant")
                .put("model", request.model())
                .putNull("stop_sequence");
        message.putArray("content");
        putUsage(message);
        return message;
    }

    /** What comes from the cache is told apart from the other tokens of the prompt. */
    private void putUsage(ObjectNode parent) {
        parent.putObject("usage")
                .put("input_tokens", request.prompt().tokens() - cachedTokens)
                .put("output_tokens", generated)
                .put("cache_read_input_tokens", cachedTokens)
                .put("cache_creation_input_tokens", 0);
    }
}
