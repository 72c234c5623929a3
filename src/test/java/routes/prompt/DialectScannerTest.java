package routes.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.request.Api;
import routes.request.Prompt;

/** Bodies of responses and messages. */
class DialectScannerTest {

    private static final String ITEMS =
            "[{\"role\":\"system\",\"content\":\"s\"},{\"type\":\"message\",\"role\":\"user\",\"content\":\"a\"},"
                    + "{\"type\":\"function_call\",\"name\":\"f\"},{\"type\":\"function_call_output\",\"output\":\"{}\"}]";

    // ---- responses

    @Test
    void aResponsesFieldsAreRead() throws GatewayException {
        Prompt prompt = response(
                "{\"model\":\"m1\",\"stream\":true,\"user\":\"u\",\"max_output_tokens\":9,\"background\":true,"
                        + "\"store\":false,\"previous_response_id\":\"resp_\\u0031\",\"prompt_cache_key\":\"k\",\"input\":\"hi\"}");
        assertThat(prompt.stream()).isTrue();
        assertThat(prompt.user()).isEqualTo("u");
        assertThat(prompt.maxTokens()).isEqualTo(9);
        assertThat(prompt.background()).isTrue();
        assertThat(prompt.store()).isFalse();
        assertThat(prompt.previousResponseId()).isEqualTo("resp_1");
        assertThat(prompt.promptCacheKey()).isEqualTo("k");
        assertThat(prompt.promptStart()).isPositive();
        assertThat(prompt.messagesStart()).isEqualTo(-1);
    }

    @Test
    void withoutThemTheyAreWhatTheApiSays() throws GatewayException {
        Prompt prompt = response("{\"model\":\"m1\",\"background\":null,\"store\":null,\"previous_response_id\":null,"
                + "\"instructions\":null,\"max_output_tokens\":null,\"request_id\":null}");
        assertThat(prompt.background()).isFalse();
        assertThat(prompt.store()).isTrue();
        assertThat(prompt.previousResponseId()).isNull();
        assertThat(prompt.systemStart()).isEqualTo(-1);
        assertThat(prompt.maxTokens()).isEqualTo(-1);
    }

    @Test
    void itemsStandWhereMessagesStandInAChat() throws GatewayException {
        String json = "{\"model\":\"m1\",\"instructions\":\"be brief\",\"input\":" + ITEMS + "}";
        Prompt prompt = response(json);
        assertThat(span(json, prompt.messagesStart(), prompt.messagesEnd())).isEqualTo(ITEMS);
        assertThat(span(json, prompt.messagesStart(), prompt.firstUserEnd())).endsWith("\"content\":\"a\"}");
        assertThat(span(json, prompt.lastTurnStart(), prompt.messagesEnd()))
                .isEqualTo("{\"type\":\"function_call_output\",\"output\":\"{}\"}]");
        assertThat(span(json, prompt.systemStart(), prompt.systemEnd())).isEqualTo("\"be brief\"");
        assertThat(prompt.promptStart()).isEqualTo(-1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"background\":\"true\"",
                "\"store\":1",
                "\"stream\":\"false\"",
                "\"max_output_tokens\":\"9\"",
                "\"max_output_tokens\":1.5",
                "\"previous_response_id\":5",
                "\"previous_response_id\":\"\"",
                "\"previous_response_id\":[\"resp_1\"]",
                "\"instructions\":[\"a\"]",
                "\"input\":{\"role\":\"user\"}",
                "\"input\":null",
                "\"request_id\":\"resp_of_somebody_else\""
            })
    void aValueThatAReplicaMightCoerceIsRefused(String member) {
        GatewayException refusal = refusal(Api.RESPONSES, "{\"model\":\"m1\"," + member + "}");
        assertThat(refusal.code()).isEqualTo(ErrorCode.INVALID_FIELD);
        assertThat(member).startsWith("\"" + refusal.param() + "\"");
    }

    @Test
    void anIdThatIsTooLongIsRefusedAndNotCut() {
        String id = "r".repeat(257);
        assertThat(refusal(Api.RESPONSES, "{\"model\":\"m1\",\"previous_response_id\":\"" + id + "\"}")
                        .code())
                .isEqualTo(ErrorCode.INVALID_FIELD);
    }

