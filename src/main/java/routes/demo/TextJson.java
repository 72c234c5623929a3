package routes.demo;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

/** The JSON of {@code /v1/completions}: {@code text_completion} objects, as events and whole. */
final class TextJson extends CompletionJson {

    TextJson(CompletionRequest request, String id, String fingerprint) {
        super(request, "cmpl-" + id, fingerprint);
    }

    @Override
    String object(boolean event) {
        return "text_completion";
    }

    @Override
    @Nullable
    ObjectNode opening(int choice) {
        return null;
    }

    @Override
    ObjectNode token(int choice, int index) {
        return event(choice, object().put("text", piece(choice, index)), null);
    }

    @Override
    ObjectNode ending(int choice) {
        return event(choice, object().put("text", ""), finishReason());
    }

    @Override
    void addWhole(ObjectNode choiceNode, int choice) {
        choiceNode.put("text", text(choice));
    }

    @Override
    boolean tellsNullUsage() {
        return true;
    }
}
