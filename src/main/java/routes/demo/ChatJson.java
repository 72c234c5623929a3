package routes.demo;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

/** The JSON of {@code /v1/chat/completions}: a text or one tool call. */
final class ChatJson extends CompletionJson {

    private final String callId;

    ChatJson(CompletionRequest request, String id, String fingerprint) {
        super(request, "chatcmpl-" + id, fingerprint);
        callId = "chatcmpl-tool-" + id;
    }

    @Override
    String object(boolean event) {
        return event ? "chat.completion.chunk" : "chat.completion";
    }

    @Override
    ObjectNode opening(int choice) {
        return delta(choice, object().put("role", "assistant").put("content", ""), null);
    }

    @Override
    ObjectNode token(int choice, int index) {
        String tool = request.tool();
        if (tool == null) {
            return delta(choice, object().put("content", piece(choice, index)), null);
        }
        ObjectNode delta = object();
        ObjectNode call = delta.putArray("tool_calls").addObject();
        if (index == 0) {
            putCall(call.put("index", 0), choice, tool, "");
        } else {
            call.put("index", 0).putObject("function").put("arguments", "{}");
        }
        return delta(choice, delta, null);
    }

    @Override
    ObjectNode ending(int choice) {
        return delta(choice, object(), finishReason());
    }

    @Override
    void addWhole(ObjectNode choiceNode, int choice) {
        ObjectNode message = choiceNode.putObject("message").put("role", "assistant");
        String tool = request.tool();
        if (tool == null) {
            message.put("content", text(choice));
        } else {
            message.putNull("content");
            putCall(message.putArray("tool_calls").addObject(), choice, tool, "{}");
        }
    }

    @Override
    boolean tellsNullUsage() {
        return false;
    }

    private ObjectNode delta(int choice, ObjectNode delta, @Nullable String finishReason) {
        ObjectNode content = object();
        content.set("delta", delta);
        return event(choice, content, finishReason);
    }

    private void putCall(ObjectNode call, int choice, String tool, String arguments) {
        call.put("id", callId + "-" + choice).put("type", "function");
        call.putObject("function").put("name", tool).put("arguments", arguments);
    }
}
