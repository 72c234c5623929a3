package routes.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static routes.prompt.Bodies.refusal;
import static routes.prompt.Bodies.scan;
import static routes.prompt.Bodies.utf8;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.request.Prompt;

class PromptScannerTest {

    private static final String LOOK_ALIKES = """
        {"messages":[{"role":"user","content":"say \\"model\\":\\"m2\\" please%s"}],
         "metadata":{"model":"m2","stream":true,"stream_options":{"include_usage":true}},
         "tools":[{"type":"function","function":{"name":"f","parameters":
           {"type":"object","properties":{"model":{"type":"string"}}}}}],
         "model":"m1"}\
        """;

    // -- which model is meant

    @ParameterizedTest
    @ValueSource(strings = {"m1", "org/name-7b", "org/name:free", "a/b/c", " m1", "M1", "é€😀"})
    void theModelIsTheWholeStringUnchanged(String model) throws GatewayException {
        assertThat(scan("{\"model\":\"" + model + "\"}").model()).isEqualTo(model);
    }

    @Test
    void theModelIsDecoded() throws GatewayException {
        assertThat(scan("{\"model\":\"m\\u0031\\/\\\"\\\\\\ud83d\\ude00\\u0000\"}")
                        .model())
                .isEqualTo("m1/\"\\😀\0");
    }

    @Test
    void wordsInsideStringsAndOtherObjectsAreNotTheModel() throws GatewayException {
        Prompt prompt = scan(LOOK_ALIKES.formatted(""));

        assertThat(prompt.model()).isEqualTo("m1");
        assertThat(prompt.stream()).isFalse();
        assertThat(prompt.streamOptions()).isEqualTo(Prompt.StreamOptions.ABSENT);
        assertThat(prompt.usageAsked()).isFalse();
    }

    @Test
    void theModelIsFoundBehindALongPrompt() throws GatewayException {
        String body = LOOK_ALIKES.formatted("\\\\ x \\\" ".repeat(40_000));

        assertThat(body).hasSizeGreaterThan(300 * 1024);
        assertThat(scan(body).model()).isEqualTo("m1");
    }

