package routes.door;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.statistics.Statistics;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import routes.error.GatewayException;
import routes.request.RequestHead;

/**
 * Holds our parser against Netty's: whatever ours accepts, Netty accepts and cuts at the same bytes. Exceptions, each
 * because RFC 9112 allows or asks for it:
 *
 * <ul>
 *   <li>equal lengths that are repeated or listed: Netty takes them only when told to, and writes the header anew;
 *   <li>a target in absolute form: our Host is the target's authority, Netty's the header;
 *   <li>{@code Sec-WebSocket-Key1} and {@code -Key2} on GET: Netty reads eight bytes of a draft's body, we read none.
 * </ul>
 */
final class HeadDifferentialTest {

    private static final String NEXT = "GET /next HTTP/1.1\r\nHost: n\r\n\r\n";
    private static final Pattern LENGTH =
            Pattern.compile("^content-length:(.*)$", Pattern.CASE_INSENSITIVE | Pattern.MULTILINE);

    @Property(tries = 2000, seed = "20261130", edgeCases = EdgeCasesMode.NONE, shrinking = ShrinkingMode.BOUNDED)
    void acceptsOnlyWhatNettyAcceptsAndFramesItTheSame(@ForAll("requests") String request) {
        boolean accepted = compare(request + NEXT);
        Statistics.label("accepted")
                .collect(accepted)
                .coverage(checker -> checker.check(true).percentage(percent -> percent > 40));
    }

    @Property(tries = 5000, seed = "20261130", edgeCases = EdgeCasesMode.NONE, shrinking = ShrinkingMode.BOUNDED)
    void acceptsOnlyWhatNettyAcceptsOfMutatedRequests(
            @ForAll("requests") String request, @ForAll("mutations") @Size(min = 1, max = 2) List<Mutation> mutations) {
        String mutated = request;
        for (Mutation mutation : mutations) {
            mutated = mutation.apply(mutated);
        }
        boolean accepted = compare(mutated + NEXT);
        Statistics.label("accepted")
                .collect(accepted)
                .coverage(checker -> checker.check(true).percentage(percent -> percent > 10));
    }

    @ParameterizedTest
    @MethodSource("knownAttacks")
    void acceptsOnlyWhatNettyAcceptsOfKnownAttacks(String head) {
        compare(head);
    }

    @Property(tries = 800, seed = "20261130", edgeCases = EdgeCasesMode.NONE)
    void anySplitGivesTheSameResult(
            @ForAll("requests") String request,
            @ForAll("mutations") @Size(max = 1) List<Mutation> mutations,
            @ForAll @Size(max = 6) List<Integer> cuts) {
        String mutated = mutations.isEmpty() ? request : mutations.get(0).apply(request);
        byte[] input = (mutated + NEXT).getBytes(StandardCharsets.ISO_8859_1);
        TreeSet<Integer> ends = new TreeSet<>();
        cuts.forEach(cut -> ends.add(Math.floorMod(cut, input.length)));
        ends.add(input.length);
        TreeSet<Integer> everyByte = new TreeSet<>();
        for (int i = 1; i <= input.length; i++) {
            everyByte.add(i);
        }

        String whole = outcome(input, new TreeSet<>(List.of(input.length)));

        assertThat(outcome(input, ends)).isEqualTo(whole);
        assertThat(outcome(input, everyByte)).isEqualTo(whole);
    }

    @Test
    void aWebSocketDraftsGetHasNoBodyForUs() throws GatewayException {
        String head = "GET / HTTP/1.1\r\nHost: x\r\nSec-WebSocket-Key1: 1\r\nSec-WebSocket-Key2: 2\r\n\r\n";

        assertThat(ours(bytes(head + NEXT)).consumed()).isEqualTo(head.length());
        assertThat(netty(bytes(head), head.length(), false).last()).isFalse();
    }

    @Test
    void bothRefuseALineThatEndsInABareLineFeed() {
        String head = "GET / HTTP/1.1\nHost: x\r\n\r\n";

        assertThat(netty(bytes(head), head.length(), false).accepted()).isFalse();
        assertThatThrownBy(() -> ours(bytes(head))).isInstanceOf(GatewayException.class);
    }

