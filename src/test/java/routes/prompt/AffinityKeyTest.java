package routes.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import routes.error.GatewayException;
import routes.request.Prompt;

class AffinityKeyTest {

    private static final String SYSTEM = "{\"role\":\"system\",\"content\":\"Be brief.\"}";
    private static final String FIRST = "{\"role\":\"user\",\"content\":\"Hello, who are you?\"}";
    private static final String LATER =
            "{\"role\":\"assistant\",\"content\":\"A gateway.\"},{\"role\":\"user\",\"content\":\"Why?\"}";

    @Test
    void theKeyIsTheSameInEveryGateway() throws GatewayException {
        String body =
                "{\"model\":\"m1\",\"tools\":[{\"type\":\"function\"}],\"messages\":[" + SYSTEM + "," + FIRST + "]}";

        assertThat(key(body, null)).isEqualTo(6500842481526394079L);
        assertThat(key(body, "session-1")).isEqualTo(-4937018849658631606L);
        assertThat(key("{\"model\":\"m1\",\"input\":\"" + "abc ".repeat(2000) + "\"}", null))
                .isEqualTo(6992371040923991528L);
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

    @Test
    void aLongPromptIsToldApartAtBothEndsAndByItsLength() throws GatewayException {
        String filler = "many words ".repeat(4000);

        assertThat(new long[] {
                    key(question("a" + filler + "z"), null),
                    key(question("b" + filler + "z"), null),
                    key(question("a" + filler + "y"), null),
                    key(question("a" + filler + filler + "z"), null)
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

        assertThat(key(beginning + "a\"}", null)).isEqualTo(key(beginning + "bcd\",\"n\":2}", null));
        assertThat(key(beginning.replaceFirst("x", "y") + "a\"}", null)).isNotEqualTo(key(beginning + "a\"}", null));
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

        assertThat(AffinityKey.of(direct, prompt, null))
                .isEqualTo(AffinityKey.of(heap, prompt, null))
                .isEqualTo(AffinityKey.of(heap.asReadOnly(), prompt, null))
                .isEqualTo(AffinityKey.of(parts, prompt, null));
        direct.release();
    }

    @Test
    void aPromptOfAnotherBodyReadsNothingBeyondThisOne() throws GatewayException {
        Prompt prompt = Bodies.scan("{\"model\":\"m1\",\"prompt\":\"" + "x".repeat(500) + "\"}");
        ByteBuf body = Bodies.direct(Bodies.utf8("{\"model\":\"m1\"}"));

        assertThatThrownBy(() -> AffinityKey.of(body, prompt, null)).isInstanceOf(IndexOutOfBoundsException.class);
        body.release();
    }

    private static long saltKey(String json) throws GatewayException {
        ByteBuf body = Bodies.direct(Bodies.utf8(json));
        try {
            return AffinityKey.ofSalt(body, PromptScanner.scan(body));
        } finally {
            body.release();
        }
    }

    private static long key(String json, @Nullable String session) throws GatewayException {
        ByteBuf body = Bodies.direct(Bodies.utf8(json));
        try {
            return AffinityKey.of(body, PromptScanner.scan(body), session);
        } finally {
            body.release();
        }
    }
}