    @Test
    void anEscapedKeyCounts() throws GatewayException {
        Prompt prompt = scan("""
            {"mod\\u0065l":"m1","\\u0073trea\\u006D":true,"stream_options":{"include\\u005fusage":true}}\
            """);

        assertThat(prompt.model()).isEqualTo("m1");
        assertThat(prompt.stream()).isTrue();
        assertThat(prompt.usageAsked()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"mod\\u006El\"", "\"model \"", "\"Model\"", "\"mode\"", "\"mod\\el\"", "\"mod\\u00zzl\""})
    void aKeyThatIsOnlySimilarDoesNotCount(String key) {
        assertThat(refusal("{" + key + ":\"m1\"}").code()).isEqualTo(ErrorCode.MISSING_MODEL);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "model",
                "stream",
                "stream_options",
                "n",
                "max_tokens",
                "max_completion_tokens",
                "user",
                "prompt_cache_key",
                "cache_salt",
                "priority",
                "messages",
                "prompt",
                "input",
                "tools"
            })
    void aDecidingKeyMayNotAppearTwice(String key) {
        String value = key.equals("model") ? "\"m1\"" : "null";
        String escaped = String.format("\\u%04x", (int) key.charAt(0)) + key.substring(1);

        for (String second : new String[] {key, escaped}) {
            GatewayException refusal =
                    refusal("{\"" + key + "\":" + value + ",\"x\":{},\"" + second + "\":" + value + "}");
            assertThat(refusal.code()).isEqualTo(ErrorCode.DUPLICATE_FIELD);
            assertThat(refusal.param()).isEqualTo(key);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"model\":\"m1\",\"messages\":[],\"model\":\"m2\"}",
                "{\"model\":\"m2\",\"messages\":[],\"model\":\"m1\"}",
                "{\"model\":\"m1\",\"stream\":true,\"stream\":false}",
                "{\"model\":\"m1\",\"stream_options\":{\"include_usage\":true,\"include_usage\":false}}"
            })
    void twoReadersCanNotDisagree(String body) {
        assertThat(refusal(body).code()).isEqualTo(ErrorCode.DUPLICATE_FIELD);
    }

    @ParameterizedTest
    @ValueSource(strings = {"null", "\"\"", "42", "-1", "true", "[\"m1\"]", "{\"a\":1}"})
    void aModelThatIsNoNameIsRefused(String model) {
        GatewayException refusal = refusal("{\"model\":" + model + "}");

        assertThat(refusal.code()).isEqualTo(ErrorCode.INVALID_FIELD);
        assertThat(refusal.param()).isEqualTo("model");
    }

    @Test
    void aBodyWithoutModelIsRefused() {
        assertThat(refusal("{}").code()).isEqualTo(ErrorCode.MISSING_MODEL);
        assertThat(refusal("{\"messages\":[]}").code()).isEqualTo(ErrorCode.MISSING_MODEL);
    }

    @Test
    void aModelOfAMegabyteIsUnknownAndNotEchoed() {
        GatewayException refusal = refusal("{\"model\":\"<x>" + "m".repeat(1 << 20) + "\"}");

        assertThat(refusal.code()).isEqualTo(ErrorCode.MODEL_NOT_FOUND);
        assertThat(refusal.param()).isEqualTo("model");
        assertThat(refusal.getMessage()).hasSizeLessThan(160).contains("'?x?mmm");
    }

    @Test
    void aNameOf512BytesIsStillRead() throws GatewayException {
        assertThat(scan("{\"model\":\"" + "m".repeat(512) + "\"}").model()).hasSize(512);
        assertThat(refusal("{\"model\":\"" + "m".repeat(513) + "\"}").code()).isEqualTo(ErrorCode.MODEL_NOT_FOUND);
    }

    // -- structure

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "[]|at byte 0",
                "`\"x\"`|at byte 0",
                "`  7`|at byte 2",
                "`\ufeff{\"model\":\"m1\"}`|at byte 0",
                "`{\"model\":\"m1\"`|at byte 13",
                "`{\"model\":\"m1`|at byte 12",
                "`{\"model\":\"m1\"} x`|at byte 15",
                "`{\"model\":\"m1\",}`|at byte 14",
                "`{\"model\" \"m1\"}`|at byte 9",
                "`{\"model\":\"m1\" \"a\":1}`|at byte 14",
                "`{\"a\":[1,]}`|at byte 8",
                "`{\"a\":[1}}`|at byte 7",
                "`{\"a\":[{]}`|at byte 7",
                "`{\"a\":{1:2}}`|at byte 6",
                "`{\"a\":trux}`|at byte 5",
                "`{\"a\":nul}`|at byte 5",
                "`{\"a\":+1}`|at byte 5",
                "`{\"a\":NaN}`|at byte 5",
                "`{\"a\":1x}`|at byte 6",
                "`{\"a\":}`|at byte 5",
                "`{'a':1}`|at byte 1",
                "`{\"model\":\"m\\q\"}`|at byte 11",
                "`{\"model\":\"m\\u12\"}`|at byte 11",
                "`{\"model\":\"m\\u12g4\"}`|at byte 11",
            })
    void whatIsNotAnObjectIsRefusedWithItsPlace(String body, String place) {
        GatewayException refusal = refusal(body);

        assertThat(refusal.code()).isEqualTo(ErrorCode.INVALID_JSON);
        assertThat(refusal.getMessage()).contains(place);
    }

    @Test
    void anEmptyBodyIsRefused() {
        assertThat(refusal("").code()).isEqualTo(ErrorCode.INVALID_JSON);
        assertThat(refusal("").getMessage()).contains("empty");
    }

    @Test
    void aBodyInAnotherEncodingIsRefused() {
        assertThat(refusal("{\"model\":\"m1\"}".getBytes(java.nio.charset.StandardCharsets.UTF_16LE))
                        .code())
                .isEqualTo(ErrorCode.INVALID_JSON);
    }

    @Test
    void nestingIsBounded() throws GatewayException {
        assertThat(scan(nested("{\"a\":", "1", "}", 127)).model()).isEqualTo("m1");
        assertThat(scan(nested("[", "1", "]", 127)).model()).isEqualTo("m1");
        for (String body : new String[] {
            nested("{\"a\":", "1", "}", 128), nested("[", "", "]", 128), "{\"messages\":" + "[".repeat(1_000_000)
        }) {
            GatewayException refusal = refusal(body);
            assertThat(refusal.code()).isEqualTo(ErrorCode.INVALID_JSON);
            assertThat(refusal.getMessage()).contains("128");
        }
    }

    @Test
    void bracketsAreMatchedBeyondTheWidthOfAWord() {
        String open = "[{\"a\":".repeat(60);
        String close = "}]".repeat(60);
        assertThat(refusal("{\"a\":" + open + "1" + close.replaceFirst("]$", "}") + "}")
                        .code())
                .isEqualTo(ErrorCode.INVALID_JSON);
        assertThat(refusal("{\"a\":" + open + "1" + close + "}").code()).isEqualTo(ErrorCode.MISSING_MODEL);
    }

    @Test
    void theBodyMayStandInAnyKindOfBuffer() throws GatewayException {
        byte[] json = utf8("{\"model\":\"m1\",\"user\":\"" + "u".repeat(300) + "\"}");
        ByteBuf heap = Unpooled.wrappedBuffer(json);
        ByteBuf parts = Unpooled.wrappedBuffer(
                Unpooled.copiedBuffer(json, 0, 100), Unpooled.copiedBuffer(json, 100, json.length - 100));

        assertThat(PromptScanner.scan(heap).model()).isEqualTo("m1");
        assertThat(PromptScanner.scan(heap.asReadOnly()).model()).isEqualTo("m1");
        assertThat(PromptScanner.scan(parts).modelEnd()).isEqualTo(13);
    }

    // -- values

    @ParameterizedTest
    @CsvSource({"true,true", "false,false", "null,false"})
    void streamIsABoolean(String value, boolean stream) throws GatewayException {
        assertThat(scan("{\"model\":\"m1\",\"stream\":" + value + "}").stream()).isEqualTo(stream);
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"true\"", "1", "0", "[]", "{}"})
    void aStreamThatServersWouldCoerceIsRefused(String value) {
        GatewayException refusal = refusal("{\"model\":\"m1\",\"stream\":" + value + "}");

        assertThat(refusal.code()).isEqualTo(ErrorCode.INVALID_FIELD);
        assertThat(refusal.param()).isEqualTo("stream");
    }

    @ParameterizedTest
    @CsvSource({"null,1", "1,1", "1024,1024"})
    void nIsASmallCount(String value, int n) throws GatewayException {
        assertThat(scan("{\"model\":\"m1\",\"n\":" + value + "}").n()).isEqualTo(n);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "n|0",
                "n|-1",
                "n|1025",
                "n|1.0",
                "n|1e1",
                "n|01",
                "n|\"1\"",
                "n|true",
                "n|[1]",
                "max_tokens|-1",
                "max_tokens|1.5",
                "max_tokens|9223372036854775808",
                "max_tokens|{}",
                "max_completion_tokens|-1",
                "max_completion_tokens|99999999999999999999",
                "priority|-9223372036854775809",
                "priority|-",
                "priority|--1",
                "priority|1.0",
                "priority|\"1\"",
            })
    void numbersOutsideTheirRangeAreRefused(String key, String value) {
        GatewayException refusal = refusal("{\"model\":\"m1\",\"" + key + "\":" + value + "}");

        assertThat(refusal.code()).isEqualTo(ErrorCode.INVALID_FIELD);
        assertThat(refusal.param()).isEqualTo(key);
    }

    @ParameterizedTest
    @CsvSource({
        "'',-1",
        "',\"max_tokens\":null',-1",
        "',\"max_tokens\":0',0",
        "',\"max_completion_tokens\":7,\"max_tokens\":5',7",
        "',\"max_tokens\":5,\"max_completion_tokens\":7',7",
        "',\"max_completion_tokens\":null,\"max_tokens\":5',5",
        "',\"max_tokens\":9223372036854775807',9223372036854775807",
    })
    void theNewerLimitOfTokensWins(String members, long maxTokens) throws GatewayException {
        assertThat(scan("{\"model\":\"m1\"" + members + "}").maxTokens()).isEqualTo(maxTokens);
    }

    @ParameterizedTest
    @CsvSource({
        "'',0,false",
        "',\"priority\":null',0,false",
        "',\"priority\":0',0,true",
        "',\"priority\":-0',0,true",
        "',\"priority\":-5',-5,true",
        "',\"priority\":-9223372036854775808',-9223372036854775808,true",
    })
    void priorityIsAnyInteger(String members, long priority, boolean given) throws GatewayException {
        Prompt prompt = scan("{\"model\":\"m1\"" + members + "}");

        assertThat(prompt.priority()).isEqualTo(priority);
        assertThat(prompt.priorityGiven()).isEqualTo(given);
    }

    @Test
    void userAndCacheKeyAreDecodedAndOtherTypesIgnored() throws GatewayException {
        Prompt given = scan("{\"model\":\"m1\",\"user\":\"\\u00e9\\n\",\"prompt_cache_key\":\"k\"}");
        assertThat(given.user()).isEqualTo("é\n");
        assertThat(given.promptCacheKey()).isEqualTo("k");

        Prompt other = scan("{\"model\":\"m1\",\"user\":42,\"prompt_cache_key\":{}}");
        assertThat(other.user()).isNull();
        assertThat(other.promptCacheKey()).isNull();
    }

    @Test
    void aLongUserIsCutButNeverInsideAPair() throws GatewayException {
        assertThat(scan("{\"model\":\"m\",\"user\":\"" + "é".repeat(300) + "\"}")
                        .user())
                .isEqualTo("é".repeat(256));
        assertThat(scan("{\"model\":\"m\",\"user\":\"" + "\\u00e9".repeat(300) + "\"}")
                        .user())
                .isEqualTo("é".repeat(256));
        for (String pair : new String[] {"😀", "\\ud83d\\ude00"}) {
            assertThat(scan("{\"model\":\"m\",\"user\":\"a" + pair.repeat(300) + "\"}")
                            .user())
                    .isEqualTo("a" + "😀".repeat(127));
        }
    }

    // -- spans

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "``|ABSENT|``|``",
                "`,\"stream_options\":null`|NULL|null|``",
                "`,\"stream_options\": {} `|OBJECT|{}|``",
                "`,\"stream_options\":{\"include_usage\": false }`|OBJECT|`{\"include_usage\": false }`|false",
                "`,\"stream_options\":{\"a\":{},\"include_usage\":[1]}`|OBJECT|`{\"a\":{},\"include_usage\":[1]}`|[1]",
                "`,\"stream_options\":[]`|OTHER|[]|``",
                "`,\"stream_options\":\"x\"`|OTHER|\"x\"|``",
                "`,\"stream_options\":true`|OTHER|true|``",
            })
    void streamOptionsAreFoundInEveryShape(String member, Prompt.StreamOptions kind, String options, String usage)
            throws GatewayException {
        String body = "{\"model\":\"m1\"" + member + "}";
        Prompt prompt = scan(body);

        assertThat(prompt.streamOptions()).isEqualTo(kind);
        assertThat(span(body, prompt.streamOptionsStart(), prompt.streamOptionsEnd()))
                .isEqualTo(options);
        assertThat(span(body, prompt.includeUsageStart(), prompt.includeUsageEnd()))
                .isEqualTo(usage);
        assertThat(prompt.streamOptionsEmpty()).isEqualTo("{}".equals(options));
        assertThat(prompt.usageAsked()).isFalse();
    }

    @Test
    void spansCountFromTheBodysFirstByte() throws GatewayException {
        String body = " {\"tools\" : [ {} ] , \"model\":\t\"m1\",\"input\":\"i\"}\r\n";
        Prompt prompt = scan(body);

        assertThat(prompt.insertAt()).isEqualTo(2);
        assertThat(span(body, prompt.modelStart(), prompt.modelEnd())).isEqualTo("\"m1\"");
        assertThat(span(body, prompt.toolsStart(), prompt.toolsEnd())).isEqualTo("[ {} ]");
        assertThat(span(body, prompt.promptStart(), prompt.promptEnd())).isEqualTo("\"i\"");
        assertThat(prompt.messagesStart()).isEqualTo(-1);
        assertThat(prompt.firstUserEnd()).isEqualTo(-1);
        assertThat(prompt.lastTurnStart()).isEqualTo(-1);
    }

    @Test
    void turnsAreFoundWhereverTheRoleStands() throws GatewayException {
        String system = "{\"role\":\"system\",\"content\":\"s\"}";
        String user = "{\"content\":[{\"role\":\"tool\",\"text\":\"}]\"}],\"ro\\u006ce\":\"us\\u0065r\"}";
        String answer = "{\"role\":\"assistant\",\"content\":null}";
        String tool = "{\"content\":\"42\",\"role\":\"tool\"}";
        String body =
                "{\"messages\":[" + String.join(" , ", system, user, answer, tool, answer) + " ],\"model\":\"m\"}";
        Prompt prompt = scan(body);

        assertThat(span(body, prompt.messagesStart(), prompt.firstUserEnd())).isEqualTo("[" + system + " , " + user);
        assertThat(span(body, prompt.lastTurnStart(), prompt.messagesEnd())).isEqualTo(tool + " , " + answer + " ]");
    }

    @Test
    void withoutAUserTheFirstMessageCounts() throws GatewayException {
        String body = "{\"messages\":[ {\"role\":\"system\"} ,{}],\"model\":\"m\"}";
        Prompt prompt = scan(body);

        assertThat(span(body, prompt.messagesStart(), prompt.firstUserEnd())).isEqualTo("[ {\"role\":\"system\"}");
        assertThat(prompt.lastTurnStart()).isEqualTo(-1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"[]", "{}", "\"x\"", "null", "[1,\"user\",[{\"role\":\"user\"}]]"})
    void messagesThatAreNoneHaveNoTurns(String messages) throws GatewayException {
        String body = "{\"messages\":" + messages + ",\"model\":\"m\"}";
        Prompt prompt = scan(body);

        assertThat(span(body, prompt.messagesStart(), prompt.messagesEnd())).isEqualTo(messages);
        assertThat(prompt.lastTurnStart()).isEqualTo(-1);
    }

    private static String nested(String open, String inner, String close, int times) {
        return "{\"a\":" + open.repeat(times) + inner + close.repeat(times) + ",\"model\":\"m1\"}";
    }

    private static String span(String ascii, int start, int end) {
        return start < 0 ? "" : ascii.substring(start, end);
    }
}
