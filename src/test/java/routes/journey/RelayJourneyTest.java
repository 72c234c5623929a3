package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.Requests;
import routes.fixture.Scripts;

/** Answers on their way: the same bytes however they are cut, and each of them at once. */
class RelayJourneyTest {

    private static final String ASKING =
            "{\"model\":\"m1\",\"messages\":[],\"stream\":true,\"stream_options\":{\"include_usage\":true}}";
    private static FakeReplica replica;
    private static TestGateway gateway;

    @BeforeAll
    static void start() throws IOException {
        replica = FakeReplica.start().sendBuffer(65_536);
        gateway = TestGateway.serving(replica.url());
    }

    @AfterAll
    static void stop() throws IOException {
        gateway.close();
        replica.close();
    }

    @AfterEach
    void nothingIsLeft() {
        gateway.awaitIdle();
        assertThat(replica.errors()).isEmpty();
    }

    private static Requests stream(String id) {
        return Requests.chat("m1", true).key(TestGateway.KEY).header("X-Request-Id", id);
    }

    /** A stream whose client asks for usage, so that nothing is cut out of it. */
    private static Requests asking(String id) {
        return Requests.post("/v1/chat/completions", ASKING)
                .key(TestGateway.KEY)
                .header("X-Request-Id", id);
    }

    private static Requests plain(String id) {
        return Requests.chat("m1", false).key(TestGateway.KEY).header("X-Request-Id", id);
    }

