package routes.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import routes.error.GatewayException;
import routes.request.Api;
import routes.request.PrefixLevels;
import routes.request.Prompt;

class PrefixTest {

    private static final Api CHAT = Api.CHAT_COMPLETIONS;
    private static final long[] KEYS = {6500842481526394079L, -4937018849658631606L, 1642420042558749558L};
    private static final String SYSTEM = "{\"role\":\"system\",\"content\":\"Be brief.\"}";
    private static final String FIRST = "{\"role\":\"user\",\"content\":\"Hello, who are you?\"}";
    private static final String LATER =
            "{\"role\":\"assistant\",\"content\":\"A gateway.\"},{\"role\":\"user\",\"content\":\"Why?\"}";

    @Test
    void theHashesAreTheSameInEveryGateway() throws GatewayException {
        String body =
                "{\"model\":\"m1\",\"tools\":[{\"type\":\"function\"}],\"messages\":[" + SYSTEM + "," + FIRST + "]}";

        assertThat(key(body, null)).isEqualTo(KEYS[0]);
        assertThat(key(body, "session-1")).isEqualTo(KEYS[1]);
        assertThat(key("{\"model\":\"m1\",\"prompt\":\"" + "abc ".repeat(2000) + "\"}", null))
                .isEqualTo(KEYS[2]);
    }

    @Test
    void aLongPromptHasALevelAtEachDoublingAndOneAtItsEnd() throws GatewayException {
        PrefixLevels levels = levels(question("word ".repeat(1100)), null);

        assertThat(levels.count()).isEqualTo(4);
        assertThat(tokens(levels))
                .containsExactly(256, 512, 1024, (1100 * 5 + "[{'role':'user','content':''}".length()) / 4);
        assertThat(levels.isFollowUp()).isFalse();
    }

    @Test
    void instructionsAreAPartOfThePrefixThatStandsBeforeTheMessages() throws GatewayException {
        for (Api api : List.of(Api.RESPONSES, Api.MESSAGES)) {
            String system = api == Api.RESPONSES ? "instructions" : "system";
            String list = api == Api.RESPONSES ? "input" : "messages";
            String body = "{\"model\":\"m1\",\"" + system + "\":\"%s\",\"" + list + "\":[" + FIRST + "%s]}";

            long key = last(api, body.formatted("Be brief.", ""));
            assertThat(last(api, body.formatted("Be brief.", "," + LATER))).isEqualTo(key);
            assertThat(last(api, body.formatted("Be long.", ""))).isNotEqualTo(key);
        }
    }

    private static long last(Api api, String json) throws GatewayException {
        ByteBuf body = Bodies.direct(Bodies.utf8(json));
        try {
            PrefixLevels levels = Prefix.of(api, body, PromptScanner.scan(body, api), null);
            return levels.hash(levels.count() - 1);
        } finally {
            body.release();
        }
    }

    @Test
    void promptsShareTheLevelsDownToWhereTheyPart() throws GatewayException {
        String common = "a common beginning ".repeat(150);
        PrefixLevels one = levels(question(common + "one".repeat(900)), null);
        PrefixLevels two = levels(question(common + "two".repeat(900)), null);

        assertThat(one.hash(0)).isEqualTo(two.hash(0));
        assertThat(one.hash(1)).isEqualTo(two.hash(1));
        assertThat(one.hash(2)).as("at 4 KB").isNotEqualTo(two.hash(2));
        assertThat(one.hash(3)).as("at the end").isNotEqualTo(two.hash(3));
    }

    @Test
    void ofALongPieceEitherEndAndItsLengthCount() throws GatewayException {
        String filler = "many words ".repeat(4000);

        assertThat(new long[] {
                    key(question("a" + filler + "z"), null),
                    key(question("b" + filler + "z"), null),
                    key(question("a" + filler + "y"), null),
                    key(question("a" + filler + filler + "z"), null)
                })
                .doesNotHaveDuplicates();
    }

    @Test
    void toolsComeBeforeTheMessagesWhereverTheyStand() throws GatewayException {
        String tools = "\"tools\":[{\"description\":\"" + "tool ".repeat(500) + "\"}]";
        PrefixLevels before = levels("{\"model\":\"m1\"," + tools + ",\"messages\":[" + FIRST + "]}", null);
        PrefixLevels behind = levels("{\"messages\":[" + FIRST + "],\"model\":\"m1\"," + tools + "}", null);
        PrefixLevels other = levels("{\"model\":\"m1\"," + tools + ",\"messages\":[" + SYSTEM + "]}", null);

        assertThat(hashes(before)).isEqualTo(hashes(behind));
        assertThat(other.hash(0)).isEqualTo(before.hash(0));
        assertThat(other.hash(1)).isEqualTo(before.hash(1));
        assertThat(other.hash(2)).isNotEqualTo(before.hash(2));
    }

