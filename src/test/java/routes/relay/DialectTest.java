package routes.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What answers of responses and messages tell. */
class DialectTest {

    private static final String RESPONSE_USAGE =
            "\"usage\":{\"input_tokens\":5,\"input_tokens_details\":{\"cached_tokens\":4,"
                    + "\"cached_tokens_per_turn\":[4]},\"output_tokens\":2,\"output_tokens_details\":{\"reasoning_tokens\":1},"
                    + "\"total_tokens\":7}";

    // ---- responses

    @Test
    void aResponseIsCompleteWhenItsLastEventSaysSo() {
        AnswerFacts facts = events(
                Dialect.RESPONSES,
                response("response.created", "\"status\":\"in_progress\",\"usage\":null"),
                "{\"type\":\"response.output_text.delta\",\"delta\":\"usage\",\"sequence_number\":3}",
                response("response.completed", "\"status\":\"completed\",\"error\":null," + RESPONSE_USAGE));
        assertThat(facts.sawDone()).isTrue();
        assertThat(facts.errorSeen()).isFalse();
        assertThat(facts.finishReason()).isEqualTo("completed");
        assertThat(facts.events()).isEqualTo(1);
        assertThat(facts.usageFinal()).isTrue();
        assertUsage(facts, 5, 2, 7, 4, 1);
    }

    @Test
    void aResponseThatRanOutOfTokensIsASuccessWithAReason() {
        AnswerFacts facts = events(
                Dialect.RESPONSES,
                response(
                        "response.incomplete",
                        "\"incomplete_details\":{\"reason\":\"max_output_tokens\"},\"status\":\"incomplete\","
                                + RESPONSE_USAGE));
        assertThat(facts.sawDone()).isTrue();
        assertThat(facts.errorSeen()).isFalse();
        assertThat(facts.finishReason()).isEqualTo("max_output_tokens");
        assertUsage(facts, 5, 2, 7, 4, 1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"type\":\"response.failed\",\"response\":{\"id\":\"r\",\"status\":\"failed\",\"error\":{\"code\":\"x\"}}}",
                "{\"type\":\"error\",\"code\":\"x\",\"message\":\"no\"}",
                "{\"error\":{\"message\":\"no\"}}"
            })
    void aResponseThatFailsIsAnError(String event) {
        assertThat(events(Dialect.RESPONSES, event).errorSeen()).isTrue();
    }

