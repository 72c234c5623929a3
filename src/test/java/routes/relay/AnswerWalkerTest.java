package routes.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AnswerWalkerTest {

    private static final String USAGE = "\"usage\":{\"prompt_tokens\":5,\"total_tokens\":7,\"completion_tokens\":2}";

    @Test
    void readsUsageWithItsDetails() {
        AnswerWalker json = walk("""
            {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7,
            "prompt_tokens_details":{"audio_tokens":9,"cached_tokens":4},
            "completion_tokens_details":{"reasoning_tokens":1,"cached_tokens":8}}}
            """);
        assertThat(json.usageOnly()).isTrue();
        assertThat(json.promptTokens()).isEqualTo(5);
        assertThat(json.completionTokens()).isEqualTo(2);
        assertThat(json.totalTokens()).isEqualTo(7);
        assertThat(json.cachedTokens()).isEqualTo(4);
        assertThat(json.reasoningTokens()).isEqualTo(1);
    }

    @Test
    void zeroIsAValueAndAbsenceIsUnknown() {
        AnswerWalker json = walk("{\"usage\":{\"prompt_tokens\":0,\"total_tokens\":0}}");
        assertThat(json.promptTokens()).isZero();
        assertThat(json.totalTokens()).isZero();
        assertThat(json.completionTokens()).isEqualTo(-1);
        assertThat(json.cachedTokens()).isEqualTo(-1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"usage\":null}",
                "{\"usage\":5}",
                "{\"usage\":[{\"prompt_tokens\":5}]}",
                "{\"usage\":\"{}\"}",
                "{\"x\":{\"usage\":{\"prompt_tokens\":5}}}",
                "{\"choices\":[{\"usage\":{\"prompt_tokens\":5}}]}",
                "{\"x\":[{\"usage\":{}}],\"y\":\"\\\"usage\\\":{}\"}",
                "{\"usagE\":{},\"usag\":{},\"usage2\":{}}",
                "[{\"usage\":{}}]"
            })
    void whatIsNotTopLevelUsageIsNotUsage(String text) {
        AnswerWalker json = walk(text);
        assertThat(json.complete()).isTrue();
        assertThat(json.usageSeen()).isFalse();
        assertThat(json.hasCounts()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"-1", "1.0", "1e3", "\"5\"", "null", "true", "[5]", "{\"prompt_tokens\":5}", "1234567890123456"})
    void whatIsNotACountIsUnknown(String value) {
        AnswerWalker json = walk("{\"usage\":{\"prompt_tokens\":3,\"prompt_tokens\":" + value + "}}");
        assertThat(json.complete()).isTrue();
        assertThat(json.promptTokens()).isEqualTo(-1);
    }

    @Test
    void theLastUsageThatIsNotNullWins() {
        AnswerWalker json = walk("{" + USAGE + ",\"usage\":{\"prompt_tokens\":6},\"usage\":null}");
        assertThat(json.promptTokens()).isEqualTo(6);
        assertThat(json.totalTokens()).isEqualTo(-1);
    }

    @Test
    void escapesInKeysAreUnderstood() {
        AnswerWalker json = walk("{\"us\\u0061ge\":{\"prompt\\u005Ftokens\":5},\"choice\\\\s\":[1],\"\\\"\":1}");
        assertThat(json.promptTokens()).isEqualTo(5);
        assertThat(json.choicesFilled()).isFalse();
    }

    @Test
    void choicesAreFilledAsSoonAsTheFirstElementBegins() {
        AnswerWalker json = new AnswerWalker();
        byte[] bytes = RelayRun.bytes("{\"choices\":[{");
        json.walk(bytes, 0, bytes.length - 1);
        assertThat(json.choicesFilled()).isFalse();
        json.walk(bytes, bytes.length - 1, bytes.length);
        assertThat(json.choicesFilled()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"choices\":[{}]," + USAGE + "}",
                "{\"choices\":null," + USAGE + "}",
                "{\"choices\":{}," + USAGE + "}",
                "{" + USAGE + "}",
                "{\"choices\":[],\"usage\":null}",
                "{\"choices\":[],\"error\":{}," + USAGE + "}",
                "{\"choices\":[]," + USAGE,
                "{\"choices\":[]," + USAGE + "}}",
                "{\"choices\":[]," + USAGE + "} {}",
                "{\"choices\":[,]," + USAGE + "}",
                "{\"choices\":[1],\"choices\":[]," + USAGE + "}"
            })
    void otherEventsAreNotUsageOnly(String text) {
        assertThat(walk(text).usageOnly()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{x",
                "{,",
                "{\"a\" 1",
                "{\"a\":}",
                "{\"a\":1]",
                "{\"a\":1 2",
                "{}x",
                "{\"choices\":[1}",
                "{\"a\":?"
            })
    void whatIsNotJsonIsBroken(String text) {
        assertThat(walk(text).broken()).isTrue();
    }

    @Test
    void theLastFinishReasonThatIsNotNullWins() {
        assertThat(
                        walk("{\"choices\":[{\"finish_reason\":null},{\"finish_reason\":\"length\",\"x\":{\"finish_reason\":\"no\"}},"
                                        + "{\"finish_reason\":null}],\"finish_reason\":\"no\"}")
                                .finishReason())
                .isEqualTo("length");
    }

    @Test
    void finishReasonsAreBoundedAndUnescaped() {
        assertThat(walk("{\"choices\":[{\"finish_reason\":\"" + "x".repeat(1000) + "\"}]}")
                        .finishReason())
                .isEqualTo("x".repeat(AnswerWalker.MAX_REASON_CHARS));
        assertThat(walk("{\"choices\":[{\"finish_reason\":\"a\\u00e9\\n\\\"\u5317\\u12\"}]}")
                        .finishReason())
                .isEqualTo("a\u00e9\n\"\u5317\u0012");
        assertThat(walk("{\"choices\":[{\"finish_reason\":\"\"}]}").finishReason())
                .isEmpty();
    }

    @Test
    void depthIsUnbounded() {
        int depth = 200_000;
        AnswerWalker json =
                walk("{\"x\":" + "[{\"usage\":".repeat(depth) + "1" + "}]".repeat(depth) + "," + USAGE + "}");
        assertThat(json.complete()).isTrue();
        assertThat(json.promptTokens()).isEqualTo(5);
    }

    @ParameterizedTest
    @ValueSource(strings = {"null", "{\"message\":1}", "\"Unauthorized\"", "false", "[]", "0"})
    void anErrorIsOneThatIsNotNull(String error) {
        assertThat(walk("{\"x\":{\"error\":1},\"error\":" + error + "}").errorSeen())
                .isEqualTo(!error.equals("null"));
    }

    /** Walks in one piece and byte by byte, which must agree. */
    private static AnswerWalker walk(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        AnswerWalker whole = new AnswerWalker();
        for (int p = 0; p < bytes.length; p++) {
            p = whole.walk(bytes, p, bytes.length);
        }
        AnswerWalker single = new AnswerWalker();
        for (int p = 0; p < bytes.length; p++) {
            single.walk(bytes, p, p + 1);
        }
        assertThat(single)
                .usingRecursiveComparison()
                .comparingOnlyFields(
                        "promptTokens",
                        "completionTokens",
                        "totalTokens",
                        "cachedTokens",
                        "reasoningTokens",
                        "finishReason",
                        "usage",
                        "choicesEmpty",
                        "choicesFilled",
                        "error")
                .isEqualTo(whole);
        assertThat(single.complete()).isEqualTo(whole.complete());
        assertThat(single.broken()).isEqualTo(whole.broken());
        return whole;
    }
}