    @ParameterizedTest
    @CsvSource({
        "RESPONSES, input",
        "RESPONSES, instructions",
        "RESPONSES, previous_response_id",
        "RESPONSES, max_output_tokens",
        "RESPONSES, background",
        "RESPONSES, store",
        "RESPONSES, cache_salt",
        "MESSAGES, messages",
        "MESSAGES, system",
        "MESSAGES, max_tokens",
        "MESSAGES, metadata",
        "MESSAGES, tools"
    })
    void aDecidingKeyMayNotAppearTwice(Api api, String key) {
        String value = key.equals("input") ? "\"a\"" : "null";
        String escaped = String.format("\\u%04x", (int) key.charAt(0)) + key.substring(1);
        for (String second : new String[] {key, escaped}) {
            GatewayException refusal =
                    refusal(api, "{\"model\":\"m1\",\"" + key + "\":" + value + ",\"" + second + "\":" + value + "}");
            assertThat(refusal.code()).isEqualTo(ErrorCode.DUPLICATE_FIELD);
            assertThat(refusal.param()).isEqualTo(key);
        }
    }

    @Test
    void inAChatTheseKeysMeanNothing() throws GatewayException {
        Prompt prompt = scan(
                Api.CHAT_COMPLETIONS,
                "{\"model\":\"m1\",\"store\":\"x\",\"store\":1,\"metadata\":5,\"system\":1,\"request_id\":\"r\",\"input\":[1,2]}");
        assertThat(prompt.store()).isTrue();
        assertThat(prompt.promptStart()).isPositive();
    }

    // ---- messages

    @Test
    void aMessagesFieldsAreRead() throws GatewayException {
        String system = "[{\"type\":\"text\",\"text\":\"be brief\"}]";
        String json = "{\"model\":\"m1\",\"max_tokens\":9,\"stream\":true,\"system\":" + system
                + ",\"metadata\":{\"x\":[1],\"user\\u005fid\":\"u\"},\"tools\":[],"
                + "\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":\"b\"},"
                + "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"role\":\"x\"}]}]}";
        Prompt prompt = scan(Api.MESSAGES, json);
        assertThat(prompt.maxTokens()).isEqualTo(9);
        assertThat(prompt.stream()).isTrue();
        assertThat(prompt.user()).isEqualTo("u");
        assertThat(span(json, prompt.systemStart(), prompt.systemEnd())).isEqualTo(system);
        assertThat(span(json, prompt.messagesStart(), prompt.firstUserEnd())).endsWith("\"content\":\"a\"}");
        assertThat(span(json, prompt.lastTurnStart(), prompt.messagesEnd()))
                .startsWith("{\"role\":\"user\",\"content\":[");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"max_tokens\":\"9\"", "\"system\":5", "\"metadata\":\"u\"", "\"stream\":1"})
    void aMessagesValueOfTheWrongTypeIsRefused(String member) {
        assertThat(refusal(Api.MESSAGES, "{\"model\":\"m1\"," + member + "}").code())
                .isEqualTo(ErrorCode.INVALID_FIELD);
    }

    @Test
    void aUserThatAppearsTwiceIsRefused() {
        assertThat(refusal(Api.MESSAGES, "{\"model\":\"m1\",\"metadata\":{\"user_id\":\"a\",\"user_id\":\"b\"}}")
                        .param())
                .isEqualTo("metadata.user_id");
    }

    private static Prompt response(String json) throws GatewayException {
        return scan(Api.RESPONSES, json);
    }

    private static Prompt scan(Api api, String json) throws GatewayException {
        ByteBuf body = Bodies.direct(Bodies.utf8(json));
        try {
            return PromptScanner.scan(body, api);
        } finally {
            body.release();
        }
    }

    private static GatewayException refusal(Api api, String json) {
        GatewayException refusal = catchThrowableOfType(GatewayException.class, () -> scan(api, json));
        assertThat(refusal).as(json).isNotNull();
        return refusal;
    }

    private static String span(String json, int start, int end) {
        byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
        return new String(bytes, start, end - start, StandardCharsets.UTF_8);
    }
}