    @Test
    void aStoredResponseThatFailedIsToldWithSuccess() {
        AnswerFacts facts = events(
                Dialect.STORED_RESPONSE,
                response("response.failed", "\"status\":\"failed\",\"error\":{\"code\":\"x\"}"));
        assertThat(facts.errorSeen()).isFalse();
        assertThat(facts.sawDone()).isTrue();
        assertThat(facts.finishReason()).isEqualTo("failed");
        assertThat(document(Dialect.STORED_RESPONSE, "{\"status\":\"failed\",\"error\":{\"code\":\"x\"}}")
                        .errorSeen())
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "response.output_text.delta",
                "response.reasoning_text.delta",
                "response.reasoning_summary_text.delta",
                "response.function_call_arguments.delta",
                "response.new_thing.delta"
            })
    void everyPieceOfAnAnswerCountsAsAnEvent(String type) {
        assertThat(events(Dialect.RESPONSES, "{\"type\":\"" + type + "\",\"delta\":\"a\"}")
                        .firstToken())
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"response.created", "response.in_progress", "response.output_item.added", "other"})
    void whatShowsTheReplicaAtWorkIsNoToken(String type) {
        AnswerFacts facts = events(Dialect.RESPONSES, "{\"type\":\"" + type + "\"}");
        assertThat(facts.firstToken()).isFalse();
        assertThat(facts.begun()).isTrue();
    }

    @Test
    void doneIsNoEndOfAResponseOrMessage() {
        assertThat(events(Dialect.RESPONSES, "[DONE]").sawDone()).isFalse();
        assertThat(events(Dialect.MESSAGES, "[DONE]").sawDone()).isFalse();
    }

    @Test
    void theIdOfAResponseIsToldOnceAndWithItsFirstEvent() {
        List<String> ids = new ArrayList<>();
        AnswerFacts facts = new AnswerFacts(Dialect.RESPONSES);
        facts.onResponseId(ids::add);
        EventScanner scanner = new EventScanner(facts);
        feed(scanner, response("response.created", "\"status\":\"queued\""));
        assertThat(ids).containsExactly("resp_1");
        feed(scanner, response("response.completed", "\"status\":\"completed\""));
        assertThat(ids).containsExactly("resp_1");
    }

    @Test
    void theIdOfAWholeResponseIsItsOwnAndNotThatOfAnItem() {
        List<String> ids = new ArrayList<>();
        AnswerFacts facts = new AnswerFacts(Dialect.RESPONSES);
        facts.onResponseId(ids::add);
        DocumentScanner scanner = new DocumentScanner(facts);
        byte[] bytes = bytes(
                "{\"output\":[{\"id\":\"msg_1\",\"status\":\"x\"}],\"id\":\"resp_\\u0032\",\"status\":\"completed\","
                        + "\"metadata\":{\"id\":\"m\",\"usage\":{\"input_tokens\":99}}," + RESPONSE_USAGE + "}");
        scanner.data(bytes, 0, bytes.length);
        assertThat(ids).isEmpty();
        scanner.end();
        assertThat(ids).containsExactly("resp_2");
        assertThat(facts.finishReason()).isEqualTo("completed");
        assertUsage(facts, 5, 2, 7, 4, 1);
    }

    @Test
    void anIdThatIsTooLongIsNone() {
        AnswerFacts facts = new AnswerFacts(Dialect.RESPONSES);
        facts.onResponseId(id -> {
            throw new AssertionError(id);
        });
        DocumentScanner scanner = new DocumentScanner(facts);
        byte[] bytes = bytes("{\"id\":\"" + "r".repeat(193) + "\"}");
        scanner.data(bytes, 0, bytes.length);
        scanner.end();
    }

    @Test
    void usageThatWasCountedBeforeIsIgnored() {
        AnswerFacts facts = new AnswerFacts(Dialect.STORED_RESPONSE);
        facts.ignoreUsage();
        DocumentScanner scanner = new DocumentScanner(facts);
        byte[] bytes = bytes("{\"status\":\"completed\"," + RESPONSE_USAGE + "}");
        scanner.data(bytes, 0, bytes.length);
        scanner.end();
        assertThat(facts.usageKnown()).isFalse();
        assertThat(facts.finishReason()).isEqualTo("completed");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"type\":\"response.completed\",\"usage\":{\"input_tokens\":9}}",
                "{\"type\":\"response.completed\",\"response\":{\"output\":[{\"usage\":{\"input_tokens\":9}}]}}",
                "{\"type\":\"response.completed\",\"response\":{\"usage\":{\"prompt_tokens\":9}}}",
                "{\"type\":\"response.output_text.delta\",\"response\":{\"usage\":{\"input_tokens\":9}}}"
            })
    void whatStandsElsewhereIsNotAResponsesUsage(String event) {
        assertThat(events(Dialect.RESPONSES, event).usageKnown()).isFalse();
    }

    // ---- messages

    @Test
    void aMessagesTotalsAreTheLastOnesAndNeverSummed() {
        AnswerFacts facts = events(
                Dialect.MESSAGES,
                start("\"input_tokens\":9,\"output_tokens\":1"),
                "{\"type\":\"ping\"}",
                "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}",
                "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"A\"}}",
                "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":null},\"usage\":{\"output_tokens\":3}}",
                "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":4}}",
                "{\"type\":\"message_stop\"}");
        assertThat(facts.sawDone()).isTrue();
        assertThat(facts.finishReason()).isEqualTo("end_turn");
        assertThat(facts.events()).isEqualTo(1);
        assertThat(facts.usageFinal()).isTrue();
        assertUsage(facts, 9, 4, 13, -1, -1);
    }

    @Test
    void runningTotalsOfAMessageAreNoFinalOnes() {
        AnswerFacts facts = events(Dialect.MESSAGES, start("\"input_tokens\":9,\"output_tokens\":0"));
        assertThat(facts.runningUsage()).isTrue();
        assertThat(facts.usageFinal()).isFalse();
        assertThat(facts.sawDone()).isFalse();
        assertUsage(facts, 9, -1, -1, -1, -1);
    }

    @ParameterizedTest
    @CsvSource({
        "'\"input_tokens\":9', 9, -1",
        "'\"input_tokens\":2,\"cache_read_input_tokens\":7,\"cache_creation_input_tokens\":0', 9, 7",
        "'\"input_tokens\":2,\"cache_read_input_tokens\":3,\"cache_creation_input_tokens\":4', 9, 3",
        "'\"cache_read_input_tokens\":null,\"input_tokens\":9', 9, -1"
    })
    void theWholePromptIsCountedWhereverItCameFrom(String usage, long prompt, long cached) {
        AnswerFacts facts = document(
                Dialect.MESSAGES,
                "{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"usage\":{\"input_tokens\":1}}],"
                        + "\"stop_reason\":\"tool_use\",\"usage\":{" + usage + ",\"output_tokens\":4}}");
        assertUsage(facts, prompt, 4, prompt + 4, cached, -1);
        assertThat(facts.usageFinal()).isTrue();
        assertThat(facts.finishReason()).isEqualTo("tool_use");
    }

    @Test
    void anEndThatTellsLessThanTheBeginningTakesNothingAway() {
        AnswerFacts facts = events(
                Dialect.MESSAGES,
                start("\"input_tokens\":2,\"cache_read_input_tokens\":7,\"output_tokens\":0"),
                "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},"
                        + "\"usage\":{\"input_tokens\":2,\"output_tokens\":4}}");
        assertUsage(facts, 9, 4, 13, 7, -1);
    }

    @Test
    void anErrorEndsAMessage() {
        AnswerFacts facts = events(
                Dialect.MESSAGES,
                "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"no\"}}",
                "[DONE]");
        assertThat(facts.errorSeen()).isTrue();
        assertThat(facts.sawDone()).isFalse();
    }

    @Test
    void aCountOfTokensIsNoUsage() {
        assertThat(document(Dialect.MESSAGES, "{\"input_tokens\":9}").usageKnown())
                .isFalse();
    }

    // ---- embeddings as Cohere has them

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"id\":\"e\",\"embeddings\":{\"float\":[[1,2]]},\"meta\":{\"api_version\":{\"version\":\"2\"},\"tokens\":{\"input_tokens\":5}}}",
                "{\"meta\":{\"billed_units\":{\"images\":1,\"input_tokens\":5}},\"texts\":[\"meta\",\"{\\\"tokens\"]}",
                "{\"meta\":{\"tokens\":{\"input_tokens\":9}},\"m\\u0065ta\": { \"tokens\" : {\"input_tokens\" : 5 }}}",
                "{\"usage\":{\"prompt_tokens\":9},\"meta\":{\"tokens\":{\"output_tokens\":9,\"input_tokens\":5}},\"x\":{\"meta\":{\"tokens\":{\"input_tokens\":9}}}}"
            })
    void whatWentInIsThePromptAndTheTotal(String json) {
        AnswerFacts facts = document(Dialect.EMBED, json);
        assertUsage(facts, 5, -1, 5, -1, -1);
        assertThat(facts.usageFinal()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"meta\":null}",
                "{\"meta\":{\"tokens\":null}}",
                "{\"meta\":{\"tokens\":{}}}",
                "{\"meta\":{\"input_tokens\":5}}",
                "{\"tokens\":{\"input_tokens\":5}}",
                "{\"meta\":{\"tokens\":{\"input_tokens\":5}},\"meta\":{}}",
                "{\"meta\":{\"tokens\":{\"input_tokens\":5}}"
            })
    void embeddingsThatDontTellTokensHaveNoUsage(String json) {
        assertThat(document(Dialect.EMBED, json).usageKnown()).isFalse();
        assertThat(document(Dialect.EMBED, json).totalTokens()).isEqualTo(-1);
    }

    private static String start(String usage) {
        return "{\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"content\":[],\"stop_reason\":null,\"usage\":{"
                + usage + "}}}";
    }

    private static String response(String type, String members) {
        return "{\"type\":\"" + type
                + "\",\"sequence_number\":1,\"response\":{\"id\":\"resp_1\",\"output\":[{\"id\":\"m\"}]," + members
                + "}}";
    }

    private static void assertUsage(
            AnswerFacts facts, long prompt, long completion, long total, long cached, long reasoning) {
        assertThat(List.of(
                        facts.promptTokens(),
                        facts.completionTokens(),
                        facts.totalTokens(),
                        facts.cachedTokens(),
                        facts.reasoningTokens()))
                .containsExactly(prompt, completion, total, cached, reasoning);
    }

    private static AnswerFacts events(Dialect dialect, String... data) {
        AnswerFacts facts = new AnswerFacts(dialect);
        EventScanner scanner = new EventScanner(facts);
        for (String each : data) {
            feed(scanner, each);
        }
        scanner.end();
        return facts;
    }

    private static void feed(EventScanner scanner, String data) {
        byte[] bytes = bytes("event: x\ndata: " + data + "\n\n");
        scanner.data(bytes, 0, bytes.length);
    }

    private static AnswerFacts document(Dialect dialect, String json) {
        AnswerFacts facts = new AnswerFacts(dialect);
        DocumentScanner scanner = new DocumentScanner(facts);
        byte[] bytes = bytes(json);
        scanner.data(bytes, 0, bytes.length);
        scanner.end();
        return facts;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
