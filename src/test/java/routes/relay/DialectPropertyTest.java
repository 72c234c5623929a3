package routes.relay;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Whatever an answer holds, in whatever order, and wherever reads split it, the same is found as Jackson finds. */
class DialectPropertyTest {

    private static final ObjectMapper JACKSON = new ObjectMapper();
    private static final String[] KEYS = {
        "id", "type", "usage", "status", "error", "response", "message", "delta", "input_tokens", "x", "u\\u0073age"
    };
    private static final String[] TEXTS = {"", "a", "a}b{", "\\\"usage\\\":{", "\\\\", "\ud83c\udf0d \u5317", "end_turn"
    };

    @Property(tries = 2000)
    void aResponseTellsWhatJacksonFinds(@ForAll long seed) throws IOException {
        Random random = new Random(seed);
        String text = object(
                random,
                "\"id\":\"resp_" + random.nextInt(100) + "\"",
                "\"status\":\"completed\"",
                random.nextInt(4) == 0 ? "\"usage\":null" : "\"usage\":" + responseUsage(random),
                "\"output\":" + value(random, 3));
        JsonNode tree = JACKSON.readTree(text);
        List<String> ids = new ArrayList<>();
        AnswerFacts facts = new AnswerFacts(Dialect.RESPONSES);
        facts.onResponseId(ids::add);
        document(random, facts, text);
        assertThat(ids).containsExactly(tree.path("id").asText());
        assertThat(facts.finishReason()).isEqualTo("completed");
        JsonNode usage = tree.path("usage");
        assertThat(facts.promptTokens()).isEqualTo(usage.path("input_tokens").asLong(-1));
        assertThat(facts.completionTokens())
                .isEqualTo(usage.path("output_tokens").asLong(-1));
        assertThat(facts.totalTokens()).isEqualTo(usage.path("total_tokens").asLong(-1));
        assertThat(facts.cachedTokens())
                .isEqualTo(usage.at("/input_tokens_details/cached_tokens").asLong(-1));
        assertThat(facts.reasoningTokens())
                .isEqualTo(usage.at("/output_tokens_details/reasoning_tokens").asLong(-1));
    }

    @Property(tries = 1000)
    void everySplitOfAStreamGivesTheSameFacts(@ForAll long seed) {
        Random random = new Random(seed);
        Dialect dialect = random.nextBoolean() ? Dialect.RESPONSES : Dialect.MESSAGES;
        StringBuilder stream = new StringBuilder();
        String lineEnd = new String[] {"\n", "\r\n", "\r"}[random.nextInt(3)];
        int deltas = 0;
        for (int i = random.nextInt(8); i > 0; i--) {
            boolean delta = random.nextInt(3) > 0;
            deltas += delta ? 1 : 0;
            String type = dialect == Dialect.RESPONSES
                    ? delta ? "response.output_text.delta" : "response.in_progress"
                    : delta ? "content_block_delta" : "ping";
            String other = dialect == Dialect.RESPONSES
                    ? "\"delta\":\"" + TEXTS[random.nextInt(TEXTS.length)] + "\""
                    : "\"delta\":" + object(random, "\"type\":\"text_delta\"", "\"text\":" + value(random, 0));
            event(stream, lineEnd, type, object(random, "\"type\":\"" + type + "\"", other, "\"index\":" + i));
        }
        long tokens = random.nextInt(100);
        if (dialect == Dialect.RESPONSES) {
            event(
                    stream,
                    lineEnd,
                    "x",
                    object(
                            random,
                            "\"type\":\"response.completed\"",
                            "\"response\":"
                                    + object(
                                            random,
                                            "\"status\":\"completed\"",
                                            "\"usage\":{\"input_tokens\":7,\"output_tokens\":" + tokens
                                                    + ",\"total_tokens\":" + (7 + tokens) + "}")));
        } else {
            event(
                    stream,
                    lineEnd,
                    "x",
                    object(
                            random,
                            "\"type\":\"message_delta\"",
                            "\"delta\":{\"stop_reason\":\"end_turn\"}",
                            "\"usage\":{\"input_tokens\":7,\"output_tokens\":" + tokens + "}"));
            event(stream, lineEnd, "x", object(random, "\"type\":\"message_stop\""));
        }
        AnswerFacts facts = new AnswerFacts(dialect);
        EventScanner scanner = new EventScanner(facts);
        byte[] bytes = stream.toString().getBytes(StandardCharsets.UTF_8);
        int from = 0;
        for (int to : RandomStream.reads(random, bytes.length)) {
            scanner.data(bytes, from, to);
            from = to;
        }
        scanner.end();
        assertThat(Arrays.<Object>asList(
                        facts.events(),
                        facts.promptTokens(),
                        facts.completionTokens(),
                        facts.totalTokens(),
                        facts.sawDone(),
                        facts.errorSeen(),
                        facts.usageFinal(),
                        facts.finishReason()))
                .containsExactly(
                        (long) deltas,
                        7L,
                        tokens,
                        7 + tokens,
                        true,
                        false,
                        true,
                        dialect == Dialect.RESPONSES ? "completed" : "end_turn");
    }

