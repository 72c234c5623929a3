package routes.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import routes.error.GatewayException;
import routes.prompt.Bodies;
import routes.prompt.JsonMaker;

class EditsTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final CacheSalt SALT = new CacheSalt("salt-of_tenant", 1, true);
    private static final String SALT_VALUE = "\"salt-of_tenant\"";

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "`{\"model\":\"m1\",\"stream\":true}`"
                        + "|`{\"stream_options\":{\"include_usage\":true},\"model\":\"m1\",\"stream\":true}`",
                "`{\"stream\":true,\"stream_options\":null,\"model\":\"m1\"}`"
                        + "|`{\"stream\":true,\"stream_options\":{\"include_usage\":true},\"model\":\"m1\"}`",
                "`{\"stream\":true,\"stream_options\":{ },\"model\":\"m1\"}`"
                        + "|`{\"stream\":true,\"stream_options\":{\"include_usage\":true },\"model\":\"m1\"}`",
                "`{\"stream\":true,\"stream_options\":{\"include_usage\":false},\"model\":\"m1\"}`"
                        + "|`{\"stream\":true,\"stream_options\":{\"include_usage\":true},\"model\":\"m1\"}`",
                "`{\"stream\":true,\"stream_options\":{\"include_usage\":null,\"x\":1},\"model\":\"m1\"}`"
                        + "|`{\"stream\":true,\"stream_options\":{\"include_usage\":true,\"x\":1},\"model\":\"m1\"}`",
                "`{\"stream\":true,\"stream_options\":{\"include_usage\":\"yes\"},\"model\":\"m1\"}`"
                        + "|`{\"stream\":true,\"stream_options\":{\"include_usage\":true},\"model\":\"m1\"}`",
                "`{\"stream\":true,\"stream_options\":{\"continuous_usage_stats\":true},\"model\":\"m1\"}`"
                        + "|`{\"stream\":true,\"stream_options\":{\"include_usage\":true,\"continuous_usage_stats\":true},"
                        + "\"model\":\"m1\"}`",
            })
    void usageIsSwitchedOnOnceForAStream(String body, String expected) throws GatewayException {
        Edits edits = Edits.of(Bodies.scan(body), true, null);

        assertThat(edits.injects()).isTrue();
        assertThat(edits.count()).isEqualTo(1);
        assertThat(applied(edits, body)).isEqualTo(expected);
    }

    @Test
    void oddWhiteSpaceAndOptionsBeforeTheStreamStay() throws GatewayException {
        String body = "{ \"stream_options\" :\t{\r\n\"include_usage\" : false } ,\"stream\":true ,\"model\":\"m1\"}\n";
        Edits edits = Edits.of(Bodies.scan(body), true, null);

        assertThat(applied(edits, body)).isEqualTo(body.replace("false", "true"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"model\":\"m1\",\"stream\":true,\"stream_options\":{\"include_usage\":true}}",
                "{\"model\":\"m1\",\"stream\":true,\"stream_options\":[]}",
                "{\"model\":\"m1\",\"stream\":true,\"stream_options\":\"x\"}",
                "{\"model\":\"m1\",\"stream\":false,\"stream_options\":{\"include_usage\":true}}",
                "{\"model\":\"m1\",\"stream\":false}",
                "{\"model\":\"m1\",\"stream\":null,\"stream_options\":{\"include_usage\":false}}",
                "{\"model\":\"m1\"}"
            })
    void whatNeedsNoUsageStaysAsItIs(String body) throws GatewayException {
        Edits edits = Edits.of(Bodies.scan(body), true, null);

        assertThat(edits).isSameAs(Edits.none());
        assertThat(edits.injects()).isFalse();
        assertThat(edits.delta()).isZero();
        assertThat(applied(edits, body)).isEqualTo(body);
    }

    @Test
    void theBodyReachesTheReplicaAsItWasWritten() throws GatewayException {
        String body = """
            {"model":"m1",\t"seed":9007199254740993,\r
            "temperature":1.0,"top_p":1e-7,"priority":5,"x_new":{"a":[1,{"b":null}]},\
            "logit_bias":{"50256":-100},"tools":[],\
            "messages":[{"role":"user","content":"\\u00e9 \\/ \\ud83d\\ude00 \\n"}],\r
            \t"stream":true}\
            """;
        Edits edits = Edits.of(Bodies.scan(body), true, null);

        assertThat(applied(edits, body)).isEqualTo("{\"stream_options\":{\"include_usage\":true}," + body.substring(1));
        assertThat(applied(Edits.of(Bodies.scan(body), false, null), body)).isEqualTo(body);
    }

    @Test
    void theModelIsRenamedForTheReplica() throws GatewayException {
        String body = "{\"x\":\"m\\u0031\",\"model\": \"m\\u0031\" ,\"stream\":true,\"stream_options\":null}";
        Edits edits = Edits.of(Bodies.scan(body), true, "org/\"é\\\n😀");

        assertThat(edits.count()).isEqualTo(2);
        assertThat(applied(edits, body))
                .isEqualTo("{\"x\":\"m\\u0031\",\"model\": \"org/\\\"é\\\\\\u000a😀\" ,\"stream\":true,"
                        + "\"stream_options\":{\"include_usage\":true}}");
    }

    @Test
    void aModelThatKeepsItsNameKeepsItsSpelling() throws GatewayException {
        Prompt prompt = Bodies.scan("{\"model\":\"m\\u0031\"}");

        assertThat(Edits.of(prompt, false, "m1")).isSameAs(Edits.none());
    }

    @Test
    void splicesStandInTheOrderOfTheBody() throws GatewayException {
        Prompt optionsFirst = Bodies.scan("{\"stream_options\":{},\"model\":\"m1\",\"stream\":true}");
        Prompt modelFirst = Bodies.scan("{\"model\":\"m1\",\"stream_options\":{},\"stream\":true}");

        for (Prompt prompt : new Prompt[] {optionsFirst, modelFirst}) {
            Edits edits = Edits.of(prompt, true, "other");
            assertThat(edits.at(0) + edits.removed(0)).isLessThanOrEqualTo(edits.at(1));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "`{\"model\":\"m1\"}`|`{\"cache_salt\":SALT,\"model\":\"m1\"}`",
                "`{ \"model\":\"m1\"}`|`{\"cache_salt\":SALT, \"model\":\"m1\"}`",
                "`{\"model\":\"m1\",\"cache_salt\" : \"mine\" }`|`{\"model\":\"m1\",\"cache_salt\" : SALT }`",
                "`{\"cache\\u005fsalt\":{\"a\":[1]},\"model\":\"m1\"}`|`{\"cache\\u005fsalt\":SALT,\"model\":\"m1\"}`",
                "`{\"cache_salt\":null,\"model\":\"m1\"}`|`{\"cache_salt\":SALT,\"model\":\"m1\"}`",
                "`{\"model\":\"m1\",\"x\":{\"cache_salt\":\"mine\"}}`"
                        + "|`{\"cache_salt\":SALT,\"model\":\"m1\",\"x\":{\"cache_salt\":\"mine\"}}`",
            })
    void theSaltOfTheTenantStandsInForTheClients(String body, String expected) throws GatewayException {
        Edits edits = Edits.of(Bodies.scan(body), true, null, SALT);

        assertThat(edits.count()).isEqualTo(1);
        assertThat(edits.injects()).isFalse();
        assertThat(applied(edits, body)).isEqualTo(expected.replace("SALT", SALT_VALUE));
    }

    @Test
    void withoutASaltTheClientsStays() throws GatewayException {
        Prompt prompt = Bodies.scan("{\"model\":\"m1\",\"cache_salt\":\"mine\"}");

        assertThat(Edits.of(prompt, true, null, null)).isSameAs(Edits.none());
    }

    @Test
    void saltUsageAndModelChangeInOnePass() throws GatewayException {
        String options = "\"stream_options\":{\"include_usage\":true},";
        String member = "\"cache_salt\":" + SALT_VALUE + ",";
        String plain = "{\"model\":\"m1\",\"stream\":true}";
        String given = "{\"stream\":true,\"cache_salt\":\"mine\",\"stream_options\":null,\"model\":\"m1\"}";
        Edits first = Edits.of(Bodies.scan(plain), true, "m2", SALT);
        Edits spread = Edits.of(Bodies.scan(given), true, "m2", SALT);

        assertThat(applied(first, plain)).isEqualTo("{" + options + member + "\"model\":\"m2\",\"stream\":true}");
        assertThat(applied(spread, given))
                .isEqualTo("{\"stream\":true,\"cache_salt\":" + SALT_VALUE
                        + ",\"stream_options\":{\"include_usage\":true},\"model\":\"m2\"}");
        for (Edits edits : new Edits[] {first, spread}) {
            assertThat(edits.count()).isEqualTo(3);
            assertThat(edits.injects()).isTrue();
            assertThat(edits.at(0) + edits.removed(0)).isLessThanOrEqualTo(edits.at(1));
            assertThat(edits.at(1) + edits.removed(1)).isLessThanOrEqualTo(edits.at(2));
            assertThatThrownBy(() -> edits.at(3)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void thereIsNoSpliceBeyondTheCount() throws GatewayException {
        Edits one = Edits.of(Bodies.scan("{\"model\":\"m1\"}"), false, "m2");

        assertThat(one.count()).isEqualTo(1);
        assertThatThrownBy(() -> one.at(1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> one.at(-1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> Edits.none().inserted(0)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Property(tries = 2000)
    void anyBodyGetsUsageOnceAndNothingElseChanges(
            @ForAll("bodies") String json, @ForAll boolean rename, @ForAll boolean salt) throws Exception {
        Prompt prompt = Bodies.scan(json);
        String name = rename ? "renamed" : null;
        Edits edits = Edits.of(prompt, true, name, salt ? SALT : null);
        String edited = applied(edits, json);
        Prompt after = Bodies.scan(edited);

        boolean usage = prompt.stream() && prompt.streamOptions() != Prompt.StreamOptions.OTHER;
        assertThat(after.usageAsked()).isEqualTo(usage || prompt.usageAsked());
        assertThat(edits.injects()).isEqualTo(usage && !prompt.usageAsked());
        assertThat(after.model()).isEqualTo(rename ? "renamed" : prompt.model());
        assertThat(JSON.readTree(edited).path("cache_salt"))
                .isEqualTo(
                        salt ? JSON.readTree(SALT_VALUE) : JSON.readTree(json).path("cache_salt"));
        assertThat(others(edited)).isEqualTo(others(json));
        assertThat(undone(edits, edited, json)).isEqualTo(Bodies.utf8(json));
        for (int i = 0; i < edits.count(); i++) {
            int start = edits.at(i);
            int end = start + edits.removed(i);
            assertThat(start == end
                            || start == prompt.modelStart() && end == prompt.modelEnd()
                            || start == prompt.cacheSaltStart() && end == prompt.cacheSaltEnd()
                            || start >= prompt.streamOptionsStart() && end <= prompt.streamOptionsEnd())
                    .isTrue();
        }
    }

    @Provide
    Arbitrary<String> bodies() {
        return JsonMaker.bodies();
    }

    /** The document without what edits may change, with the other stream options. */
    private static JsonNode others(String json) throws Exception {
        ObjectNode root = (ObjectNode) JSON.readTree(json);
        root.remove("model");
        root.remove("cache_salt");
        JsonNode options = root.path("stream_options");
        if (options instanceof ObjectNode object) {
            object.remove("include_usage");
        }
        if (options.isNull() || options.isObject() && options.isEmpty()) {
            root.remove("stream_options");
        }
        return root;
    }

    /** The edited body with each splice taken back: what was put in is taken out, what was taken out is put in. */
    private static byte[] undone(Edits edits, String edited, String original) {
        byte[] from = Bodies.utf8(edited);
        byte[] before = Bodies.utf8(original);
        ByteBuf out = Unpooled.buffer();
        int read = 0;
        for (int i = 0; i < edits.count(); i++) {
            int kept = edits.at(i) - out.writerIndex();
            out.writeBytes(from, read, kept);
            out.writeBytes(before, edits.at(i), edits.removed(i));
            read += kept + edits.inserted(i).length;
        }
        return ByteBufUtil.getBytes(out.writeBytes(from, read, from.length - read));
    }

    private static String applied(Edits edits, String json) {
        byte[] original = Bodies.utf8(json);
        ByteBuf body = Bodies.direct(original);
        ByteBuf out = Unpooled.buffer();
        int reader = body.readerIndex();
        try {
            edits.writeTo(body, out);
            assertThat(body.readerIndex()).isEqualTo(reader);
            assertThat(out.readableBytes()).isEqualTo(original.length + edits.delta());
            return out.toString(StandardCharsets.UTF_8);
        } finally {
            body.release();
        }
    }
}
