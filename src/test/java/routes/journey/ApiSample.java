package routes.journey;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import routes.fixture.Form;
import routes.fixture.Requests;
import routes.request.Api;

/**
 * A small request of an API that takes a body, and the answer to it: made from what the API's row in the table says, so that a
 * new row has one.
 */
final class ApiSample {

    static final String BOUNDARY = "----api-sample-7";
    static final String FORM_TYPE = "multipart/form-data; Boundary=\"" + BOUNDARY + "\"";

    private final Api api;

    private ApiSample(Api api) {
        this.api = api;
    }

    static Stream<ApiSample> all() {
        return Stream.of(Api.values())
                .filter(api -> api.body() != Api.Body.NONE)
                .map(ApiSample::new);
    }

    Api api() {
        return api;
    }

    boolean isForm() {
        return api.body() == Api.Body.FORM;
    }

    String type() {
        return isForm() ? FORM_TYPE : "application/json";
    }

    /** A body that names this model, with odd white space, look-alikes and numbers that nobody may touch. */
    byte[] body(String model) {
        if (isForm()) {
            return new Form(BOUNDARY)
                    .file("file", "name=\\\"model\\\".wav", new byte[] {0, 1, 13, 10, '-', '-', -1, '-'})
                    .field("model", model)
                    .field("prompt", "\r\n\r\nmodel=m2")
                    .end();
        }
        return ("{ \"input\" : \"\\u00e9 \\\"model\\\":\\\"m2\\\"\",\r\n\t\"seed\":9007199254740993,\"x\":{\"model\":\"m2\"},"
                        + "\"model\" : \"" + model + "\", \"top_p\":1e-7 }\n")
                .getBytes(StandardCharsets.UTF_8);
    }

    /** A body that names no model. */
    byte[] bodyWithoutModel() {
        return isForm()
                ? new Form(BOUNDARY).file("file", "model", new byte[] {1}).end()
                : "{\"input\":\"hi\"}".getBytes(StandardCharsets.UTF_8);
    }

    Requests request(byte[] body) {
        return Requests.request(api.method(), api.path())
                .header("Content-Type", type())
                .body(body);
    }

    Requests request(String model) {
        return request(body(model));
    }

    /** Whether the answer tells tokens, as {@link #answer} does. */
    boolean hasUsage() {
        return api.costsTokens();
    }

    long promptTokens() {
        return 5;
    }

    /** -1 where there are none. */
    long completionTokens() {
        return switch (api.dialect()) {
            case EMBED -> -1;
            case COMPLETIONS, RESPONSES, STORED_RESPONSE, MESSAGES -> 2;
        };
    }

    long totalTokens() {
        return promptTokens() + Math.max(0, completionTokens());
    }

    /** An answer with a usage that counts, and others that don't, filled up to about this many bytes. */
    String answer(int bytes, boolean usageFirst) {
        String filler =
                "\"data\":[{\"usage\":{\"prompt_tokens\":9,\"input_tokens\":9,\"total_tokens\":9},\"meta\":{\"tokens\":"
                        + "{\"input_tokens\":9}},\"text\":\"\\\"usage\\\":{" + "u".repeat(Math.max(0, bytes - 200))
                        + "\"}]";
        String usage = hasUsage()
                ? switch (api.dialect()) {
                    case COMPLETIONS ->
                        "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2,\"total_tokens\":7,\"prompt_tokens_details\":null}";
                    case RESPONSES, STORED_RESPONSE ->
                        "\"status\":\"completed\",\"usage\":{\"input_tokens\":5,\"output_tokens\":2,\"total_tokens\":7}";
                    case MESSAGES -> "\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":5,\"output_tokens\":2}";
                    case EMBED -> "\"meta\":{\"api_version\":{\"version\":\"2\"},\"tokens\":{\"input_tokens\":5}}";
                }
                : "\"count\":3";
        List<String> members = usageFirst ? List.of(usage, filler) : List.of(filler, usage);
        return "{\"id\":\"x-1\"," + String.join(",", members) + "}";
    }

    @Override
    public String toString() {
        return api.label();
    }
}
