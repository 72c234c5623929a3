package routes.door;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import routes.error.ErrorCode;
import routes.error.GatewayException;

final class ChunkedBodyTest {

    @Test
    void joinsTheDataAndLeavesWhatFollows() throws GatewayException {
        ByteBuf in =
                buffer("5\r\nhello\r\n00000006;n=v;q=\"x y\"\r\n world\r\n0\r\nTrailer: x\r\nB:\t\u00e9\r\n\r\nGET /");
        ByteBuf out = Unpooled.buffer();

        assertThat(new ChunkedBody().feed(in, out::writeBytes)).isTrue();

        assertThat(out.toString(StandardCharsets.US_ASCII)).isEqualTo("hello world");
        assertThat(in.toString(StandardCharsets.US_ASCII)).isEqualTo("GET /");
    }

    @Test
    void takesHexDigitsInBothCases() throws GatewayException {
        assertThat(decode("aA\r\n" + "x".repeat(170) + "\r\n0\r\n\r\n")).hasSize(170);
    }

    @Test
    void takesAnEmptyBody() throws GatewayException {
        assertThat(decode("000\r\n\r\n")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "5", "5\r", "5\r\nhel", "5\r\nhello", "5\r\nhello\r\n0\r\n", "0\r\nA: b\r\n", "0\r\n\r"})
    void waitsForTheRest(String part) throws GatewayException {
        ByteBuf in = buffer(part);

        assertThat(new ChunkedBody().feed(in, (source, index, length) -> {})).isFalse();
        assertThat(in.isReadable()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\r\n",
                " 5\r\n",
                "5 \r\n",
                "+5\r\n",
                "-5\r\n",
                "0x5\r\n",
                "g\r\n",
                ";a\r\n",
                "\u00b2\r\n",
                "5\n",
                "5\rx",
                "000000005\r\n",
                "80000000\r\n",
                "100000005\r\n",
                "5;a\nb\r\n",
                "5;a\rb\r\n",
                "5;a\tb\r\n",
                "5;\0\r\n",
                "5\r\nhello\n",
                "5\r\nhello0\r\n",
                "5\r\nhello\r0",
                "0\r\n\n",
                "0\r\n\rx",
                "0\r\n: v\r\n",
                "0\r\nA\r\n",
                "0\r\nA : v\r\n",
                "0\r\n A: v\r\n",
                "0\r\nA: b\r\n c\r\n",
                "0\r\nA: b\n",
                "0\r\nA: b\rc",
                "0\r\nA: \0\r\n"
            })
    void refusesOtherForms(String body) {
        assertThatThrownBy(() -> decode(body))
                .isInstanceOfSatisfying(
                        GatewayException.class,
                        error -> assertThat(error.code()).isEqualTo(ErrorCode.BAD_REQUEST));
    }

    @Test
    void takesASizeLineOfTheLimitAndRefusesALongerOne() throws GatewayException {
        String longest = "1;" + "x".repeat(252) + "\r\n";

        assertThat(longest).hasSize(256);
        assertThat(decode(longest + "a\r\n0\r\n\r\n")).hasSize(1);
        assertThatThrownBy(() -> decode("1;" + "x".repeat(253))).isInstanceOf(GatewayException.class);
    }

    @Test
    void refusesExtensionsThatOutgrowTheBody() throws GatewayException {
        String chunk = "1;" + "x".repeat(127) + "\r\na\r\n";

        assertThat(decode(chunk.repeat(64) + "0\r\n\r\n")).hasSize(64);
        assertThatThrownBy(() -> decode(chunk.repeat(65))).isInstanceOf(GatewayException.class);
    }

    @Test
    void refusesLongTrailers() throws GatewayException {
        assertThat(decode("0\r\nA: " + "x".repeat(8100) + "\r\n\r\n")).isEmpty();
        assertThatThrownBy(() -> decode("0\r\n" + ("A: " + "x".repeat(1000) + "\r\n").repeat(9)))
                .isInstanceOf(GatewayException.class);
    }

    @Test
    void stopsWhenTheSinkRefuses() {
        assertThatThrownBy(() -> new ChunkedBody().feed(buffer("5\r\nhello\r\n"), (source, index, length) -> {
                    throw new GatewayException(ErrorCode.BODY_TOO_LARGE);
                }))
                .isInstanceOfSatisfying(
                        GatewayException.class,
                        error -> assertThat(error.code()).isEqualTo(ErrorCode.BODY_TOO_LARGE));
    }

    @Property(tries = 500)
    void anySplitGivesTheSameBody(
            @ForAll @Size(max = 5) List<@IntRange(min = 1, max = 40) Integer> sizes,
            @ForAll @IntRange(min = 1, max = 9) int step)
            throws GatewayException {
        StringBuilder encoded = new StringBuilder();
        StringBuilder expected = new StringBuilder();
        for (int size : sizes) {
            String data = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH\r\n".substring(0, size);
            expected.append(data);
            encoded.append(Integer.toHexString(size))
                    .append(";e=")
                    .append(size)
                    .append("\r\n")
                    .append(data);
            encoded.append("\r\n");
        }
        byte[] body = encoded.append("0\r\nT: x\r\n\r\nNEXT").toString().getBytes(StandardCharsets.US_ASCII);
        ChunkedBody decoder = new ChunkedBody();
        ByteBuf out = Unpooled.buffer();
        ByteBuf in = Unpooled.buffer();
        boolean complete = false;

        for (int at = 0; at < body.length; at += step) {
            in.writeBytes(body, at, Math.min(step, body.length - at));
            complete = decoder.feed(in, out::writeBytes);
            if (complete) {
                in.writeBytes(body, Math.min(at + step, body.length), Math.max(0, body.length - at - step));
                break;
            }
        }

        assertThat(complete).isTrue();
        assertThat(out.toString(StandardCharsets.US_ASCII)).isEqualTo(expected.toString());
        assertThat(in.toString(StandardCharsets.US_ASCII)).isEqualTo("NEXT");
    }

    private static String decode(String body) throws GatewayException {
        ByteBuf out = Unpooled.buffer();
        assertThat(new ChunkedBody().feed(buffer(body), out::writeBytes)).isTrue();
        return out.toString(StandardCharsets.US_ASCII);
    }

    private static ByteBuf buffer(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1);
    }
}