    @ParameterizedTest
    @CsvSource({"lf, '\n'", "crlf, '\r\n'", "cr, '\r'"})
    void anySplitGivesTheSameBytesAndTheSameUsage(String name, String lineEnd) throws Exception {
        List<String> events = new ArrayList<>();
        for (String event : Payloads.STREAM) {
            events.add(
                    event.replace("\"A\"", "\"caf\u00e9 \u5317 \ud83c\udf0d\"").replace("\n", lineEnd));
        }
        byte[] wire = Payloads.stream(events).getBytes(StandardCharsets.UTF_8);
        String all = String.join("", events);
        String withoutUsage = events.get(0) + events.get(1) + events.get(3);
        int step = 11;
        try (RawClient client = RawClient.connect(gateway.port())) {
            for (int cut = 1; cut < wire.length; cut += step) {
                replica.answering(Scripts.pieces(wire, cut));
                RawResponse hidden = client.exchange(stream(name + "-hidden-" + cut));
                assertThat(hidden.text()).as("cut at %d", cut).isEqualTo(withoutUsage);
                assertThat(hidden.end()).contains(RawResponse.End.CLEAN);
                RawResponse shown = client.exchange(asking(name + "-shown-" + cut));
                assertThat(shown.text()).as("cut at %d", cut).isEqualTo(all);
                assertThat(shown.end()).contains(RawResponse.End.CLEAN);
            }
        }
        Map<String, JsonNode> lines = UsageLines.all(gateway);
        for (int cut = 1; cut < wire.length; cut += step) {
            for (String kind : List.of("-hidden-", "-shown-")) {
                JsonNode line = lines.get(name + kind + cut);
                assertThat(line).as("cut at %d", cut).isNotNull();
                UsageLines.assertTokens(line, 5, 2, 7);
                UsageLines.assertEnd(line, "success", 200, null);
                assertThat(line.path("ttft_ms").isNumber()).isTrue();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"lf, '\n'", "crlf, '\r\n'", "cr, '\r'"})
    void aStreamThatComesByteByByteIsTheSameStream(String name, String lineEnd) throws Exception {
        List<String> events = new ArrayList<>();
        Payloads.STREAM.forEach(event -> events.add(event.replace("\n", lineEnd)));
        byte[] wire = Payloads.stream(events).getBytes(StandardCharsets.UTF_8);
        replica.answering(call -> {
            for (byte each : wire) {
                call.write(new byte[] {each});
            }
        });
        try (RawClient client = RawClient.connect(gateway.port())) {
            RawResponse hidden = client.exchange(stream("bytes-hidden-" + name));
            assertThat(hidden.text()).isEqualTo(events.get(0) + events.get(1) + events.get(3));
            RawResponse shown = client.exchange(asking("bytes-shown-" + name));
            assertThat(shown.text()).isEqualTo(String.join("", events));
        }
        UsageLines.assertTokens(UsageLines.of(gateway, "bytes-hidden-" + name), 5, 2, 7);
        UsageLines.assertTokens(UsageLines.of(gateway, "bytes-shown-" + name), 5, 2, 7);
    }

    @Test
    void theUsageIsFoundWhenItSharesItsReadWithTheEnd() throws Exception {
        replica.answering(call -> call.sseHead()
                .chunk(Payloads.EVENT_A)
                .chunk(Payloads.EVENT_STOP)
                .write(Payloads.chunk(Payloads.EVENT_USAGE)
                        + Payloads.chunk(Payloads.EVENT_DONE)
                        + Payloads.LAST_CHUNK));
        try (RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = client.exchange(stream("one-read"));
            assertThat(answer.text()).isEqualTo(String.join("", Payloads.STREAM_WITHOUT_USAGE));
            assertThat(answer.end()).contains(RawResponse.End.CLEAN);
        }
        UsageLines.assertTokens(UsageLines.of(gateway, "one-read"), 5, 2, 7);
    }

    @Test
    void blocksWithoutDataPassAndAreNoTokens() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        String blocks = "retry: 3000\n\n: processing\n\nid: 7\n\nevent: ping\n\n";
        String start = (Payloads.EVENT_A + Payloads.EVENT_STOP).replace("data: ", "data:");
        String usage = Payloads.EVENT_USAGE.replace("data: ", "data:   ");
        String done = Payloads.EVENT_DONE.replace("data: ", "data:");
        replica.answering(call -> {
            call.sseHead();
            for (String block : blocks.split("(?<=\n\n)")) {
                call.chunk(block);
            }
            call.await(go);
            call.chunk(start).chunk(usage).chunk(done).lastChunk();
        });
        long heldMillis = 60;
        try (RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = client.send(stream("blocks")).begin();
            assertThat(answer.until(blocks)).isTrue();
            LockSupport.parkNanos(Duration.ofMillis(heldMillis).toNanos());
            go.countDown();
            answer.finish();
            assertThat(answer.text()).isEqualTo(blocks + start + done);
        }
        JsonNode line = UsageLines.of(gateway, "blocks");
        UsageLines.assertTokens(line, 5, 2, 7);
        UsageLines.assertEnd(line, "success", 200, null);
        assertThat(line.path("ttft_ms").asDouble())
                .isGreaterThan(line.path("ttfb_ms").asDouble() + heldMillis / 2.0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"text/event-stream", "text/event-stream; charset=utf-8", "TEXT/EVENT-STREAM"})
    void headAndEventsReachTheClientBeforeTheNextIsWritten(String type) throws Exception {
        for (boolean asking : List.of(false, true)) {
            List<CountDownLatch> read =
                    List.of(new CountDownLatch(1), new CountDownLatch(1), new CountDownLatch(1), new CountDownLatch(1));
            replica.answering(call -> {
                call.write("HTTP/1.1 200 OK\r\nContent-Type: " + type
                        + "\r\nCache-Control: no-cache\r\nX-Accel-Buffering: no\r\nTransfer-Encoding: chunked\r\n\r\n");
                call.await(read.get(0));
                call.chunk(Payloads.tick(0));
                call.await(read.get(1));
                call.chunk(Payloads.tick(1));
                call.await(read.get(2));
                call.chunk(Payloads.EVENT_STOP);
                call.await(read.get(3));
                call.chunk(Payloads.EVENT_USAGE).chunk(Payloads.EVENT_DONE).lastChunk();
            });
            String id = "at-once-" + type.hashCode() + asking;
            try (RawClient client = RawClient.connect(gateway.port())) {
                Requests request = (asking ? asking(id) : stream(id)).header("Accept", "*/*");
                RawResponse answer = client.send(request).begin();
                assertThat(answer.status()).isEqualTo(200);
                read.get(0).countDown();
                assertThat(answer.until("t0\"}}]}\n\n")).isTrue();
                read.get(1).countDown();
                assertThat(answer.until("t1\"}}]}\n\n")).isTrue();
                read.get(2).countDown();
                assertThat(answer.until(Payloads.EVENT_STOP)).isTrue();
                read.get(3).countDown();
                assertThat(answer.finish().end()).contains(RawResponse.End.CLEAN);
                assertThat(answer.allHeaders("transfer-encoding")).containsExactly("chunked");
                assertThat(answer.header("content-length")).isEmpty();
                assertThat(answer.allHeaders("content-type")).containsExactly(type);
                assertThat(answer.allHeaders("cache-control")).containsExactly("no-cache");
                assertThat(answer.allHeaders("x-accel-buffering")).containsExactly("no");
                assertThat(answer.text().contains("\"usage\"")).isEqualTo(asking);
            }
            UsageLines.assertTokens(UsageLines.of(gateway, id), 5, 2, 7);
        }
    }