    static List<String> knownAttacks() {
        String start = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk-test-k1\r\n"
                + "Content-Type: application/json\r\n";
        String rest = "\r\n0\r\n\r\nGET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n";
        List<String> heads = new ArrayList<>();
        for (String framing : HeadParserTest.knownFramingAttacks().keySet()) {
            heads.add(start + framing + rest);
        }
        heads.add(start + "Content-Length: 6, 6\r\n" + rest);
        heads.add(start + "Expect: 100-continue\r\nContent-Length: 5120\r\n\r\n");
        heads.add(start + "Expect: fancy\r\nContent-Length: 5\r\n\r\nhello");
        return heads;
    }

    /** Returns whether our parser accepted the request's head. */
    private static boolean compare(String text) {
        byte[] input = bytes(text);
        Framed ours;
        try {
            ours = ours(input);
        } catch (GatewayException refused) {
            return false;
        }
        RequestHead head = ours.head();
        if (head == null) {
            return false;
        }
        String raw = new String(head.bytes(), StandardCharsets.ISO_8859_1);
        List<String> lengths =
                LENGTH.matcher(raw).results().map(found -> found.group(1)).toList();
        boolean severalLengths = lengths.size() > 1 || lengths.stream().anyMatch(value -> value.contains(","));
        int end = ours.complete() ? ours.consumed() : input.length;
        Netty netty = netty(input, end, severalLengths);

        assertThat(netty.accepted()).as("Netty accepts the head").isTrue();
        HttpRequest request = netty.request();
        assertThat(request.method().name()).isEqualTo(head.methodName());
        assertThat(request.uri()).isEqualTo(head.rawTarget());
        assertThat(request.protocolVersion().text()).isEqualTo(head.http10() ? "HTTP/1.0" : "HTTP/1.1");
        assertThat(HttpUtil.isTransferEncodingChunked(request)).isEqualTo(head.chunked());
        assertThat(HttpUtil.getContentLength(request, -1L)).isEqualTo(head.contentLength());
        assertThat(HttpUtil.isKeepAlive(request))
                .as("never kept alive where Netty would close")
                .matches(kept -> kept || !head.keepAlive());
        boolean absolute = !head.rawTarget().startsWith("/");
        assertThat(headers(head, absolute)).isEqualTo(headers(request, absolute));
        if (ours.bodyRefused()) {
            return true;
        }
        assertThat(netty.lastTooEarly())
                .as("Netty still waits for the last byte")
                .isFalse();
        assertThat(netty.last()).as("Netty has the whole request").isEqualTo(ours.complete());
        if (ours.complete()) {
            assertThat(netty.bodyAccepted()).as("Netty accepts the body").isTrue();
            assertThat(netty.body()).isEqualTo(ours.body());
        }
        return true;
    }

    private static List<Map.Entry<String, String>> headers(RequestHead head, boolean absolute) {
        List<Map.Entry<String, String>> all = new ArrayList<>();
        head.forEach((name, value) -> add(all, name, value, absolute));
        return all;
    }

    private static List<Map.Entry<String, String>> headers(HttpRequest request, boolean absolute) {
        List<Map.Entry<String, String>> all = new ArrayList<>();
        request.headers().forEach(header -> add(all, header.getKey(), header.getValue(), absolute));
        return all;
    }

    private static void add(List<Map.Entry<String, String>> all, String name, String value, boolean absolute) {
        if (!name.equalsIgnoreCase("content-length") && !(absolute && name.equalsIgnoreCase("host"))) {
            all.add(Map.entry(name, value));
        }
    }

    private static Framed ours(byte[] input) throws GatewayException {
        ByteBuf in = Unpooled.wrappedBuffer(input);
        RequestHead head = new HeadParser(8192, 100).parse(in);
        if (head == null) {
            return new Framed(null, new byte[0], 0, false, false);
        }
        ByteBuf body = Unpooled.buffer();
        boolean complete = false;
        boolean refused = false;
        if (head.chunked()) {
            try {
                complete = new ChunkedBody().feed(in, body::writeBytes);
            } catch (GatewayException e) {
                refused = true;
            }
        } else {
            int length = (int) Math.min(Math.max(0, head.contentLength()), in.readableBytes());
            complete = length == Math.max(0, head.contentLength());
            in.readBytes(body, length);
        }
        return new Framed(head, content(body), in.readerIndex(), complete, refused);
    }

