package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The usage lines of a gateway by request id, once nothing is in flight any more. */
final class UsageLines {

    private static final ObjectMapper JSON = new ObjectMapper();

    private UsageLines() {}

    /** The one line of that request. */
    static JsonNode of(TestGateway gateway, String requestId) {
        gateway.awaitIdle();
        List<JsonNode> lines = gateway.lines().stream()
                .map(UsageLines::parse)
                .filter(line -> line.path("request_id").asText().equals(requestId))
                .toList();
        assertThat(lines).as("usage lines of %s", requestId).hasSize(1);
        return lines.get(0);
    }

    /** All lines; fails when a request has two. */
    static Map<String, JsonNode> all(TestGateway gateway) {
        gateway.awaitIdle();
        Map<String, JsonNode> lines = new LinkedHashMap<>();
        for (String text : gateway.lines()) {
            JsonNode line = parse(text);
            JsonNode before = lines.put(line.path("request_id").asText(), line);
            assertThat(before).as("a second usage line: %s", text).isNull();
        }
        return lines;
    }

    static void assertTokens(JsonNode line, long prompt, long completion, long total) {
        assertThat(line.path("prompt_tokens").asLong(-1)).as("%s", line).isEqualTo(prompt);
        assertThat(line.path("completion_tokens").asLong(-1)).as("%s", line).isEqualTo(completion);
        assertThat(line.path("total_tokens").asLong(-1)).as("%s", line).isEqualTo(total);
        assertThat(line.path("usage_source").asText()).as("%s", line).isEqualTo("final");
        assertThat(line.path("partial").asBoolean(true)).as("%s", line).isFalse();
    }

    /** An answer that did not come to its end and said nothing of tokens: its events, and a guess at the prompt. */
    static void assertEstimate(JsonNode line, long events) {
        long prompt = line.path("request_bytes").asLong() / 4 + 1;
        assertThat(line.path("prompt_tokens").asLong(-1)).as("%s", line).isEqualTo(prompt);
        assertThat(line.path("completion_tokens").asLong(-1)).as("%s", line).isEqualTo(events);
        assertThat(line.path("total_tokens").asLong(-1)).as("%s", line).isEqualTo(prompt + events);
        assertThat(line.path("usage_source").asText()).as("%s", line).isEqualTo("estimated");
        assertThat(line.path("partial").asBoolean()).as("%s", line).isTrue();
    }

    static void assertUnknownTokens(JsonNode line) {
        assertThat(line.path("prompt_tokens").isNull()).as("%s", line).isTrue();
        assertThat(line.path("completion_tokens").isNull()).as("%s", line).isTrue();
        assertThat(line.path("total_tokens").isNull()).as("%s", line).isTrue();
        assertThat(line.path("usage_source").asText()).as("%s", line).isEqualTo("none");
    }

    /** @param errorCode null for none */
    static void assertEnd(JsonNode line, String outcome, int status, @Nullable String errorCode) {
        assertThat(line.path("outcome").asText()).as("%s", line).isEqualTo(outcome);
        assertThat(line.path("status").asInt()).as("%s", line).isEqualTo(status);
        assertThat(line.path("error_code").asText(null)).as("%s", line).isEqualTo(errorCode);
    }

    private static JsonNode parse(String text) {
        try {
            return JSON.readTree(text);
        } catch (JsonProcessingException e) {
            throw new AssertionError("not JSON: " + text, e);
        }
    }
}
