package routes.contract;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import routes.error.ErrorBody;
import routes.error.ErrorCode;
import routes.error.GatewayException;

/** Errors as clients read them. */
class ErrorCatalogueTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String CHAT = "/v1/chat/completions";
    private static final String MESSAGES = "/v1/messages";

    /** Codes are in clients' code, usage lines and dashboards: they are added, never changed. */
    private static final List<String> CODES = List.of(
            "bad_request",
            "not_found",
            "method_not_allowed",
            "request_timeout",
            "body_too_large",
            "unsupported_media_type",
            "expectation_failed",
            "head_too_large",
            "unknown_transfer_coding",
            "http_version",
            "missing_api_key",
            "invalid_api_key",
            "conflicting_api_keys",
            "invalid_json",
            "invalid_form",
            "invalid_field",
            "duplicate_field",
            "missing_model",
            "model_not_found",
            "response_not_found",
            "rate_limit_exceeded",
            "token_limit_exceeded",
            "concurrency_limit_exceeded",
            "budget_exhausted",
            "body_budget_exhausted",
            "usage_backlog",
            "draining",
            "no_capacity",
            "queue_full",
            "queue_timeout",
            "no_replica",
            "response_unavailable",
            "upstream_connect_failed",
            "upstream_reset",
            "upstream_invalid",
            "upstream_unauthorized",
            "upstream_timeout",
            "upstream_error",
            "upstream_incomplete",
            "internal");

    @Test
    void codesAreUniqueAndNoneIsMissing() {
        List<String> codes = Stream.of(ErrorCode.values()).map(ErrorCode::code).toList();
        assertThat(codes).doesNotHaveDuplicates().containsAll(CODES);
    }

    @ParameterizedTest
    @EnumSource(ErrorCode.class)
    void openAiShape(ErrorCode code) throws IOException {
        JsonNode body = JSON.readTree(ErrorBody.render(new GatewayException(code), CHAT));

        assertThat(body.fieldNames()).toIterable().containsExactly("error");
        JsonNode error = body.path("error");
        assertThat(error.fieldNames()).toIterable().containsExactly("message", "type", "param", "code");
        assertThat(error.path("message").asText()).isEqualTo(code.text()).isNotBlank();
        assertThat(error.path("type").asText()).isEqualTo(code.type()).matches("[a-z_]+_error|insufficient_quota");
        assertThat(error.path("param").isNull()).isTrue();
        assertThat(error.path("code").asText()).isEqualTo(code.code()).matches("[a-z_]+");
    }

    @ParameterizedTest
    @EnumSource(ErrorCode.class)
    void anthropicShape(ErrorCode code) throws IOException {
        JsonNode body = JSON.readTree(ErrorBody.render(new GatewayException(code), MESSAGES));

        assertThat(body.fieldNames()).toIterable().containsExactly("type", "error");
        assertThat(body.path("type").asText()).isEqualTo("error");
        assertThat(body.path("error").fieldNames()).toIterable().containsExactly("type", "message");
        assertThat(body.path("error").path("type").asText())
                .isEqualTo(code.anthropicType())
                .isNotBlank();
        assertThat(body.path("error").path("message").asText()).isEqualTo(code.text());
    }

    @ParameterizedTest
    @EnumSource(ErrorCode.class)
    void theLastEventOfAStreamIsOneThatTheApisClientsKnow(ErrorCode code) throws IOException {
        GatewayException error = new GatewayException(code);
        assertThat(event(error, CHAT)).matches("data: \\{.*}\n\ndata: \\[DONE]\n\n");

        String[] responses = event(error, "/v1/responses").split("\n", -1);
        assertThat(responses).hasSize(4).startsWith("event: error").endsWith("", "");
        JsonNode data = JSON.readTree(responses[1].substring("data: ".length()));
        assertThat(data.path("type").asText()).isEqualTo("error");
        assertThat(data.path("code").asText()).isEqualTo(code.code());
        assertThat(data.path("message").asText()).isEqualTo(code.text());

        String[] messages = event(error, MESSAGES).split("\n", -1);
        assertThat(messages).hasSize(4).startsWith("event: error");
        assertThat(JSON.readTree(messages[1].substring("data: ".length()))
                        .path("error")
                        .path("type")
                        .asText())
                .isEqualTo(code.anthropicType());
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v1/messages", "/v1/messages/count_tokens"})
    void anthropicsShapeIsForItsPathsOnly(String path) {
        GatewayException error = new GatewayException(ErrorCode.NOT_FOUND);
        assertThat(ErrorBody.render(error, path)).startsWith("{\"type\":\"error\"".getBytes(StandardCharsets.UTF_8));
        assertThat(ErrorBody.render(error, "/v1/messagesx")).startsWith("{\"error\"".getBytes(StandardCharsets.UTF_8));
    }

    private static String event(GatewayException error, String path) {
        return new String(ErrorBody.event(error, path), StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @EnumSource(ErrorCode.class)
    void statusAndRetryAfterFitTogether(ErrorCode code) {
        assertThat(code.status()).isBetween(400, 599);
        assertThat(code.retryAfterSeconds()).isBetween(0, 60);
        if (code.status() == 429 || code.status() == 503) {
            assertThat(code.retryAfterSeconds()).as("it is a matter of time").isPositive();
        } else if (code.status() < 500) {
            assertThat(code.retryAfterSeconds())
                    .as("the same again fails again")
                    .isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(ErrorCode.class)
    void anyMessageAndParamIsValidJson(ErrorCode code) throws IOException {
        String nasty = "a\"b\\c\n\u0000\u001f\u007f\u2028\u2029é😀\ud800</script>";
        GatewayException error = new GatewayException(code, nasty, nasty);

        JsonNode openAi = JSON.readTree(ErrorBody.render(error, CHAT)).path("error");
        assertThat(openAi.path("message").asText()).startsWith("a\"b\\c\n\u0000\u001f\u007f\u2028\u2029é😀");
        assertThat(openAi.path("param").asText()).startsWith("a\"b\\c\n");
        assertThat(JSON.readTree(ErrorBody.render(error, MESSAGES))
                        .path("error")
                        .path("message")
                        .asText())
                .startsWith("a\"b\\c\n");
        assertThat(new String(ErrorBody.render(error, CHAT), StandardCharsets.UTF_8))
                .doesNotContain("\n")
                .doesNotContain("\u2028");
    }
}
