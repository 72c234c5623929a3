package routes.demo;

import com.fasterxml.jackson.databind.JsonNode;
import org.jspecify.annotations.Nullable;

/**
 * What a completion, a response or a message asks for, as far as a demo replica cares.
 *
 * @param choices sequences to generate: {@code n} for each prompt
 * @param tokens tokens of each choice
 * @param cutShort the limit of the request ends the answer: {@code finish_reason} is {@code length}
 * @param tool name of the function to call instead of a text, or null
 * @param streaming how the answer is delivered
 */
record CompletionRequest(
        String model,
        Prompt prompt,
        int choices,
        int tokens,
        boolean cutShort,
        @Nullable String tool,
        Streaming streaming) {

    /** Most sequences of one request. */
    private static final int MAX_CHOICES = 128;

    /** Pieces of a call of a function without arguments: its head and {@code {}}. */
    private static final int TOOL_CALL_TOKENS = 2;

    /** Events or one JSON; with events, whether and where usage is told. */
    record Streaming(boolean on, boolean usage, boolean continuousUsage) {}

    static CompletionRequest chat(JsonNode body, DemoOptions options) throws DemoRejection {
        JsonNode messages = body.path("messages");
        if (!messages.isArray() || messages.isEmpty()) {
            throw DemoRejection.badRequest("messages: a list with at least one message is required", "messages");
        }
        Prompt prompt = new Prompt(body.path("cache_salt").asText(""));
        for (JsonNode message : messages) {
            prompt.text(message.path("role").asText());
            Texts.addContent(prompt, message.path("content"));
        }
        boolean answersTool =
                messages.get(messages.size() - 1).path("role").asText().equals("tool");
        String tool = answersTool ? null : tool(body);
        return of(body, options, prompt, choices(body), tool);
    }

    static CompletionRequest text(JsonNode body, DemoOptions options) throws DemoRejection {
        Prompt prompt = new Prompt(body.path("cache_salt").asText(""));
        int prompts = Texts.addInputs(prompt, body.path("prompt"), "prompt");
        long choices = (long) choices(body) * prompts;
        if (choices > MAX_CHOICES) {
            throw DemoRejection.badRequest("n times prompts: at most " + MAX_CHOICES + ", got " + choices, "n");
        }
        return of(body, options, prompt, (int) choices, null);
    }

    /** @param before what was said in the response that this one goes on from */
    static CompletionRequest response(JsonNode body, DemoOptions options, String before) throws DemoRejection {
        JsonNode input = body.path("input");
        if (!input.isTextual() && (!input.isArray() || input.isEmpty())) {
            throw DemoRejection.badRequest("input: a text or a list with at least one item is required", "input");
        }
        Prompt prompt = new Prompt(body.path("cache_salt").asText(""));
        prompt.text(body.path("instructions").asText("")).text(before).text(Texts.said(input));
        return of(body, options, prompt, 1, null);
    }

    static CompletionRequest message(JsonNode body, DemoOptions options) throws DemoRejection {
        JsonNode messages = body.path("messages");
        if (!messages.isArray() || messages.isEmpty()) {
            throw DemoRejection.badRequest("messages: a list with at least one message is required", "messages");
        }
        Prompt prompt = new Prompt("");
        Texts.addContent(prompt, body.path("system"));
        for (JsonNode message : messages) {
            prompt.text(message.path("role").asText());
            Texts.addContent(prompt, message.path("content"));
        }
        return of(body, options, prompt, 1, null);
    }

    private static CompletionRequest of(
            JsonNode body, DemoOptions options, Prompt prompt, int choices, @Nullable String tool)
            throws DemoRejection {
        Streaming streaming = streaming(body);
        int limit = maxTokens(body);
        int wanted = body.path("ignore_eos").asBoolean() && limit < DemoOptions.MAX_TOKENS ? limit : options.tokens();
        int tokens = tool == null ? Math.min(limit, wanted) : TOOL_CALL_TOKENS;
        boolean cutShort = tool == null && limit <= wanted && limit != options.tokens();
        return new CompletionRequest(model(body, options), prompt, choices, tokens, cutShort, tool, streaming);
    }

    /** The first served model when the request names none. */
    static String model(JsonNode body, DemoOptions options) throws DemoRejection {
        JsonNode model = body.path("model");
        if (model.isMissingNode() || model.isNull()) {
            return options.models().get(0);
        }
        if (!model.isTextual()) {
            throw DemoRejection.badRequest("model: a string is required", "model");
        }
        if (!options.models().contains(model.textValue())) {
            throw DemoRejection.unknownModel(model.textValue());
        }
        return model.textValue();
    }

    private static Streaming streaming(JsonNode body) throws DemoRejection {
        JsonNode stream = body.path("stream");
        if (!stream.isMissingNode() && !stream.isNull() && !stream.isBoolean()) {
            throw DemoRejection.badRequest("stream: a boolean is required", "stream");
        }
        JsonNode options = body.path("stream_options");
        if (options.isMissingNode() || options.isNull()) {
            return new Streaming(stream.asBoolean(), false, false);
        }
        if (!stream.asBoolean()) {
            throw DemoRejection.badRequest("Stream options can only be defined when `stream=True`.", "stream_options");
        }
        if (!options.isObject()) {
            throw DemoRejection.badRequest("stream_options: an object is required", "stream_options");
        }
        boolean usage = options.path("include_usage").asBoolean();
        return new Streaming(
                true, usage, usage && options.path("continuous_usage_stats").asBoolean());
    }

    private static int choices(JsonNode body) throws DemoRejection {
        return integer(body, "n", 1, MAX_CHOICES, 1);
    }

    private static int maxTokens(JsonNode body) throws DemoRejection {
        int older = integer(body, "max_tokens", 1, Integer.MAX_VALUE, DemoOptions.MAX_TOKENS);
        int newer = integer(body, "max_completion_tokens", 1, Integer.MAX_VALUE, older);
        newer = integer(body, "max_output_tokens", 1, Integer.MAX_VALUE, newer);
        return Math.min(newer, DemoOptions.MAX_TOKENS);
    }

    private static int integer(JsonNode body, String field, int min, int max, int otherwise) throws DemoRejection {
        JsonNode value = body.path(field);
        if (value.isMissingNode() || value.isNull()) {
            return otherwise;
        }
        if (!value.canConvertToInt() || !value.isIntegralNumber() || value.intValue() < min || value.intValue() > max) {
            throw DemoRejection.badRequest(
                    field + ": a whole number from " + min + " to " + max + " is required", field);
        }
        return value.intValue();
    }

    private static @Nullable String tool(JsonNode body) {
        JsonNode tools = body.path("tools");
        JsonNode choice = body.path("tool_choice");
        if (!tools.isArray() || tools.isEmpty() || choice.asText().equals("none")) {
            return null;
        }
        JsonNode named = choice.path("function").path("name");
        return named.isTextual()
                ? named.textValue()
                : tools.get(0).path("function").path("name").asText("function");
    }
}