    @Test
    void whatStandsBeforeTheNewestTurnWasComputedBefore() throws GatewayException {
        String answer = "{\"role\":\"assistant\",\"content\":\"" + "yes ".repeat(1000) + "\"}";
        String tool = "{\"role\":\"tool\",\"content\":\"42\"}";
        String body = "{\"model\":\"m1\",\"messages\":[" + FIRST + "," + answer + "," + tool + "]}";
        PrefixLevels levels = levels(body, null);

        assertThat(levels.isFollowUp()).isTrue();
        assertThat(levels.earlierTokens()).isEqualTo(("[" + FIRST + "," + answer + ",").length() / 4);
        assertThat(levels.totalTokens()).isEqualTo(body.length() / 4 + 1);
        assertThat(levels("{\"model\":\"m1\",\"messages\":[" + FIRST + "]}", null)
                        .isFollowUp())
                .isFalse();
    }

    @Test
    void anExplicitKeyTakesThePlaceOfTheDeepestLevel() throws GatewayException {
        String text = "word ".repeat(500);
        PrefixLevels plain = levels(question(text), null);
        PrefixLevels keyed = levels(question(text), "session-1");
        PrefixLevels other = levels(question(text + "more"), "session-1");

        assertThat(keyed.count()).isEqualTo(plain.count()).isEqualTo(3);
        assertThat(keyed.hash(0)).isEqualTo(plain.hash(0));
        assertThat(keyed.hash(1)).isEqualTo(plain.hash(1));
        assertThat(keyed.hash(2)).isNotEqualTo(plain.hash(2)).isEqualTo(other.hash(2));
    }

    @Test
    void inputsOfEmbeddingsHaveNoPrefixButMayHaveAKey() throws GatewayException {
        String body = "{\"model\":\"m1\",\"input\":\"" + "abc ".repeat(2000) + "\"}";

        assertThat(levels(Api.EMBEDDINGS, body, null).count()).isZero();
        assertThat(levels(Api.EMBEDDINGS, body, null).totalTokens()).isEqualTo(body.length() / 4 + 1);
        assertThat(levels(Api.EMBEDDINGS, body, "session-1").count()).isEqualTo(1);
    }

    @Property(tries = 200)
    void anyTextAtAnyDepthGivesLevelsThatAreReadAgain(@ForAll @IntRange(max = 20_000) int length, @ForAll byte[] ends)
            throws GatewayException {
        String text = "x".repeat(length);
        PrefixLevels levels = levels(question(text), null);
        PrefixLevels longer = levels(question(text + "y".repeat(1 + ends.length)), null);

        int inCommon = 0;
        while (inCommon < levels.count() && levels.hash(inCommon) == longer.hash(inCommon)) {
            inCommon++;
        }
        int doublings = 0;
        for (int depth = 1024; depth <= "[{'role':'user','content':'".length() + length; depth *= 2) {
            doublings++;
        }
        assertThat(inCommon).isEqualTo(doublings);
    }

    @Test
    void laterTurnsKeepTheKeyOfTheirConversation() throws GatewayException {
        String first = "{\"model\":\"m1\",\"messages\":[" + SYSTEM + "," + FIRST + "]}";
        String later = "{\"temperature\":1,\"messages\":[" + SYSTEM + "," + FIRST + "," + LATER + "],\"model\":\"m1\"}";

        assertThat(key(later, null)).isEqualTo(key(first, null));
    }

    @Test
    void modelToolsSystemAndFirstQuestionEachChangeTheKey() throws GatewayException {
        String tools = ",\"tools\":[{\"a\":1}]";
        String messages = ",\"messages\":[" + SYSTEM + "," + FIRST + "]}";

        assertThat(new long[] {
                    key("{\"model\":\"m1\"" + messages, null),
                    key("{\"model\":\"m2\"" + messages, null),
                    key("{\"model\":\"m1\"" + tools + messages, null),
                    key("{\"model\":\"m1\"" + messages.replace("brief", "clear"), null),
                    key("{\"model\":\"m1\"" + messages.replace("who", "what"), null),
                    key("{\"model\":\"m1\"}", null)
                })
                .doesNotHaveDuplicates();
    }

    private static String question(String content) {
        return "{\"model\":\"m1\",\"messages\":[{\"role\":\"user\",\"content\":\"" + content + "\"}]}";
    }

