package routes.demo;

import com.fasterxml.jackson.databind.JsonNode;

/** Reads the texts of a request's JSON into a prompt. */
final class Texts {

    private Texts() {}

    /** The texts of a response's input: a text, or items with contents. */
    static String said(JsonNode input) {
        if (input.isTextual()) {
            return input.textValue();
        }
        StringBuilder said = new StringBuilder();
        for (JsonNode item : input) {
            said.append(item.path("role").asText()).append(' ');
            JsonNode content = item.path("content");
            if (content.isTextual()) {
                said.append(content.textValue()).append(' ');
            }
            for (JsonNode part : content) {
                said.append(part.path("text").asText()).append(' ');
            }
        }
        return said.toString();
    }

    /** A message's content: a text, or parts; a part that is not a text counts as one token. */
    static void addContent(Prompt prompt, JsonNode content) {
        if (content.isTextual()) {
            prompt.text(content.textValue());
        }
        if (content.isArray()) {
            for (JsonNode part : content) {
                if (part.path("text").isTextual()) {
                    prompt.text(part.path("text").textValue());
                } else {
                    prompt.token(part.toString().hashCode());
                }
            }
        }
    }

    /**
     * The value of a prompt or an input field: a text, a list of texts, a list of token ids, or a list of such lists.
     *
     * @return number of inputs
     */
    static int addInputs(Prompt prompt, JsonNode inputs, String field) throws DemoRejection {
        if (isOne(inputs)) {
            addOne(prompt, inputs);
            return 1;
        }
        if (!inputs.isArray() || inputs.isEmpty()) {
            throw DemoRejection.badRequest(field + ": a text or a list of texts is required", field);
        }
        for (JsonNode input : inputs) {
            if (!isOne(input)) {
                throw DemoRejection.badRequest(field + ": texts or lists of token ids are required", field);
            }
            addOne(prompt, input);
        }
        return inputs.size();
    }

    /** A text or a list of token ids. */
    static boolean isOne(JsonNode input) {
        return input.isTextual() || (input.isArray() && input.path(0).isIntegralNumber());
    }

    static void addOne(Prompt prompt, JsonNode input) {
        if (input.isTextual()) {
            prompt.text(input.textValue());
        } else {
            for (JsonNode id : input) {
                prompt.token(id.asLong());
            }
        }
    }
}