    @Test
    void aSlowReaderSlowsItsReplicaAndNobodyElse() throws Exception {
        int streams = 3;
        int chunks = 1024;
        byte[] data = new byte[32_768];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) ('a' + i % 26);
        }
        String block = ": " + new String(data, StandardCharsets.US_ASCII) + "\n\n";
        byte[] chunk = Payloads.chunk(block).getBytes(StandardCharsets.US_ASCII);
        AtomicLong written = new AtomicLong();
        replica.answering(call -> {
            if (!call.request().json().path("stream").asBoolean()) {
                call.write(Payloads.answer(200, Payloads.JSON));
                return;
            }
            call.sseHead();
            for (int i = 0; i < chunks; i++) {
                call.write(chunk);
                written.addAndGet(chunk.length);
            }
            for (String event : Payloads.STREAM) {
                call.chunk(event);
            }
            call.lastChunk();
        });
        long before = PooledByteBufAllocator.DEFAULT.pinnedDirectMemory();
        List<RawClient> readers = new ArrayList<>();
        for (int i = 0; i < streams; i++) {
            readers.add(RawClient.connect(gateway.port(), 16_384).send(stream("slow-" + i)));
        }
        awaitStandstill(written);
        assertThat(written.get()).isLessThan((long) streams * chunks * chunk.length);
        long held = PooledByteBufAllocator.DEFAULT.pinnedDirectMemory() - before;
        assertThat(held).isLessThan(streams * 512L * 1024);
        try (RawClient quick = RawClient.connect(gateway.port())) {
            assertThat(quick.exchange(plain("slow-quick")).status()).isEqualTo(200);
        }
        CRC32 expected = new CRC32();
        for (int i = 0; i < chunks; i++) {
            expected.update(block.getBytes(StandardCharsets.US_ASCII));
        }
        expected.update(String.join("", Payloads.STREAM_WITHOUT_USAGE).getBytes(StandardCharsets.UTF_8));
        for (RawClient reader : readers) {
            RawResponse answer = reader.response(Duration.ofSeconds(60));
            assertThat(answer.end()).contains(RawResponse.End.CLEAN);
            CRC32 actual = new CRC32();
            actual.update(answer.body());
            assertThat(actual.getValue()).isEqualTo(expected.getValue());
            reader.close();
        }
        for (int i = 0; i < streams; i++) {
            UsageLines.assertTokens(UsageLines.of(gateway, "slow-" + i), 5, 2, 7);
        }
    }

    private static void awaitStandstill(AtomicLong counter) {
        long last = -1;
        int same = 0;
        while (same < 6) {
            LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
            long now = counter.get();
            same = now == last && now > 0 ? same + 1 : 0;
            last = now;
        }
    }

    @Test
    void requestsSentAheadAreAnsweredInOrderOverOneUpstreamConnection() throws Exception {
        replica.answering(Scripts.vllmLike());
        int first = replica.requests().size();
        try (RawClient client = RawClient.connect(gateway.port())) {
            StringBuilder wire = new StringBuilder();
            for (int i = 0; i < 6; i++) {
                Requests request = i % 2 == 0 ? stream("ahead-" + i) : plain("ahead-" + i);
                wire.append(new String(request.bytes(), StandardCharsets.UTF_8));
            }
            client.send(wire.toString());
            for (int i = 0; i < 6; i++) {
                RawResponse answer = client.response();
                assertThat(answer.status()).isEqualTo(200);
                assertThat(answer.header("x-request-id")).contains("ahead-" + i);
                assertThat(answer.text())
                        .isEqualTo(i % 2 == 0 ? String.join("", Payloads.STREAM_WITHOUT_USAGE) : Payloads.JSON);
                assertThat(answer.end()).contains(RawResponse.End.CLEAN);
            }
        }
        assertThat(replica.requests().subList(first, first + 6))
                .extracting(request -> request.connection())
                .containsOnly(replica.request(first).connection());
        for (int i = 0; i < 6; i++) {
            UsageLines.assertTokens(UsageLines.of(gateway, "ahead-" + i), 5, 2, 7);
        }
    }

    @Test
    void whatComesBehindAnAnswerReachesNobody() throws Exception {
        String extra = Payloads.answer(200, "{\"smuggled\":true}");
        for (String wire : List.of(
                Payloads.answer(200, Payloads.JSON) + extra,
                Payloads.stream(Payloads.STREAM) + extra,
                "HTTP/1.1 204 No Content\r\n\r\n" + extra,
                "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello")) {
            int first = replica.requests().size();
            replica.answering(Scripts.wire(wire));
            try (RawClient client = RawClient.connect(gateway.port())) {
                RawResponse answer = client.exchange(plain("behind-" + first));
                assertThat(answer.end()).contains(RawResponse.End.CLEAN);
                assertThat(answer.text()).doesNotContain("smuggled");
                replica.answering(Scripts.normal());
                RawResponse next = client.exchange(plain("behind-next-" + first));
                assertThat(next.status()).isEqualTo(200);
                assertThat(next.text()).isEqualTo(Payloads.JSON);
            }
            assertThat(replica.request(first + 1).connection())
                    .isNotEqualTo(replica.request(first).connection());
            assertThat(UsageLines.of(gateway, "behind-next-" + first)
                            .path("attempts")
                            .asInt())
                    .isEqualTo(1);
        }
    }
}