    @Test
    void aSessionWinsOverACacheKeyAndThatOverThePrompt() throws GatewayException {
        String keyed = "{\"model\":\"m1\",\"prompt_cache_key\":\"k\",\"messages\":[" + FIRST + "]}";
        String other = "{\"model\":\"m1\",\"prompt_cache_key\":\"k\",\"messages\":[" + SYSTEM + "]}";
        String unkeyed = "{\"model\":\"m1\",\"messages\":[" + FIRST + "]}";

        assertThat(key(keyed, "s")).isEqualTo(key(unkeyed, "s")).isNotEqualTo(key(keyed, "t"));
        assertThat(key(keyed, null)).isEqualTo(key(other, null)).isNotEqualTo(key(unkeyed, null));
        assertThat(key(keyed, "k")).isNotEqualTo(key(keyed, null));
    }

    @Test
    void aSaltOfTheClientsOwnCountsBesideTheKey() throws GatewayException {
        String unsalted = "{\"model\":\"m1\",\"messages\":[" + FIRST + "]}";
        String salted = "{\"cache_salt\":\"a\",\"model\":\"m1\",\"messages\":[" + FIRST + "]}";

        assertThat(key(salted, null)).isEqualTo(key(unsalted, null));
        assertThat(saltKey(unsalted)).isZero();
        assertThat(saltKey(salted))
                .isNotZero()
                .isEqualTo(saltKey("{\"model\":\"m2\", \"cache_salt\" : \"a\" }"))
                .isNotEqualTo(saltKey(salted.replace("\"a\"", "\"b\"")));
    }

    @Test
    void ofAPlainPromptTheBeginningCounts() throws GatewayException {
        String beginning = "{\"model\":\"m1\",\"prompt\":\"" + "x".repeat(4095);

        assertThat(levels(beginning + "a\"}", null).hash(2))
                .isEqualTo(levels(beginning + "bcd\",\"n\":2}", null).hash(2));
        assertThat(levels(beginning.replaceFirst("x", "y") + "a\"}", null).hash(0))
                .isNotEqualTo(levels(beginning + "a\"}", null).hash(0));
    }

    @Test
    void theKindOfBufferDoesNotMatter() throws GatewayException {
        byte[] json = Bodies.utf8(
                "{\"model\":\"m1\",\"messages\":[{\"role\":\"user\",\"content\":\"" + "é€ ".repeat(999) + "\"}]}");
        ByteBuf direct = Bodies.direct(json);
        ByteBuf heap = Unpooled.buffer().writeByte(0).writeBytes(json).skipBytes(1);
        ByteBuf parts = Unpooled.wrappedBuffer(
                Unpooled.copiedBuffer(json, 0, 500), Unpooled.copiedBuffer(json, 500, json.length - 500));
        Prompt prompt = PromptScanner.scan(heap);

        assertThat(hashes(Prefix.of(CHAT, direct, prompt, null)))
                .isEqualTo(hashes(Prefix.of(CHAT, heap, prompt, null)))
                .isEqualTo(hashes(Prefix.of(CHAT, heap.asReadOnly(), prompt, null)))
                .isEqualTo(hashes(Prefix.of(CHAT, parts, prompt, null)));
        direct.release();
    }

    @Test
    void aPromptOfAnotherBodyReadsNothingBeyondThisOne() throws GatewayException {
        Prompt prompt = Bodies.scan("{\"model\":\"m1\",\"prompt\":\"" + "x".repeat(500) + "\"}");
        ByteBuf body = Bodies.direct(Bodies.utf8("{\"model\":\"m1\"}"));

        assertThatThrownBy(() -> Prefix.of(CHAT, body, prompt, null)).isInstanceOf(IndexOutOfBoundsException.class);
        body.release();
    }

    private static long saltKey(String json) throws GatewayException {
        ByteBuf body = Bodies.direct(Bodies.utf8(json));
        try {
            return Prefix.ofSalt(body, PromptScanner.scan(body));
        } finally {
            body.release();
        }
    }

    /** Of the deepest level. */
    private static long key(String json, @Nullable String session) throws GatewayException {
        PrefixLevels levels = levels(json, session);
        return levels.count() == 0 ? 0 : levels.hash(levels.count() - 1);
    }

    private static PrefixLevels levels(String json, @Nullable String session) throws GatewayException {
        return levels(CHAT, json, session);
    }

    private static PrefixLevels levels(Api api, String json, @Nullable String session) throws GatewayException {
        ByteBuf body = Bodies.direct(Bodies.utf8(json));
        try {
            return Prefix.of(api, body, PromptScanner.scan(body), session);
        } finally {
            body.release();
        }
    }

    private static int[] tokens(PrefixLevels levels) {
        return IntStream.range(0, levels.count()).map(levels::tokens).toArray();
    }

    private static long[] hashes(PrefixLevels levels) {
        return IntStream.range(0, levels.count()).mapToLong(levels::hash).toArray();
    }
}