    private static Netty netty(byte[] input, int end, boolean severalLengths) {
        EmbeddedChannel channel = new EmbeddedChannel(new HttpRequestDecoder(new HttpDecoderConfig()
                .setMaxInitialLineLength(8192)
                .setMaxHeaderSize(32768)
                .setAllowDuplicateContentLengths(severalLengths)));
        Collected collected = new Collected();
        try {
            channel.writeInbound(Unpooled.copiedBuffer(input, 0, end - 1));
            collected.take(channel);
            boolean lastTooEarly = collected.last;
            channel.writeInbound(Unpooled.copiedBuffer(input, end - 1, 1));
            collected.take(channel);
            return new Netty(
                    collected.request,
                    collected.headAccepted,
                    lastTooEarly,
                    collected.last,
                    collected.bodyAccepted,
                    content(collected.body));
        } finally {
            channel.finishAndReleaseAll();
        }
    }

    private static byte[] content(ByteBuf buffer) {
        byte[] content = new byte[buffer.readableBytes()];
        buffer.readBytes(content).release();
        return content;
    }

    private static String outcome(byte[] input, TreeSet<Integer> ends) {
        HeadParser parser = new HeadParser(8192, 100);
        ByteBuf in = Unpooled.buffer();
        int sent = 0;
        @Nullable RequestHead head = null;
        try {
            for (int end : ends) {
                in.writeBytes(input, sent, end - sent);
                sent = end;
                if (head == null) {
                    head = parser.parse(in);
                }
            }
        } catch (GatewayException e) {
            return e.code() + " " + e.getMessage();
        }
        if (head == null) {
            return "incomplete";
        }
        StringBuilder text = new StringBuilder(head.toString());
        text.append(head.rawTarget())
                .append(head.contentLength())
                .append(head.chunked())
                .append(head.keepAlive());
        head.forEach((name, value) -> text.append('|').append(name).append('=').append(value));
        return text.append("|left ").append(in.readableBytes()).toString();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    @Provide
    Arbitrary<String> requests() {
        Arbitrary<String> method = Arbitraries.frequency(
                Tuple.of(20, "POST"),
                Tuple.of(10, "GET"),
                Tuple.of(1, "OPTIONS"),
                Tuple.of(1, "M-SEARCH"),
                Tuple.of(1, "post"),
                Tuple.of(1, "CONNECT"));
        Arbitrary<String> target = Arbitraries.frequencyOf(
                Tuple.of(24, Arbitraries.just("/v1/chat/completions")),
                Tuple.of(
                        3,
                        Arbitraries.of(
                                "/v1/models/org%2fname?x=%zz",
                                "/",
                                "/?",
                                "*",
                                "http://other:80/v1?q",
                                "HTTPS://o",
                                "http://u@o/",
                                "/a/../b",
                                "//a",
                                "/a#b",
                                "/a\u00e9",
                                "/%41|^<>")),
                Tuple.of(
                        1,
                        Arbitraries.strings()
                                .withCharRange('!', '~')
                                .ofMaxLength(12)
                                .map(text -> "/" + text)));
        Arbitrary<String> version = Arbitraries.frequency(
                Tuple.of(40, "HTTP/1.1"),
                Tuple.of(8, "HTTP/1.0"),
                Tuple.of(1, "HTTP/1.2"),
                Tuple.of(1, "HTTP/2.0"),
                Tuple.of(1, "http/1.1"));
        Arbitrary<String> host = Arbitraries.frequency(
                Tuple.of(40, "Host: x\r\n"),
                Tuple.of(1, ""),
                Tuple.of(4, "hOST:a.example:8080\t\r\n"),
                Tuple.of(1, "Host: x\r\nHost: x\r\n"),
                Tuple.of(1, "Host: a b\r\n"));
        return Combinators.combine(
                        Arbitraries.frequency(Tuple.of(12, ""), Tuple.of(1, "\r\n"), Tuple.of(1, "\r\n\r\n")),
                        Combinators.combine(method, target, version).as((m, t, v) -> m + ' ' + t + ' ' + v + "\r\n"),
                        host,
                        field().list().ofMaxSize(5).map(fields -> String.join("", fields)),
                        framing(),
                        field().list().ofMaxSize(2).map(fields -> String.join("", fields)))
                .as((empty, line, hostLine, before, framing, after) ->
                        empty + line + hostLine + before + framing[0] + after + "\r\n" + framing[1]);
    }

    private static Arbitrary<String> field() {
        Arbitrary<String> known = Arbitraries.of(
                "Authorization: Bearer sk-1\r\n",
                "Connection: keep-alive\r\n",
                "Connection: close , TE\r\n",
                "Connection: Upgrade, HTTP2-Settings\r\n",
                "Expect: 100-continue\r\n",
                "Accept:\r\n",
                "User-Agent: a\tb  \r\n",
                "X-Api-Key:\t k \r\n");
        Arbitrary<String> any = Combinators.combine(
                        Arbitraries.strings()
                                .withChars("aZ09!#$%&'*+-.^_`|~")
                                .ofMinLength(1)
                                .ofMaxLength(20),
                        Arbitraries.strings()
                                .withCharRange('\u0020', '\u007e')
                                .withCharRange('\u0080', '\u00ff')
                                .withChars('\t', ',', ':')
                                .ofMaxLength(24))
                .as((name, value) -> name + ':' + value + "\r\n");
        Arbitrary<String> odd = Arbitraries.of(
                "Folded: a\r\n b\r\n",
                " Leading: a\r\n",
                "Blank : a\r\n",
                "No colon\r\n",
                ": empty\r\n",
                "A: b\rc\r\n",
                "A: b\nC: d\r\n",
                "A: \0\r\n",
                "A:\u000b b\r\n",
                "A\u00e9: b\r\n",
                "A: b\u007f\r\n");
        return Arbitraries.frequencyOf(Tuple.of(50, known), Tuple.of(50, any), Tuple.of(1, odd));
    }

    /** A framing header or two, and the body behind it. */
    private static Arbitrary<String[]> framing() {
        Arbitrary<String> length = Arbitraries.of(
                "5",
                "5",
                "5",
                "5",
                "5",
                "5",
                "5",
                "5",
                "5",
                "5",
                "005",
                "5 ",
                "\t5",
                "5, 5",
                "5,5",
                "5,",
                ",5",
                "5, 6",
                "+5",
                "-5",
                "0x5",
                "5 5",
                "",
                "5\u000b",
                "\u000b5",
                "5e0",
                "5 55",
                "5;5",
                "9223372036854775807",
                "99999999999999999999",
                "\u0665",
                "0");
        Arbitrary<String> coding = Arbitraries.of(
                "chunked",
                "chunked",
                "chunked",
                "chunked",
                "chunked",
                "Chunked",
                "chunked\t",
                "\tchunked",
                "\u000bchunked",
                "xchunked",
                "chunked, identity",
                "gzip, chunked",
                "chunked, chunked",
                "chunked;q=1",
                "\"chunked\"",
                "chunked,",
                "",
                "identity");
        Arbitrary<String> chunks = Arbitraries.of(
                "5\r\nhello\r\n0\r\n\r\n",
                "0\r\n\r\n",
                "1\r\nh\r\n4;n=v;x=\"q\"\r\nello\r\n0;last\r\n\r\n",
                "A\r\n0123456789\r\n00000005\r\nhello\r\n000\r\nT: a\r\nContent-Length: 7\r\n\r\n",
                "5\r\nhello\r\n0\r\n",
                "5\r\nhel",
                "5 \r\nhello\r\n0\r\n\r\n",
                " 5\r\nhello\r\n0\r\n\r\n",
                "+5\r\nhello\r\n0\r\n\r\n",
                "0x5\r\nhello\r\n0\r\n\r\n",
                "5\nhello\r\n0\r\n\r\n",
                "5\r\nhello0\r\n\r\n",
                "5\r\nhello\n0\r\n\r\n",
                "5;\nx\r\nhello\r\n0\r\n\r\n",
                "5;\rx\r\nhello\r\n0\r\n\r\n",
                "100000005\r\nhello\r\n0\r\n\r\n",
                "80000000\r\nhello\r\n0\r\n\r\n",
                "ffffffff\r\nhello\r\n0\r\n\r\n",
                "\r\n0\r\n\r\n",
                "5\r\nhello\r\n0\r\nT : a\r\n\r\n",
                "5\r\nhello\r\n0\r\nT: a\r\n b\r\n\r\n",
                "5\r\nhello\r\n0\r\nT: a\n\r\n",
                "5\r\nhello\r\n0\r\n\n");
        Arbitrary<String[]> lengths = length.map(value -> new String[] {"Content-Length:" + value + "\r\n", "hello"});
        Arbitrary<String[]> twoLengths = Combinators.combine(length, length)
                .as((a, b) -> new String[] {"Content-Length: " + a + "\r\ncontent-length: " + b + "\r\n", "hello"});
        Arbitrary<String[]> chunked = Combinators.combine(coding, chunks)
                .as((value, body) -> new String[] {"Transfer-Encoding: " + value + "\r\n", body});
        Arbitrary<String[]> plainChunked = chunks.map(body -> new String[] {"transfer-encoding:chunked\r\n", body});
        Arbitrary<String[]> mixed = Arbitraries.of(
                        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
                        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
                        "Transfer-Encoding : chunked\r\n",
                        "Transfer-Encoding\r\n : chunked\r\n",
                        "Content-Length:\r\n 5\r\n",
                        "X: a\r\n Content-Length: 5\r\n",
                        "Transfer_Encoding: chunked\r\n",
                        "Content-Length\0: 5\r\n")
                .map(headers -> new String[] {headers, "5\r\nhello\r\n0\r\n\r\n"});
        Arbitrary<String[]> none = Arbitraries.just(new String[] {"", ""});
        return Arbitraries.frequencyOf(
                Tuple.of(6, none),
                Tuple.of(5, lengths),
                Tuple.of(1, twoLengths),
                Tuple.of(4, chunked),
                Tuple.of(8, plainChunked),
                Tuple.of(1, mixed));
    }

    @Provide
    Arbitrary<List<Mutation>> mutations() {
        Arbitrary<Mutation> one = Combinators.combine(
                        Arbitraries.of(Mutation.Kind.class),
                        Arbitraries.integers().between(0, 1_000_000),
                        Arbitraries.of(
                                '\0', '\1', '\t', '\n', '\u000b', '\f', '\r', ' ', ',', ':', ';', '0', 'a', '\u007f',
                                '\u0080', '\u0085', '\u00a0', '\u00ff'))
                .as(Mutation::new);
        return one.list();
    }

    record Framed(@Nullable RequestHead head, byte[] body, int consumed, boolean complete, boolean bodyRefused) {}

    record Netty(
            HttpRequest request,
            boolean accepted,
            boolean lastTooEarly,
            boolean last,
            boolean bodyAccepted,
            byte[] body) {}

    /** What Netty's decoder says of the first request on a connection. */
    private static final class Collected {

        final ByteBuf body = Unpooled.buffer();

        @Nullable
        HttpRequest request;

        boolean headAccepted;
        boolean bodyAccepted = true;
        boolean last;

        void take(EmbeddedChannel channel) {
            for (Object message = channel.readInbound(); message != null; message = channel.readInbound()) {
                if (request == null && message instanceof HttpRequest first) {
                    request = first;
                    headAccepted = first.decoderResult().isSuccess();
                }
                if (!last && message instanceof HttpContent content) {
                    body.writeBytes(content.content());
                    bodyAccepted &= content.decoderResult().isSuccess();
                    last = message instanceof LastHttpContent;
                }
                ReferenceCountUtil.release(message);
            }
        }
    }

    /** One change to a request's text. */
    record Mutation(Kind kind, int where, char with) {

        enum Kind {
            FLIP,
            REPLACE,
            INSERT,
            DELETE,
            LINE_END,
            FOLD,
            REPEAT_LINE,
            CUT
        }

        String apply(String text) {
            if (text.isEmpty()) {
                return text;
            }
            int at = where % text.length();
            String before = text.substring(0, at);
            String after = text.substring(at + 1);
            int lineEnd = text.indexOf("\r\n", at);
            return switch (kind) {
                case FLIP -> before + (char) (text.charAt(at) ^ 1 << where % 8) + after;
                case REPLACE -> before + with + after;
                case INSERT -> before + with + text.substring(at);
                case DELETE -> before + after;
                case CUT -> before;
                case LINE_END ->
                    lineEnd < 0
                            ? text
                            : text.substring(0, lineEnd)
                                    + List.of("\n", "\r", "\n\r", "\r\r\n", "\r\n\r\n", "")
                                            .get(where % 6)
                                    + text.substring(lineEnd + 2);
                case FOLD -> lineEnd < 0 ? text : text.substring(0, lineEnd) + "\r\n " + text.substring(lineEnd + 2);
                case REPEAT_LINE -> {
                    int start = text.lastIndexOf("\r\n", at);
                    yield lineEnd < 0 || start < 0 || start + 2 > lineEnd
                            ? text
                            : text.substring(0, lineEnd + 2)
                                    + text.substring(start + 2, lineEnd + 2)
                                    + text.substring(lineEnd + 2);
                }
            };
        }
    }
}