    @Property(tries = 500)
    void aStreamCutOffAnywhereBeforeItsLastEventIsNotComplete(@ForAll long seed) {
        Random random = new Random(seed);
        boolean responses = random.nextBoolean();
        String last = responses
                ? "{\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}"
                : "{\"type\":\"message_stop\"}";
        String before = responses
                ? "data: {\"type\":\"response.output_text.delta\",\"delta\":\"A\"}\n\n"
                : "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\ndata: [DONE]\n\n";
        byte[] bytes = (before + "data: " + last).getBytes(StandardCharsets.UTF_8);
        AnswerFacts facts = new AnswerFacts(responses ? Dialect.RESPONSES : Dialect.MESSAGES);
        EventScanner scanner = new EventScanner(facts);
        scanner.data(bytes, 0, random.nextInt(bytes.length));
        scanner.end();
        assertThat(facts.sawDone()).isFalse();
    }

    private static void document(Random random, AnswerFacts facts, String text) {
        DocumentScanner scanner = new DocumentScanner(facts);
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int from = 0;
        for (int to : RandomStream.reads(random, bytes.length)) {
            scanner.data(bytes, from, to);
            from = to;
        }
        scanner.end();
    }

    private static void event(StringBuilder stream, String lineEnd, String type, String json) {
        stream.append("event: ").append(type).append(lineEnd);
        stream.append("data: ").append(json).append(lineEnd).append(lineEnd);
    }

    private static String responseUsage(Random random) {
        List<String> members = new ArrayList<>();
        members.add("\"input_tokens\":" + random.nextInt(1000));
        members.add("\"output_tokens\":" + random.nextInt(1000));
        if (random.nextBoolean()) {
            members.add("\"total_tokens\":" + random.nextInt(2000));
        }
        if (random.nextBoolean()) {
            members.add("\"input_tokens_details\":" + object(random, "\"cached_tokens\":" + random.nextInt(9)));
        }
        if (random.nextBoolean()) {
            members.add("\"output_tokens_details\":" + object(random, "\"reasoning_tokens\":" + random.nextInt(9)));
        }
        return object(random, members.toArray(String[]::new));
    }

    /** An object with these members and others that mean nothing, in any order. */
    private static String object(Random random, String... members) {
        List<String> all = new ArrayList<>(List.of(members));
        for (int i = random.nextInt(3); i > 0; i--) {
            all.add("\"other" + i + "\":" + value(random, 3));
        }
        Collections.shuffle(all, random);
        return "{" + String.join(random.nextBoolean() ? "," : " , ", all) + "}";
    }

    private static String value(Random random, int depth) {
        return switch (random.nextInt(depth > 0 ? 6 : 4)) {
            case 0 -> "null";
            case 1 -> "true";
            case 2 -> String.valueOf(random.nextInt(2000) - 1000);
            case 3 -> "\"" + TEXTS[random.nextInt(TEXTS.length)] + "\"";
            case 4 -> "[" + value(random, depth - 1) + "," + value(random, depth - 1) + "]";
            default ->
                "{\"" + KEYS[random.nextInt(KEYS.length)] + "\":" + value(random, depth - 1) + ",\"y\":"
                        + value(random, depth - 1) + "}";
        };
    }
}
