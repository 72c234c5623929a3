package routes.relay;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jspecify.annotations.Nullable;

/** The walker finds in any document what Jackson finds. */
class AnswerWalkerPropertyTest {

    private static final ObjectMapper JACKSON = new ObjectMapper();
    private static final String[] KEYS = {
        "usage", "choices", "error", "finish_reason", "prompt_tokens", "x", "", "caf\u00e9", "us\\\"age", "usage\\\\"
    };
    private static final String[] TEXTS = {
        "",
        "stop",
        "a}b{c][",
        "\\\"usage\\\":{",
        "\\\\",
        "\\\\\\\"",
        "\\u0022,",
        "\ud83c\udf0d \u5317",
        "0123456789 0123456789",
        "\\n\\r\\t"
    };

    @Property(tries = 2000)
    void findsWhatJacksonFinds(@ForAll long seed) throws IOException {
        Random random = new Random(seed);
        String text = document(random);
        JsonNode tree = JACKSON.readTree(text);
        AnswerFacts facts = new AnswerFacts();
        DocumentScanner scanner = new DocumentScanner(facts);
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int from = 0;
        for (int to : RandomStream.reads(random, bytes.length)) {
            scanner.data(bytes, from, to);
            from = to;
        }
        scanner.end();

        JsonNode usage = tree.path("usage");
        assertThat(facts.promptTokens()).isEqualTo(count(usage.path("prompt_tokens")));
        assertThat(facts.completionTokens()).isEqualTo(count(usage.path("completion_tokens")));
        assertThat(facts.totalTokens()).isEqualTo(count(usage.path("total_tokens")));
        assertThat(facts.cachedTokens()).isEqualTo(count(usage.at("/prompt_tokens_details/cached_tokens")));
        assertThat(facts.reasoningTokens()).isEqualTo(count(usage.at("/completion_tokens_details/reasoning_tokens")));
        assertThat(facts.errorSeen()).isEqualTo(tree.hasNonNull("error"));
        assertThat(facts.finishReason()).isEqualTo(finishReason(tree.path("choices")));
    }

    private static long count(JsonNode node) {
        return node.isIntegralNumber() && node.longValue() >= 0 ? node.longValue() : -1;
    }

    private static @Nullable String finishReason(JsonNode choices) {
        String last = null;
        for (JsonNode choice : choices.isArray() ? choices : JACKSON.createArrayNode()) {
            JsonNode reason = choice.path("finish_reason");
            last = reason.isTextual() ? reason.textValue() : last;
        }
        return last;
    }

    private static String document(Random random) {
        List<String> members = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            members.add("\"x" + i + "\"" + space(random) + ":" + space(random) + value(random, 4));
        }
        if (random.nextInt(5) > 0) {
            members.add("\"usage\":" + (random.nextInt(6) == 0 ? "null" : usage(random)));
        }
        if (random.nextInt(3) > 0) {
            members.add("\"choices\"" + space(random) + ":" + choices(random));
        }
        if (random.nextInt(4) == 0) {
            members.add("\"error\":" + value(random, 2));
        }
        Collections.shuffle(members, random);
        return space(random) + "{" + space(random) + String.join(space(random) + "," + space(random), members)
                + space(random) + "}" + space(random);
    }

    private static String usage(Random random) {
        List<String> members = new ArrayList<>();
        members.add("\"prompt_tokens\":" + random.nextInt(1000));
        if (random.nextBoolean()) {
            members.add("\"completion_tokens\":" + (random.nextInt(4) == 0 ? value(random, 1) : random.nextInt(9)));
        }
        if (random.nextBoolean()) {
            members.add(
                    "\"total_tokens\"" + space(random) + ":" + space(random) + random.nextLong(999_999_999_999_999L));
        }
        if (random.nextBoolean()) {
            members.add("\"prompt_tokens_details\":"
                    + (random.nextBoolean()
                            ? "{\"audio_tokens\":" + value(random, 1) + ",\"cached_tokens\":" + random.nextInt(9) + "}"
                            : value(random, 0)));
        }
        if (random.nextBoolean()) {
            members.add(
                    "\"completion_tokens_details\":{\"reasoning_tokens\":" + random.nextInt(9) + space(random) + "}");
        }
        if (random.nextBoolean()) {
            members.add("\"other\":" + value(random, 2));
        }
        Collections.shuffle(members, random);
        return "{" + String.join(",", members) + "}";
    }

    private static String choices(Random random) {
        List<String> elements = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            elements.add(
                    switch (random.nextInt(5)) {
                        case 0 -> value(random, 2);
                        case 1 -> "{\"finish_reason\" : null }";
                        default ->
                            "{\"index\":0,\"delta\":" + value(random, 3) + ",\"finish_reason\":\"stop" + i + "\"}";
                    });
        }
        return "[" + space(random) + String.join(space(random) + ",", elements) + "]";
    }

    private static String value(Random random, int depth) {
        return switch (random.nextInt(depth > 0 ? 8 : 6)) {
            case 0 -> "null";
            case 1 -> random.nextBoolean() ? "true" : "false";
            case 2 -> String.valueOf(random.nextInt(2000) - 1000);
            case 3 -> String.valueOf(random.nextGaussian());
            case 4, 5 -> "\"" + TEXTS[random.nextInt(TEXTS.length)] + "\"";
            case 6 -> {
                StringBuilder out = new StringBuilder("[").append(space(random));
                int size = random.nextInt(4);
                for (int i = 0; i < size; i++) {
                    out.append(i == 0 ? "" : ",")
                            .append(value(random, depth - 1))
                            .append(space(random));
                }
                yield out.append(']').toString();
            }
            default -> {
                StringBuilder out = new StringBuilder("{").append(space(random));
                int first = random.nextInt(KEYS.length);
                int size = random.nextInt(4);
                for (int i = 0; i < size; i++) {
                    String key = KEYS[(first + i) % KEYS.length];
                    out.append(i == 0 ? "" : ",").append('"').append(key).append("\":");
                    out.append(space(random)).append(value(random, depth - 1));
                }
                yield out.append('}').toString();
            }
        };
    }

    private static String space(Random random) {
        return new String[] {"", "", "", " ", "\n", "\r\n\t", "  "}[random.nextInt(7)];
    }
}
