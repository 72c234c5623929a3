package routes.vllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import routes.net.HeadBytes;
import routes.relay.Content;
import routes.relay.Framing;

/** What a replica's head means, and which heads are not believed. */
class AnswerHeadParserTest {

    private static final String OK = "HTTP/1.1 200 OK\r\n";

    @Test
    void readsStatusFramingAndContentAndKeepsTheOtherLinesAsTheyCame() throws Exception {
        AnswerHeadParser head = parse(OK + "Server: a\tb\r\nContent-Length: 17\r\nConnection: keep-alive\r\n"
                + "CONTENT-TYPE: application/json\r\nX-Empty:\r\n\r\n");

        assertThat(head.status()).isEqualTo(200);
        assertThat(head.framing()).isEqualTo(Framing.LENGTH);
        assertThat(head.length()).isEqualTo(17);
        assertThat(head.content()).isEqualTo(Content.JSON);
        assertThat(head.keepAlive()).isTrue();
        assertThat(lines(head)).isEqualTo("Server: a\tb\r\nCONTENT-TYPE: application/json\r\nX-Empty:\r\n");
    }

    @Test
    void passesOverInterimAnswersAndLeavesTheBodyAlone() throws Exception {
        AnswerHeadParser head = new AnswerHeadParser();
        ByteBuf in = bytes("HTTP/1.1 100 Continue\r\n\r\n" + OK + "content-length: 2\r\n\r\nhi");

        assertThat(head.parse(in)).isTrue();
        assertThat(head.status()).isEqualTo(200);
        assertThat(in.toString(StandardCharsets.US_ASCII)).isEqualTo("hi");
    }

    @Test
    void waitsForTheEndWhereverTheHeadIsCut() throws Exception {
        String text = OK + "content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        for (int cut = 0; cut < text.length(); cut++) {
            AnswerHeadParser head = new AnswerHeadParser();
            ByteBuf in = bytes(text.substring(0, cut));
            assertThat(head.parse(in)).as("cut at %d", cut).isFalse();
            in.writeBytes(text.substring(cut).getBytes(StandardCharsets.US_ASCII));

            assertThat(head.parse(in)).as("cut at %d", cut).isTrue();
            assertThat(head.framing()).isEqualTo(Framing.CHUNKED);
            assertThat(head.content()).isEqualTo(Content.SSE);
        }
    }

    @ParameterizedTest
    @CsvSource({"7, 7", "' 007 ', 7", "0, 0", "99999999999999, 3600", "'', -1", "1.5, -1", "soon, -1", "1 2, -1"})
    void readsHowLongAnErrorAsksToWait(String value, int seconds) throws Exception {
        AnswerHeadParser head = parse("HTTP/1.1 503 Busy\r\nRETRY-AFTER:" + value + "\r\ncontent-length: 0\r\n\r\n");

        assertThat(head.retryAfterSeconds()).isEqualTo(seconds);
        assertThat(lines(head)).isEqualTo("RETRY-AFTER:" + value + "\r\n");
    }

    @Test
    void onlyErrorsAskToWait() throws Exception {
        AnswerHeadParser head = parse(OK + "retry-after: 7\r\ncontent-length: 0\r\n\r\n");

        assertThat(head.retryAfterSeconds()).isEqualTo(-1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"\0", "\r", "\n"})
    void refusesWhatCouldHideALineAtEveryPlace(String hidden) {
        for (int place = 0; place <= 24; place++) {
            String value = "v".repeat(place) + hidden + "v".repeat(24 - place);
            assertThatThrownBy(() -> parse(OK + "server: " + value + "\r\n\r\n"))
                    .as("after %d bytes", value.indexOf(hidden))
                    .isInstanceOf(AnswerHeadParser.Malformed.class);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/2.0 200 OK\r\n\r\n",
                "HTTP/1.1 20x OK\r\n\r\n",
                "HTTP/1.1 700 OK\r\n\r\n",
                "HTTP/1.1 101 Switching\r\n\r\n",
                OK + "no colon\r\n\r\n",
                OK + ": no name\r\n\r\n",
                OK + "name : value\r\n\r\n",
                OK + "content-length: 1\r\ncontent-length: 2\r\n\r\n",
                OK + "content-length: -1\r\n\r\n",
                OK + "content-length:\r\n\r\n",
                OK + "transfer-encoding: gzip, chunked\r\n\r\n",
                OK + "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n"
            })
    void refusesHeadsThatMeanTwoThings(String text) {
        assertThatThrownBy(() -> parse(text)).isInstanceOf(AnswerHeadParser.Malformed.class);
    }

    @Test
    void refusesAHeadWithoutEnd() {
        String text = OK + "x: " + "y".repeat(AnswerHeadParser.MAX_BYTES);

        assertThatThrownBy(() -> parse(text)).isInstanceOf(AnswerHeadParser.Malformed.class);
    }

    private static AnswerHeadParser parse(String text) throws AnswerHeadParser.Malformed {
        AnswerHeadParser head = new AnswerHeadParser();
        assertThat(head.parse(bytes(text))).isTrue();
        return head;
    }

    private static String lines(AnswerHeadParser head) {
        HeadBytes out = HeadBytes.begin();
        head.writeLines(out);
        ByteBuf written = Unpooled.buffer();
        out.writeTo(written);
        return written.toString(StandardCharsets.US_ASCII);
    }

    private static ByteBuf bytes(String text) {
        return Unpooled.buffer().writeBytes(text.getBytes(StandardCharsets.ISO_8859_1));
    }
}
