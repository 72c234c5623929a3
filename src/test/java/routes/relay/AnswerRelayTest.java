package routes.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static routes.relay.RelayRun.chunk;
import static routes.relay.RelayRun.chunked;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class AnswerRelayTest {

    private static final String FIRST = "data:"
            + " {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"caf\u00c3\u00a9\"},\"finish_reason\":null}]}\n\n";
    private static final String FINISH =
            "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":null}\n\n";
    private static final String USAGE =
            "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2,\"total_tokens\":7}}\n\n";
    private static final String DONE = "data: [DONE]\n\n";
    private static final String LAST = "0\r\n\r\n";

    @Test
    void aReadOfAChunkedAnswerLeavesAsTheVeryBufferThatCame() {
        for (boolean cut : new boolean[] {false, true}) {
            try (RelayRun run = new RelayRun(chunked(Content.SSE, cut))) {
                ByteBuf in = run.allocator.buffer().writeBytes(RelayRun.bytes(chunk(FIRST) + chunk(FINISH)));
                assertThat(run.relay.relay(in, out -> {
                            assertThat(out).isSameAs(in);
                            run.handedOn.add(out);
                        }))
                        .isEqualTo(RelayState.MORE);
                assertThat(run.handedOn).hasSize(1);
            }
        }
    }

    @Test
    void aChunkedAnswerIsRelayedUntouchedWithExtensionsAndTrailers() {
        String wire = "5;a=\"b\"\r\nhello\r\n00\r\nX-A: 1\r\n\r\n";
        try (RelayRun run = new RelayRun(chunked(Content.OPAQUE, false))) {
            assertThat(run.read(wire)).isEqualTo(RelayState.END);
            assertThat(run.clientText()).isEqualTo(wire);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"first", "middle", "last", "alone"})
    void theUsageOnlyEventIsCutWhereverItStandsInAChunk(String where) {
        String wire =
                switch (where) {
                    case "first" -> chunk(USAGE + FIRST + DONE);
                    case "middle" -> chunk(FIRST + USAGE + DONE);
                    case "last" -> chunk(FIRST + DONE + USAGE);
                    default -> chunk(FIRST) + chunk(USAGE) + chunk(DONE);
                };
        try (RelayRun run = new RelayRun(chunked(Content.SSE, true))) {
            assertThat(run.read(wire + LAST)).isEqualTo(RelayState.END);
            assertThat(ClientBody.of(run.client()).data())
                    .asString()
                    .isEqualTo(new String(RelayRun.bytes(FIRST + DONE), StandardCharsets.UTF_8));
            assertThat(ClientBody.of(run.client()).complete()).isTrue();
            assertThat(run.facts.usageOnlySeen()).isTrue();
            assertThat(run.facts.usageFinal())
                    .as("nothing but the end followed")
                    .isEqualTo(!where.equals("first"));
            assertThat(run.facts.totalTokens()).isEqualTo(7);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aStreamThatIsEndedEarlyEndsBetweenTwoEventsWhereverItsReadsAreSplit(boolean cut) {
        String own = "data: {\"error\":{}}\n\ndata: [DONE]\n\n";
        String events = FIRST + FINISH + FIRST;
        for (String wire : new String[] {chunk(events), chunk(FIRST) + chunk(FINISH) + chunk(FIRST)}) {
            byte[] bytes = RelayRun.bytes(wire);
            int ended = 0;
            for (int split = 1; split <= bytes.length; split++) {
                try (RelayRun run = new RelayRun(chunked(Content.SSE, cut))) {
                    run.read(bytes, 0, split);
                    if (!run.end(own)) {
                        assertThat(run.relay.state()).isEqualTo(RelayState.MORE);
                        continue;
                    }
                    ended++;
                    run.read(bytes, split, bytes.length);
                    ClientBody client = ClientBody.of(run.client());
                    String seen = new String(client.data(), StandardCharsets.ISO_8859_1);
                    assertThat(client.complete()).isTrue();
                    assertThat(seen).endsWith(own);
                    assertThat(FIRST + FINISH + FIRST).startsWith(seen.substring(0, seen.length() - own.length()));
                    assertThat(seen.substring(0, seen.length() - own.length())).matches("(?s)|.*\n\n");
                }
            }
            assertThat(ended).as("places where it can end").isPositive();
        }
    }

    @ParameterizedTest
    @MethodSource("lineEnds")
    void everySplitInTwoReadsGivesTheSame(String lineEnd) {
        String events = (FIRST + FINISH + USAGE + DONE).replace("\n", lineEnd);
        String kept = (FIRST + FINISH + DONE).replace("\n", lineEnd);
        for (String wire : new String[] {chunk(events) + LAST, singles(events) + LAST}) {
            byte[] bytes = RelayRun.bytes(wire);
            for (int split = 0; split <= bytes.length; split++) {
                try (RelayRun run = new RelayRun(chunked(Content.SSE, true))) {
                    run.read(bytes, 0, split);
                    run.read(bytes, split, bytes.length);
                    assertThat(run.relay.state()).isEqualTo(RelayState.END);
                    assertThat(ClientBody.of(run.client()).data()).isEqualTo(RelayRun.bytes(kept));
                    assertThat(run.facts.events()).isEqualTo(2);
                    assertThat(run.facts.finishReason()).isEqualTo("stop");
                    assertThat(run.facts.completionTokens()).isEqualTo(2);
                    assertThat(run.facts.sawDone()).isTrue();
                }
            }
        }
    }

    static Stream<String> lineEnds() {
        return Stream.of("\n", "\r\n", "\r");
    }

    @Test
    void anEventIsHeldOnlyUntilItsChoicesShowThatItStays() {
        try (RelayRun run = new RelayRun(chunked(Content.SSE, true))) {
            run.read("ff\r\ndata: {\"usage\":null,\"choices\":[");
            assertThat(run.clientText()).isEmpty();
            run.read("{\"in");
            assertThat(ClientBody.of(run.client()).data())
                    .asString()
                    .isEqualTo("data: {\"usage\":null,\"choices\":[{\"in");
            run.read("dex");
            assertThat(run.clientText()).endsWith("3\r\ndex\r\n");
        }
    }

    @Test
    void anErrorIsNotHeld() {
        try (RelayRun run = new RelayRun(chunked(Content.SSE, true))) {
            run.read("ff\r\ndata: {\"error\":{");
            assertThat(ClientBody.of(run.client()).data()).asString().isEqualTo("data: {\"error\":{");
        }
    }

    @Test
    void aCommentInFrontOfAnEventIsNeverHeld() {
        try (RelayRun run = new RelayRun(chunked(Content.SSE, true))) {
            run.read("ff\r\n: processing\n");
            assertThat(ClientBody.of(run.client()).data()).asString().isEqualTo(": processing\n");
        }
    }

    @Test
    void anUndecidedEventBeyondTheBoundIsLetThrough() {
        String large = USAGE.replace("{\"choices\"", "{\"x\":\"" + "y".repeat(UsageCut.MAX_HELD) + "\",\"choices\"");
        for (int piece : new int[] {100, 5000, 100_000}) {
            try (RelayRun run = new RelayRun(chunked(Content.SSE, true), 32 * 1024)) {
                byte[] wire = RelayRun.bytes(chunk(large) + chunk(USAGE) + LAST);
                for (int from = 0; from < wire.length; from += piece) {
                    run.read(wire, from, Math.min(wire.length, from + piece));
                }
                assertThat(run.relay.state()).isEqualTo(RelayState.END);
                assertThat(ClientBody.of(run.client()).data()).isEqualTo(RelayRun.bytes(large));
            }
        }
    }

    @Test
    void whatAnEventWithoutAnEndHeldGoesOnBeforeTheAnswerBreaksOff() {
        for (boolean closed : new boolean[] {true, false}) {
            try (RelayRun run = new RelayRun(chunked(Content.SSE, true))) {
                run.read("8\r\ndata: {\"\r\n4\r\ncho");
                assertThat(run.clientText()).isEmpty();
                assertThat(closed ? run.upstreamClosed() : run.read("i??")).isEqualTo(RelayState.MALFORMED);
                assertThat(run.clientText()).isEqualTo(closed ? "b\r\ndata: {\"cho\r\n" : "c\r\ndata: {\"choi\r\n");
                assertThat(run.facts.usageKnown()).isFalse();
            }
        }
    }

    @Test
    void blocksWithoutDataAreRelayedAndCountAsNothing() {
        String blocks = "\u00ef\u00bb\u00bfretry: 3000\n\n: processing\n\nid: 7\n\nevent: ping\n\n";
        try (RelayRun run = new RelayRun(chunked(Content.SSE, true))) {
            run.read(chunk(blocks));
            assertThat(run.facts.firstToken()).isFalse();
            run.read(chunk(FIRST.replace("data: ", "data:")));
            assertThat(run.facts.firstToken()).isTrue();
            assertThat(run.facts.events()).isEqualTo(1);
            assertThat(run.clientText()).isEqualTo(chunk(blocks) + chunk(FIRST.replace("data: ", "data:")));
        }
    }

    @Test
    void runningTotalsAreNotSummedAndNullIsNotZero() {
        try (RelayRun run = new RelayRun(chunked(Content.SSE, false))) {
            for (int k = 1; k <= 5; k++) {
                run.read(chunk("data: {\"choices\":[{\"index\":" + k % 2 + "}],\"usage\":{\"prompt_tokens\":5,"
                        + "\"completion_tokens\":" + k + ",\"total_tokens\":" + (5 + k) + "}}\n\n"));
            }
            run.read(chunk(FINISH) + chunk(FINISH));
            assertThat(run.facts.completionTokens()).isEqualTo(5);
            assertThat(run.facts.runningUsage()).isTrue();
            assertThat(run.facts.usageFinal()).isFalse();
            run.read(chunk(USAGE.replace(":2,", ":6,").replace(":7}", ":11}")) + chunk(DONE) + LAST);
            assertThat(run.facts.promptTokens()).isEqualTo(5);
            assertThat(run.facts.completionTokens()).isEqualTo(6);
            assertThat(run.facts.totalTokens()).isEqualTo(11);
            assertThat(run.facts.usageFinal()).isTrue();
        }
        try (RelayRun run = new RelayRun(chunked(Content.SSE, false))) {
            run.read(chunk(FINISH) + chunk(DONE) + LAST);
            assertThat(run.facts.usageKnown()).isFalse();
            assertThat(run.facts.promptTokens()).isEqualTo(-1);
        }
    }

    @Test
    void anErrorInMidStreamIsSeenAlthoughDoneFollows() {
        try (RelayRun run = new RelayRun(chunked(Content.SSE, true))) {
            run.read(chunk("data: {\"error\":{\"message\":\"x\"}}\n\n") + chunk(DONE) + LAST);
            assertThat(run.facts.errorSeen()).isTrue();
            assertThat(run.facts.sawDone()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"zz\r\n", "-1\r\n", "5\n", "1000000000000000\r\n"})
    void aBrokenChunkSizeEndsTheAnswerWithoutAnEnd(String size) {
        for (boolean cut : new boolean[] {false, true}) {
            try (RelayRun run = new RelayRun(chunked(Content.SSE, cut))) {
                assertThat(run.read(chunk(FIRST) + size + "x\r\n" + LAST)).isEqualTo(RelayState.MALFORMED);
                assertThat(run.clientText()).startsWith(chunk(FIRST)).doesNotContain(LAST);
                assertThat(run.read(LAST)).isEqualTo(RelayState.MALFORMED);
                assertThat(run.upstreamClosed()).isEqualTo(RelayState.MALFORMED);
            }
        }
    }

    @Test
    void bytesBehindTheEndAreNeverHandedOn() {
        for (Content content : Content.values()) {
            try (RelayRun run = new RelayRun(chunked(content, content == Content.SSE), 10)) {
                assertThat(run.read(chunk(FIRST) + LAST + "HTTP/1.1 200 OK")).isEqualTo(RelayState.END);
                assertThat(run.relay.extraBytes()).isTrue();
                assertThat(ClientBody.of(run.client()).data()).isEqualTo(RelayRun.bytes(FIRST));
            }
            try (RelayRun run = new RelayRun(new RelayPlan(Framing.LENGTH, 5, Framing.LENGTH, content, false))) {
                assertThat(run.read("hel")).isEqualTo(RelayState.MORE);
                assertThat(run.read("lo")).isEqualTo(RelayState.END);
                assertThat(run.relay.extraBytes()).isFalse();
                assertThat(run.read("!")).isEqualTo(RelayState.END);
                assertThat(run.relay.extraBytes()).isTrue();
                assertThat(run.clientText()).isEqualTo("hello");
            }
        }
    }

    @Test
    void anAnswerOfNoBytesEndsWithAnEmptyRead() {
        try (RelayRun run = new RelayRun(new RelayPlan(Framing.LENGTH, 0, Framing.LENGTH, Content.JSON, false))) {
            assertThat(run.read("")).isEqualTo(RelayState.END);
            assertThat(run.handedOn).isEmpty();
        }
        try (RelayRun run = new RelayRun(new RelayPlan(Framing.LENGTH, 0, Framing.CHUNKED, Content.SSE, true))) {
            assertThat(run.read("")).isEqualTo(RelayState.END);
            assertThat(run.clientText()).isEqualTo(LAST);
        }
    }

    @Test
    void anAnswerShorterThanItsLengthIsCutOff() {
        try (RelayRun run = new RelayRun(new RelayPlan(Framing.LENGTH, 5000, Framing.LENGTH, Content.SSE, false))) {
            assertThat(run.read("x".repeat(120))).isEqualTo(RelayState.MORE);
            assertThat(run.upstreamClosed()).isEqualTo(RelayState.MALFORMED);
            assertThat(run.client()).hasSize(120);
        }
    }

    @Test
    void theConnectionsEndIsTheEndOfAnAnswerWithoutFraming() {
        try (RelayRun run = new RelayRun(new RelayPlan(Framing.CLOSE, -1, Framing.CHUNKED, Content.SSE, true))) {
            run.read(FIRST);
            run.read(USAGE.strip());
            assertThat(run.clientText()).isEqualTo(chunk(FIRST));
            assertThat(run.upstreamClosed()).isEqualTo(RelayState.END);
            assertThat(run.clientText()).isEqualTo(chunk(FIRST) + LAST);
            assertThat(run.facts.totalTokens()).isEqualTo(7);
        }
    }

    @Test
    void aClientWithoutChunksGetsDataOnly() {
        try (RelayRun run = new RelayRun(new RelayPlan(Framing.CHUNKED, -1, Framing.CLOSE, Content.SSE, false))) {
            run.read("5;x=y\r\nda");
            assertThat(run.read("ta:\r\n2\r\n\n\n\r\n0\r\nX-A: 1\r\n\r\n")).isEqualTo(RelayState.END);
            assertThat(run.clientText()).isEqualTo("data:\n\n");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {100, 8191, 8192, 8193, 100 * 1024, 2 * 1024 * 1024})
    void usageOfAPlainAnswerIsFoundWhateverItsSizeAndSplits(int size) {
        String filler = "\"choices\":[{\"message\":{\"content\":\"" + "usage ".repeat(size / 6)
                + "\"},\"finish_reason\":\"stop\"}]";
        String usage = "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2,\"total_tokens\":7}";
        for (String json : new String[] {"{" + filler + "," + usage + "}", "{" + usage + "," + filler + "}\n"}) {
            byte[] bytes = RelayRun.bytes(json);
            for (int piece : new int[] {size > 200_000 ? 333 : 1, 1024, bytes.length}) {
                RelayPlan plan = new RelayPlan(Framing.LENGTH, bytes.length, Framing.LENGTH, Content.JSON, false);
                try (RelayRun run = new RelayRun(plan)) {
                    for (int from = 0; from < bytes.length; from += piece) {
                        assertThat(run.relay.state()).isEqualTo(RelayState.MORE);
                        run.read(bytes, from, Math.min(bytes.length, from + piece));
                    }
                    assertThat(run.relay.state()).isEqualTo(RelayState.END);
                    assertThat(run.client()).isEqualTo(bytes);
                    assertThat(run.facts.promptTokens()).isEqualTo(5);
                    assertThat(run.facts.completionTokens()).isEqualTo(2);
                    assertThat(run.facts.totalTokens()).isEqualTo(7);
                    assertThat(run.facts.finishReason()).isEqualTo("stop");
                    assertThat(run.facts.usageFinal()).isTrue();
                    assertThat(run.facts.events()).isZero();
                }
            }
        }
    }

    private static String singles(String data) {
        StringBuilder wire = new StringBuilder();
        IntStream.range(0, data.length()).forEach(i -> wire.append(chunk(data.substring(i, i + 1))));
        return wire.toString();
    }
}
