package routes.demo;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.function.BiConsumer;

/** Answers {@code /v1/responses} with one message, as one JSON or as events as they come. */
final class ResponseOutput implements Output {

    private final DemoConnection connection;
    private final CompletionRequest request;
    private final String id;
    private final BiConsumer<ObjectNode, String> keep;
    private final Passage passage;
    private final long created = System.currentTimeMillis() / 1000;
    private int cachedTokens;
    private int generated;
    private int sequence;

    /** @param keep told the finished response and its text */
    ResponseOutput(
            DemoConnection connection, CompletionRequest request, String id, BiConsumer<ObjectNode, String> keep) {
        this.connection = connection;
        this.request = request;
        this.id = id;
        this.keep = keep;
        passage = new Passage(request.prompt().seed());
    }

    @Override
    public void begin(int cached) {
        cachedTokens = cached;
        if (request.streaming().on()) {
            send(event("response.created").set("response", response("in_progress")));
            send(event("response.in_progress").set("response", response("in_progress")));
        }
    }

    @Override
    public void token(int index) {
        generated++;
        if (!request.streaming().on()) {
            return;
        }
        if (index == 0) {
            send(event("response.output_item.added").put("output_index", 0).set("item", item("in_progress")));
            send(place(event("response.content_part.added")).set("part", part("")));
        }
        ObjectNode delta = place(event("response.output_text.delta")).put("delta", passage.piece(index));
        delta.putArray("logprobs");
        send(delta);
    }

    @Override
    public void end() {
        ObjectNode whole = response(request.cutShort() ? "incomplete" : "completed");
        keep.accept(whole, text());
        if (!request.streaming().on()) {
            connection.json(200, whole);
            return;
        }
        ObjectNode done = place(event("response.output_text.done")).put("text", text());
        done.putArray("logprobs");
        send(done);
        send(place(event("response.content_part.done")).set("part", part(text())));
        send(event("response.output_item.done").put("output_index", 0).set("item", item("completed")));
        send(event("response.completed").set("response", whole));
        connection.endEvents();
    }

    private ObjectNode event(String type) {
        return CompletionJson.object().put("type", type).put("sequence_number", sequence++);
    }

    private void send(ObjectNode event) {
        connection.event(event.path("type").asText(), event);
    }

    private ObjectNode place(ObjectNode of) {
        return of.put("item_id", itemId()).put("output_index", 0).put("content_index", 0);
    }

    private String itemId() {
        return "msg_" + id;
    }

    private String text() {
        return passage.text(generated);
    }

    private ObjectNode item(String status) {
        ObjectNode item = CompletionJson.object()
                .put("id", itemId())
                .put("type", "message")
                .put("role", "assistant")
                .put("status", status);
        ArrayNode content = item.putArray("content");
        if (status.equals("completed")) {
            content.add(part(text()));
        }
        return item;
    }

    private static ObjectNode part(String text) {
        ObjectNode part = CompletionJson.object().put("type", "output_text").put("text", text);
        part.putArray("annotations");
        return part;
    }

    private ObjectNode response(String status) {
        boolean over = !status.equals("in_progress");
        ObjectNode json = CompletionJson.object()
                .put("id", id)
                .put("object", "response")
                .put("created_at", created)
                .put("status", status)
                .put("model", request.model())
                .put("parallel_tool_calls", true)
                .put("temperature", 1.0)
                .put("tool_choice", "auto")
                .put("top_p", 1.0)
                .put("background", false)
                .put("truncation", "disabled")
                .put("service_tier", "auto")
                .putNull("error")
                .putNull("instructions")
                .putNull("metadata");
        json.putArray("tools");
        ArrayNode output = json.putArray("output");
        if (status.equals("incomplete")) {
            json.putObject("incomplete_details").put("reason", "max_output_tokens");
        } else {
            json.putNull("incomplete_details");
        }
        if (!over) {
            return json.putNull("usage");
        }
        output.add(item("completed"));
        int prompt = request.prompt().tokens();
        ObjectNode usage = json.putObject("usage")
                .put("input_tokens", prompt)
                .put("output_tokens", generated)
                .put("total_tokens", prompt + generated);
        usage.putObject("input_tokens_details").put("cached_tokens", cachedTokens);
        usage.putObject("output_tokens_details").put("reasoning_tokens", 0);
        return json;
    }
}
