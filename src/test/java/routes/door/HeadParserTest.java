package routes.door;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.request.RequestHead;
import routes.request.RequestHead.Known;
import routes.request.RequestHead.Method;

final class HeadParserTest {

    private static final String LINE = "POST /v1/chat/completions HTTP/1.1\r\n";
    private static final String START = LINE + "Host: x\r\n";

    @Test
    void readsWhatClientsSend() throws GatewayException {
        RequestHead head = parse("POST /v1/chat/completions?api-version=1 HTTP/1.1\r\n"
                + "Host: gateway.example:8080\r\nAccept: application/json\r\nAUTHORIZATION:Bearer sk-1 \r\n"
                + "content-type:\tapplication/json\r\nUser-Agent: caf\u00e9\r\nContent-Length: 17\r\nx-Extra:\r\n\r\n");

        assertThat(head.method()).isEqualTo(Method.POST);
        assertThat(head.path()).isEqualTo("/v1/chat/completions");
        assertThat(head.query()).isEqualTo("api-version=1");
        assertThat(head.rawTarget()).isEqualTo("/v1/chat/completions?api-version=1");
        assertThat(head.http10()).isFalse();
        assertThat(head.keepAlive()).isTrue();
        assertThat(head.contentLength()).isEqualTo(17);
        assertThat(head.chunked()).isFalse();
        assertThat(head.expectContinue()).isFalse();
        assertThat(head.header(Known.AUTHORIZATION)).isEqualTo("Bearer sk-1");
        assertThat(head.header(Known.CONTENT_TYPE)).isEqualTo("application/json");
        assertThat(head.header(Known.USER_AGENT)).isEqualTo("caf\u00e9");
        assertThat(head.header(Known.X_API_KEY)).isNull();
        assertThat(head.header("x-extra")).isEmpty();
    }

    @Test
    void leavesWhatFollowsTheHead() throws GatewayException {
        ByteBuf in = buffer(START + "\r\nhello");

        new HeadParser(8192, 100).parse(in);

        assertThat(in.toString(StandardCharsets.US_ASCII)).isEqualTo("hello");
    }

    @Test
    void leavesAnIncompleteHeadWhereItIs() throws GatewayException {
        HeadParser parser = new HeadParser(8192, 100);
        ByteBuf in = buffer(START);

        assertThat(parser.parse(in)).isNull();
        assertThat(parser.inside()).isTrue();
        assertThat(in.readableBytes()).isEqualTo(START.length());

        in.writeBytes("\r\n".getBytes(StandardCharsets.US_ASCII));

        assertThat(parser.parse(in)).isNotNull();
        assertThat(parser.inside()).isFalse();
    }

    @Test
    void headsOfTwoConnectionsThatComeInPartsDoNotMix() throws GatewayException {
        String first = START + "X-Name: " + "a".repeat(1200) + "\r\n\r\n";
        String second = START + "X-Name: " + "b".repeat(1200) + "\r\n\r\n";
        for (int cut = 1; cut < first.length(); cut++) {
            HeadParser one = new HeadParser(8192, 100);
            HeadParser other = new HeadParser(8192, 100);
            ByteBuf in = buffer(first.substring(0, cut));
            ByteBuf otherIn = buffer(second.substring(0, cut));
            assertThat(one.parse(in)).isNull();
            assertThat(other.parse(otherIn)).isNull();
            in.writeBytes(first.substring(cut).getBytes(StandardCharsets.US_ASCII));
            otherIn.writeBytes(second.substring(cut).getBytes(StandardCharsets.US_ASCII));

            RequestHead head = one.parse(in);
            RequestHead otherHead = other.parse(otherIn);

            assertThat(head).isNotNull();
            assertThat(otherHead).isNotNull();
            assertThat(head.header("x-name")).as("cut at %d", cut).isEqualTo("a".repeat(1200));
            assertThat(otherHead.header("x-name")).as("cut at %d", cut).isEqualTo("b".repeat(1200));
        }
    }

