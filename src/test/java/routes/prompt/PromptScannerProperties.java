package routes.prompt;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.statistics.Statistics;
import org.jspecify.annotations.Nullable;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.request.Prompt;

/** The scanner beside a reader that builds a document. */
class PromptScannerProperties {

    private static final ObjectMapper LENIENT = new ObjectMapper();
    private static final ObjectMapper STRICT = JsonMapper.builder()
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();
    private static final byte[] TELLING = Bodies.utf8("{}[]\",:\\ \n0-+.eu1tfn\0\u007f");

    @Property(tries = 2000)
    void agreesOnValidBodies(@ForAll("bodies") String json) throws Exception {
        byte[] body = Bodies.utf8(json);
        ObjectNode root = (ObjectNode) LENIENT.readTree(json);
        Prompt prompt = Bodies.scan(body);

        agrees(prompt, root);
        spansAgree(prompt, body, root);
    }

    @Property(tries = 150)
    void aBodyThatIsCutOffAnywhereIsInvalid(@ForAll("bodies") String json) {
        byte[] body = Bodies.utf8(json.stripTrailing());
        for (int length = 0; length < body.length; length++) {
            assertThat(Bodies.refusal(Arrays.copyOf(body, length)).code())
                    .as("cut at %d of %s", length, json)
                    .isEqualTo(ErrorCode.INVALID_JSON);
        }
    }

    @Property(tries = 5000)
    void garbageIsReadOrRefused(@ForAll @Size(max = 200) byte[] garbage) {
        scanOrRefuse(garbage);
        byte[] inObject = garbage.clone();
        if (inObject.length > 0) {
            inObject[0] = '{';
        }
        scanOrRefuse(inObject);
    }

    @Property(tries = 8000)
    void agreesOnDamagedBodiesThatAreStillJson(@ForAll("damaged") byte[] body) throws Exception {
        Prompt prompt = scanOrRefuse(body);
        ObjectNode root = strictObject(body);
        Statistics.label("still JSON").collect(root != null);
        if (root == null || !root.path("model").isTextual()) {
            return;
        }
        assertThat(prompt != null)
                .as("acceptance of %s", new String(body, StandardCharsets.UTF_8))
                .isEqualTo(isAcceptable(root));
        if (prompt != null) {
            agrees(prompt, root);
            spansAgree(prompt, body, root);
        }
    }

    @Provide
    Arbitrary<String> bodies() {
        return JsonMaker.bodies();
    }

    @Provide
    Arbitrary<byte[]> damaged() {
        return Combinators.combine(JsonMaker.bodies(), Arbitraries.longs())
                .as((json, seed) -> damage(Bodies.utf8(json), new Random(seed)));
    }

    private static byte[] damage(byte[] body, Random random) {
        byte[] damaged = body;
        for (int i = random.nextInt(3); i >= 0; i--) {
            int at = random.nextInt(damaged.length);
            int length = Math.min(1 + random.nextInt(random.nextInt(4) == 0 ? 40 : 2), damaged.length - at);
            byte[] piece = Arrays.copyOfRange(damaged, at, at + length);
            damaged = switch (random.nextInt(5)) {
                case 0 -> splice(damaged, at, length, new byte[0]);
                case 1 -> splice(damaged, random.nextInt(damaged.length), 0, piece);
                case 2 -> splice(damaged, at, 0, telling(random));
                case 3 -> splice(damaged, at, 1, telling(random));
                default -> splice(damaged, at, 1, new byte[] {(byte) (damaged[at] ^ 1 << random.nextInt(8))});
            };
            if (damaged.length == 0) {
                return damaged;
            }
        }
        return damaged;
    }

    private static byte[] telling(Random random) {
        return new byte[] {TELLING[random.nextInt(TELLING.length)]};
    }

    private static byte[] splice(byte[] bytes, int at, int removed, byte[] inserted) {
        ByteBuffer out = ByteBuffer.allocate(bytes.length - removed + inserted.length);
        out.put(bytes, 0, at).put(inserted).put(bytes, at + removed, bytes.length - at - removed);
        return out.array();
    }

    private static @Nullable Prompt scanOrRefuse(byte[] body) {
        try {
            return Bodies.scan(body);
        } catch (GatewayException refusal) {
            assertThat(refusal.code())
                    .isIn(
                            ErrorCode.INVALID_JSON,
                            ErrorCode.INVALID_FIELD,
                            ErrorCode.DUPLICATE_FIELD,
                            ErrorCode.MISSING_MODEL,
                            ErrorCode.MODEL_NOT_FOUND);
            return null;
        }
    }

