package routes.demo;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The JSON of one completion, whole or as events. */
abstract class CompletionJson {

    final CompletionRequest request;
    private final String id;
    private final String fingerprint;
    private final long created = System.currentTimeMillis() / 1000;
    private final List<Passage> passages = new ArrayList<>();
    private int cachedTokens;
    private int generated;

    CompletionJson(CompletionRequest request, String id, String fingerprint) {
        this.request = request;
        this.id = id;
        this.fingerprint = fingerprint;
        for (int choice = 0; choice < request.choices(); choice++) {
            passages.add(new Passage(request.prompt().seed() + choice));
        }
    }

    /** Value of {@code object} in events, then in a whole answer. */
    abstract String object(boolean event);

    /** The event that opens a choice, or null when the API has none. */
    abstract @Nullable ObjectNode opening(int choice);

    /** The event of a choice's token. */
    abstract ObjectNode token(int choice, int index);

    /** The event that ends a choice. */
    abstract ObjectNode ending(int choice);

    /** Puts all that was generated into a choice of a whole answer. */
    abstract void addWhole(ObjectNode choiceNode, int choice);

    /** Whether an event without usage carries {@code "usage":null}. */
    abstract boolean tellsNullUsage();

    final void cached(int tokens) {
        cachedTokens = tokens;
    }

    /** Counts one more token of every choice. */
    final void count() {
        generated += request.choices();
    }

    final ObjectNode usageEvent() {
        ObjectNode event = frame(true);
        event.putArray("choices");
        putUsage(event);
        return event;
    }

    final ObjectNode whole() {
        ObjectNode answer = frame(false);
        ArrayNode choices = answer.putArray("choices");
        for (int choice = 0; choice < request.choices(); choice++) {
            ObjectNode node = choices.addObject().put("index", choice);
            addWhole(node, choice);
            node.putNull("logprobs").put("finish_reason", finishReason());
        }
        putUsage(answer);
        return answer;
    }

    /** An event of one choice with the given content. */
    final ObjectNode event(int choice, ObjectNode content, @Nullable String finishReason) {
        ObjectNode event = frame(true);
        ObjectNode node = event.putArray("choices").addObject().put("index", choice);
        node.setAll(content);
        node.putNull("logprobs").put("finish_reason", finishReason);
        if (request.streaming().continuousUsage()) {
            putUsage(event);
        } else if (tellsNullUsage()) {
            event.putNull("usage");
        }
        return event;
    }

    final String piece(int choice, int index) {
        return passages.get(choice).piece(index);
    }

    final String text(int choice) {
        return passages.get(choice).text(request.tokens());
    }

    final String finishReason() {
        if (request.tool() != null) {
            return "tool_calls";
        }
        return request.cutShort() ? "length" : "stop";
    }

    static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    private ObjectNode frame(boolean event) {
        return object().put("id", id)
                .put("object", object(event))
                .put("created", created)
                .put("model", request.model())
                .put("system_fingerprint", fingerprint);
    }

    private void putUsage(ObjectNode parent) {
        int prompt = request.prompt().tokens();
        ObjectNode usage = parent.putObject("usage")
                .put("prompt_tokens", prompt)
                .put("total_tokens", prompt + generated)
                .put("completion_tokens", generated);
        usage.putObject("prompt_tokens_details").put("cached_tokens", cachedTokens);
    }
}