    @Test
    void readsOneHeadAfterTheOther() throws GatewayException {
        HeadParser parser = new HeadParser(8192, 100);
        ByteBuf in =
                buffer("POST /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: fancy\r\nContent-Length: 3\r\n\r\n"
                        + "\r\nGET /b HTTP/1.1\r\nHost: y\r\n\r\n");

        RequestHead first = parser.parse(in);
        RequestHead second = parser.parse(in);

        assertThat(first).isNotNull();
        assertThat(first.path()).isEqualTo("/a");
        assertThat(first.header(Known.HOST)).isEqualTo("x");
        assertThat(second).isNotNull();
        assertThat(second.path()).isEqualTo("/b");
        assertThat(second.contentLength()).isEqualTo(-1);
        assertThat(second.keepAlive()).isTrue();
        assertThat(second.unknownExpectation()).isFalse();
        assertThat(in.isReadable()).isFalse();
    }

    @Test
    void findsAHeadBehindALargeBufferInPieces() throws GatewayException {
        String fields = "X-Long: " + "v".repeat(5000) + "\r\n";
        ByteBuf in = buffer(START + fields + "\r\n" + "b".repeat(100_000));

        RequestHead head = new HeadParser(8192, 100).parse(in);

        assertThat(head).isNotNull();
        assertThat(head.header("x-long")).hasSize(5000);
        assertThat(head.bytes()).hasSize((START + fields).length() + 2);
        assertThat(in.readableBytes()).isEqualTo(100_000);
    }

    @Test
    void skipsAFewEmptyLinesBeforeARequest() throws GatewayException {
        assertThat(parse("\r\n\r\n" + START + "\r\n").path()).isEqualTo("/v1/chat/completions");

        refused(ErrorCode.BAD_REQUEST, "\r\n".repeat(5) + START + "\r\n");
        refused(ErrorCode.BAD_REQUEST, "\rX");
    }

    @Test
    void refusesWhatIsNotHttpAtItsFirstByte() {
        refused(ErrorCode.BAD_REQUEST, "\u0016\u0003\u0001");
        refused(ErrorCode.BAD_REQUEST, "\n");
        refused(ErrorCode.BAD_REQUEST, " GET");
    }

    @Test
    void takesAHeadOfExactlyTheLimit() throws GatewayException {
        String head = START + "\r\n";

        assertThat(new HeadParser(head.length(), 1).parse(buffer(head))).isNotNull();
        refused(new HeadParser(head.length() - 1, 1), ErrorCode.HEAD_TOO_LARGE, head);
    }