    private static @Nullable ObjectNode strictObject(byte[] body) {
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(body))
                    .toString();
            return STRICT.readTree(text) instanceof ObjectNode object ? object : null;
        } catch (CharacterCodingException | JsonProcessingException notJson) {
            return null;
        }
    }

    private static boolean isAcceptable(ObjectNode root) {
        JsonNode stream = root.path("stream");
        return !root.path("model").textValue().isEmpty()
                && (absent(stream) || stream.isBoolean())
                && isInteger(root.path("n"), 1, 1024)
                && isInteger(root.path("max_tokens"), 0, Long.MAX_VALUE)
                && isInteger(root.path("max_completion_tokens"), 0, Long.MAX_VALUE)
                && isInteger(root.path("priority"), Long.MIN_VALUE, Long.MAX_VALUE);
    }

    private static boolean isInteger(JsonNode node, long min, long max) {
        return absent(node)
                || node.isIntegralNumber()
                        && node.canConvertToLong()
                        && node.longValue() >= min
                        && node.longValue() <= max;
    }

    private static boolean absent(JsonNode node) {
        return node.isMissingNode() || node.isNull();
    }

    private static void agrees(Prompt prompt, ObjectNode root) {
        JsonNode limit = root.path("max_completion_tokens");
        limit = absent(limit) ? root.path("max_tokens") : limit;
        assertThat(prompt.model()).isEqualTo(root.path("model").textValue());
        assertThat(prompt.stream()).isEqualTo(root.path("stream").asBoolean(false));
        assertThat(prompt.n())
                .isEqualTo(absent(root.path("n")) ? 1 : root.path("n").intValue());
        assertThat(prompt.maxTokens()).isEqualTo(absent(limit) ? -1 : limit.longValue());
        assertThat(prompt.priority()).isEqualTo(root.path("priority").longValue());
        assertThat(prompt.priorityGiven()).isEqualTo(!absent(root.path("priority")));
        assertThat(prompt.user()).isEqualTo(kept(root.path("user")));
        assertThat(prompt.promptCacheKey()).isEqualTo(kept(root.path("prompt_cache_key")));

        JsonNode options = root.path("stream_options");
        assertThat(prompt.streamOptions())
                .isEqualTo(
                        options.isMissingNode()
                                ? Prompt.StreamOptions.ABSENT
                                : options.isNull()
                                        ? Prompt.StreamOptions.NULL
                                        : options.isObject()
                                                ? Prompt.StreamOptions.OBJECT
                                                : Prompt.StreamOptions.OTHER);
        JsonNode usage = options.path("include_usage");
        assertThat(prompt.usageAsked()).isEqualTo(usage.isBoolean() && usage.booleanValue());
        assertThat(prompt.streamOptionsEmpty()).isEqualTo(options.isObject() && options.isEmpty());
    }

    private static @Nullable String kept(JsonNode node) {
        String text = node.textValue();
        if (text == null || text.length() <= 256) {
            return text;
        }
        return text.substring(0, Character.isSurrogatePair(text.charAt(255), text.charAt(256)) ? 255 : 256);
    }

    private static void spansAgree(Prompt prompt, byte[] body, ObjectNode root) throws IOException {
        assertThat(body[prompt.insertAt() - 1]).isEqualTo((byte) '{');
        spanAgrees(body, prompt.modelStart(), prompt.modelEnd(), root.path("model"));
        spanAgrees(body, prompt.streamOptionsStart(), prompt.streamOptionsEnd(), root.path("stream_options"));
        spanAgrees(
                body,
                prompt.includeUsageStart(),
                prompt.includeUsageEnd(),
                root.path("stream_options").path("include_usage"));
        spanAgrees(body, prompt.cacheSaltStart(), prompt.cacheSaltEnd(), root.path("cache_salt"));
        spanAgrees(body, prompt.toolsStart(), prompt.toolsEnd(), root.path("tools"));
        if (!root.has("prompt") || !root.has("input")) {
            JsonNode text = root.has("prompt") ? root.path("prompt") : root.path("input");
            spanAgrees(body, prompt.promptStart(), prompt.promptEnd(), text);
        }
        JsonNode messages = root.path("messages");
        spanAgrees(body, prompt.messagesStart(), prompt.messagesEnd(), messages);
        turnsAgree(prompt, body, messages);
    }

    private static void spanAgrees(byte[] body, int start, int end, JsonNode expected) throws IOException {
        if (expected.isMissingNode()) {
            assertThat(start).isEqualTo(-1);
            assertThat(end).isEqualTo(-1);
            return;
        }
        String span = new String(body, start, end - start, StandardCharsets.UTF_8);
        assertThat(span).isEqualTo(span.strip());
        assertThat(LENIENT.readTree(span)).isEqualTo(expected);
    }

    private static void turnsAgree(Prompt prompt, byte[] body, JsonNode messages) throws IOException {
        int firstUser = -1;
        int lastTurn = -1;
        for (int i = 0; messages.isArray() && i < messages.size(); i++) {
            String role = messages.get(i).path("role").asText();
            if (role.equals("user") && firstUser < 0) {
                firstUser = i;
            }
            if (role.equals("user") || role.equals("tool")) {
                lastTurn = i;
            }
        }
        if (!messages.isArray() || messages.isEmpty()) {
            assertThat(prompt.firstUserEnd()).isEqualTo(-1);
        } else {
            String head = new String(
                    body,
                    prompt.messagesStart(),
                    prompt.firstUserEnd() - prompt.messagesStart(),
                    StandardCharsets.UTF_8);
            assertThat(head).isEqualTo(head.stripTrailing());
            assertThat(LENIENT.readTree(head + "]")).hasSize(Math.max(firstUser, 0) + 1);
        }
        if (lastTurn < 0) {
            assertThat(prompt.lastTurnStart()).isEqualTo(-1);
        } else {
            String tail = new String(
                    body,
                    prompt.lastTurnStart(),
                    prompt.messagesEnd() - prompt.lastTurnStart(),
                    StandardCharsets.UTF_8);
            assertThat(tail).startsWith("{");
            assertThat(LENIENT.readTree("[" + tail)).hasSize(messages.size() - lastTurn);
        }
    }
}