    @Test
    void refusesATooLargeHeadBeforeItIsComplete() {
        refused(new HeadParser(1000, 100), ErrorCode.HEAD_TOO_LARGE, START + "X: " + "v".repeat(1000));
        refused(new HeadParser(1000, 3), ErrorCode.HEAD_TOO_LARGE, START + "A: b\r\n".repeat(3));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET  / HTTP/1.1",
                "GET / HTTP/1.1 ",
                "GET /  HTTP/1.1",
                "GET\t/ HTTP/1.1",
                "GET / HTTP/1.1\r",
                "GET /",
                "GET",
                "GET / http/1.1",
                "GET / HTTP/1.10",
                "GET / HTTP/1",
                "GET / HTTPS/1.1",
                "GET /a b HTTP/1.1",
                "GET /a#b HTTP/1.1",
                "GET /\u00e9 HTTP/1.1",
                "GET /\u0001 HTTP/1.1",
                "GET /\u007f HTTP/1.1",
                "G(T / HTTP/1.1",
                "GET a HTTP/1.1",
                "GET * HTTP/1.1",
                "CONNECT x:443 HTTP/1.1",
                "CONNECT / HTTP/1.1",
                "GET x:80 HTTP/1.1",
                "GET http:///a HTTP/1.1",
                "GET http://u:p@h/a HTTP/1.1",
                "GET ftp://h/a HTTP/1.1",
                "GET /a//b HTTP/1.1"
            })
    void refusesBrokenRequestLines(String line) {
        refused(ErrorCode.BAD_REQUEST, line + "\r\nHost: x\r\n\r\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"HTTP/2.0", "HTTP/1.2", "HTTP/0.9", "HTTP/3.0"})
    void refusesOtherVersions(String version) {
        refused(ErrorCode.HTTP_VERSION, "GET / " + version + "\r\nHost: x\r\n\r\n");
    }

    @Test
    void refusesThePrefaceOfHttp2AsAVersion() {
        refused(ErrorCode.HTTP_VERSION, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Name : v\r\n",
                "Name\t: v\r\n",
                " Name: v\r\n",
                "\tName: v\r\n",
                "A: b\r\n folded\r\n",
                ": v\r\n",
                "no colon\r\n",
                "N\u00e4me: v\r\n",
                "N(me: v\r\n",
                "N\0me: v\r\n",
                "A: \0\r\n",
                "A: b\u0001\r\n",
                "A: b\u007f\r\n",
                "A: 12345678\u000b12345678\r\n",
                "A: b\rC: d\r\n",
                "A: b\r\r\n",
                "A: b\n",
                "\rA: b\r\n",
                "\r\r\n"
            })
    void refusesBrokenFields(String field) {
        refused(ErrorCode.BAD_REQUEST, START + field + "\r\n");
    }

    @Test
    void refusesABareLineFeedAtOnce() {
        refused(ErrorCode.BAD_REQUEST, "GET / HTTP/1.1\n");
        refused(ErrorCode.BAD_REQUEST, LINE + "Host: x\r\n\n");
    }

    @Test
    void takesTabsAndBytesBeyondAsciiInValues() throws GatewayException {
        RequestHead head = parse(START + "A: \t a\tb\u0080\u00ff, 12345678\t12345678 \t\r\n\r\n");

        assertThat(head.header("a")).isEqualTo("a\tb\u0080\u00ff, 12345678\t12345678");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "Host:\r\n",
                "Host: a b\r\n",
                "Host: u@h\r\n",
                "Host: h/p\r\n",
                "Host: a,b\r\n",
                "Host: :80\r\n",
                "Host: \u00e9\r\n",
                "Host: x\r\nHost: x\r\n",
                "Host: x\r\nhost: y\r\n"
            })
    void needsExactlyOnePlausibleHost(String host) {
        refused(ErrorCode.BAD_REQUEST, LINE + host + "\r\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"h", "h:80", "10.0.0.1:8080", "[::1]:80", "a-b_c.example"})
    void takesHosts(String host) throws GatewayException {
        assertThat(parse(LINE + "Host: " + host + "\r\n\r\n").header(Known.HOST))
                .isEqualTo(host);
    }

    @Test
    void http10NeedsNoHostAndClosesUnlessAsked() throws GatewayException {
        RequestHead plain = parse("GET / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n");
        RequestHead kept = parse("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");

        assertThat(plain.http10()).isTrue();
        assertThat(plain.keepAlive()).isFalse();
        assertThat(plain.expectContinue()).isFalse();
        assertThat(kept.keepAlive()).isTrue();
    }

    @Test
    void readsConnectionAsAListInAnyCase() throws GatewayException {
        assertThat(parse(START + "Connection: TE , CLOSE\r\n\r\n").keepAlive()).isFalse();
        assertThat(parse(START + "Connection: keep-alive\r\nConnection: ,close\r\n\r\n")
                        .keepAlive())
                .isFalse();
        assertThat(parse(START + "Connection: closed, keep-alive\r\n\r\n").keepAlive())
                .isTrue();
        assertThat(parse(START + "Connection:\r\n\r\n").keepAlive()).isTrue();
    }

    @Test
    void readsExpectations() throws GatewayException {
        assertThat(parse(START + "Expect: 100-Continue\r\n\r\n").expectContinue())
                .isTrue();

        for (String unknown : List.of(
                "Expect: fancy\r\n",
                "Expect: 100-continue, fancy\r\n",
                "Expect: fancy\r\nExpect: 100-continue\r\n",
                "Expect: 100-continue\r\nExpect: fancy\r\n")) {
            RequestHead head = parse(START + unknown + "\r\n");
            assertThat(head.unknownExpectation()).as(unknown).isTrue();
            assertThat(head.expectContinue()).as(unknown).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "+6",
                "-6",
                "0x6",
                "",
                "6 6",
                "6;",
                "6,",
                ",6",
                "6,,6",
                "1234567890123456789",
                "6e1",
                "6.0",
                "6 66",
                "6;6",
                "6x6",
                "\u0666"
            })
    void refusesLengthsThatAreNotNumbers(String length) {
        refused(ErrorCode.BAD_REQUEST, START + "Content-Length: " + length + "\r\n\r\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Length: 6\r\nContent-Length: 60\r\n",
                "Content-Length: 6, 60\r\n",
                "Content-Length: 6\r\nContent-Length: 06\r\n",
                "Content-Length: 6\r\nContent-Length: 6, 7\r\n"
            })
    void refusesDifferentLengths(String lengths) {
        refused(ErrorCode.BAD_REQUEST, START + lengths + "\r\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Length: 6\r\nContent-Length: 6\r\n",
                "Content-Length: 6, 6\r\n",
                "Content-Length: 6 ,\t6\r\ncontent-length: 6\r\n"
            })
    void readsEqualLengthsAsOne(String lengths) throws GatewayException {
        RequestHead head = parse(START + lengths + "X: y\r\n\r\n");

        List<String> fields = new ArrayList<>();
        head.forEach((name, value) -> fields.add(name + "=" + value));
        assertThat(head.contentLength()).isEqualTo(6);
        assertThat(fields).containsExactly("Host=x", "Content-Length=6", "X=y");
    }

    @Test
    void refusesSeveralLengthsUnderHttp10() {
        refused(ErrorCode.BAD_REQUEST, "POST / HTTP/1.0\r\nContent-Length: 6, 6\r\n\r\n");
    }

    @Test
    void takesTheLargestLengthThatItCanCount() throws GatewayException {
        assertThat(parse(START + "Content-Length: 999999999999999999\r\n\r\n").contentLength())
                .isEqualTo(999_999_999_999_999_999L);
    }

    @Test
    void readsChunkedInAnyCase() throws GatewayException {
        RequestHead head = parse(START + "Transfer-Encoding:\tChunked \r\n\r\n");

        assertThat(head.chunked()).isTrue();
        assertThat(head.contentLength()).isEqualTo(-1);
    }

    static Map<String, ErrorCode> knownFramingAttacks() {
        Map<String, ErrorCode> attacks = new LinkedHashMap<>();
        for (String refused : List.of(
                "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n",
                "Transfer-Encoding: chunked\r\nContent-Length: 6\r\n",
                "Transfer-Encoding: xchunked\r\nContent-Length: 6\r\n",
                "Content-Length: 6\r\nContent-Length: 60\r\n",
                "Transfer-Encoding : chunked\r\n",
                "Content-Length: +6\r\n",
                "Content-Length:\r\n 6\r\n",
                "Content-Length: 6\r\n 0\r\n",
                "Transfer-Encoding:\u000bchunked\r\n",
                "Transfer-Encoding: chunked\nX: y\r\n")) {
            attacks.put(refused, ErrorCode.BAD_REQUEST);
        }
        for (String unknown : List.of(
                "Transfer-Encoding: xchunked\r\n",
                "Transfer-Encoding: chunked, identity\r\n",
                "Transfer-Encoding: gzip, chunked\r\n",
                "Transfer-Encoding: chunked, chunked\r\n",
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
                "Transfer-Encoding: \"chunked\"\r\n",
                "Transfer-Encoding:\r\n")) {
            attacks.put(unknown, ErrorCode.UNKNOWN_TRANSFER_CODING);
        }
        return attacks;
    }

    @ParameterizedTest
    @MethodSource("attackHeaders")
    void refusesTwoWaysToReadWhereTheBodyEnds(String headers) {
        refused(knownFramingAttacks().get(headers), START + headers + "\r\n");
    }

    static List<String> attackHeaders() {
        return List.copyOf(knownFramingAttacks().keySet());
    }

    @Test
    void refusesTransferCodingsUnderHttp10() {
        refused(ErrorCode.BAD_REQUEST, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n");
        refused(ErrorCode.BAD_REQUEST, "POST / HTTP/1.0\r\nTransfer-Encoding: gzip\r\n\r\n");
    }

    @Test
    void theAuthorityOfAnAbsoluteTargetReplacesHost() throws GatewayException {
        RequestHead head = parse("GET HTTP://other:80/v1/models?x HTTP/1.1\r\nHost: x\r\n\r\n");

        assertThat(head.path()).isEqualTo("/v1/models");
        assertThat(head.query()).isEqualTo("x");
        assertThat(head.header(Known.HOST)).isEqualTo("other:80");
        assertThat(head.rawTarget()).isEqualTo("HTTP://other:80/v1/models?x");
    }

    @Test
    void anAbsoluteTargetWithoutAPathMeansTheRoot() throws GatewayException {
        assertThat(parse("GET https://h HTTP/1.1\r\nHost: h\r\n\r\n").path()).isEqualTo("/");
        assertThat(parse("GET http://h?q HTTP/1.1\r\nHost: h\r\n\r\n").query()).isEqualTo("q");
    }

    @Test
    void anAsteriskIsATargetForOptionsOnly() throws GatewayException {
        assertThat(parse("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n").path()).isEqualTo("*");
        refused(ErrorCode.BAD_REQUEST, "OPTIONS *x HTTP/1.1\r\nHost: x\r\n\r\n");
    }

    @Test
    void tellsMethodsByTheirExactName() throws GatewayException {
        assertThat(parse("DELETE / HTTP/1.1\r\nHost: x\r\n\r\n").method()).isEqualTo(Method.DELETE);

        RequestHead other = parse("post / HTTP/1.1\r\nHost: x\r\n\r\n");
        assertThat(other.method()).isEqualTo(Method.OTHER);
        assertThat(other.methodName()).isEqualTo("post");
    }

    @Test
    void messagesHoldNothingOfWhatTheClientSent() {
        for (String head : List.of(
                START + "secret\u0001: secret\r\n\r\n",
                "GET /secret//secret HTTP/1.1\r\nHost: x\r\n\r\n",
                START + "Content-Length: secret\r\n\r\n",
                "secret\n")) {
            assertThatThrownBy(() -> parse(head))
                    .isInstanceOf(GatewayException.class)
                    .message()
                    .doesNotContain("secret");
        }
    }

    private static RequestHead parse(String head) throws GatewayException {
        ByteBuf in = buffer(head);
        RequestHead parsed = new HeadParser(8192, 100).parse(in);
        assertThat(parsed).as("complete").isNotNull();
        assertThat(in.isReadable()).isFalse();
        return parsed;
    }

    private static void refused(ErrorCode code, String head) {
        refused(new HeadParser(8192, 100), code, head);
    }

    private static void refused(HeadParser parser, ErrorCode code, String head) {
        assertThatThrownBy(() -> parser.parse(buffer(head)))
                .isInstanceOfSatisfying(
                        GatewayException.class,
                        error -> assertThat(error.code()).isEqualTo(code));
    }

    private static ByteBuf buffer(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1);
    }
}
