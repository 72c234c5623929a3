package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.netty.util.ResourceLeakDetector;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.Test;
import routes.fixture.Call;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.Requests;
import routes.fixture.Scripts;

/**
 * Everything at once: clients that leave in every phase, replicas that fail in every way, few slots. Whatever happens,
 * each request that was accepted has one usage line that agrees with what its client saw, and nothing is kept.
 */
class StressJourneyTest {

    private static final long SEED = Long.getLong("stress.seed", 20_260_118L);
    private static final int CLIENTS = 16;
    private static final int REQUESTS = 100;
    private static final String STREAM = String.join("", Payloads.STREAM_WITHOUT_USAGE);
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** What the replica does with a request, told to it by a header. */
    private enum Fault {
        NONE,
        SLOW,
        BYTES,
        NO_CONTENT,
        EXTRA_BYTES,
        ERROR_500,
        EARLY_413,
        RST_UNREAD,
        RST,
        FIN,
        HALF_HEAD,
        GARBAGE,
        HANG,
        RST_INSIDE,
        FIN_INSIDE,
        HANG_INSIDE,
        BAD_CHUNK
    }

    /** How far the client goes before it leaves. */
    private enum Until {
        END,
        HALF_HEAD,
        HALF_BODY,
        SENT,
        ANSWER_BEGUN
    }

    /** What must be in the usage file about a request. */
    private enum Line {
        NONE,
        MAYBE,
        ONE
    }

    /** @param status 0 when the client left before it saw one; {@code end} then TIMEOUT */
    private record Seen(Line line, Fault fault, boolean stream, int status, RawResponse.End end) {}

    private static final String KEYS =
            """
            keys:
              - id: key-one
                tenant: tenant-one
                sha256: %s
                limits: { concurrent-requests: 6, tokens-per-month: 1000000000 }
              - id: key-two
                tenant: tenant-two
                sha256: %s
            """.formatted(TestGateway.sha256(TestGateway.KEY), TestGateway.sha256(TestGateway.OTHER_KEY));

    private final Map<String, Seen> seen = new ConcurrentHashMap<>();
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();

    @Test
    void nothingIsLostLeakedOrCountedTwice() throws Exception {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
        try (LogCapture log = LogCapture.at(Level.WARN);
                FakeReplica one = FakeReplica.start(Scripts.early(StressJourneyTest::answer));
                FakeReplica two = FakeReplica.start(Scripts.early(StressJourneyTest::answer))) {
            Map<String, JsonNode> lines;
            try (TestGateway gateway = TestGateway.builder()
                    .modelWith(
                            "queueLimit: 5, queueTimeout: 60ms", "m1", one.url() + "?slots=3", two.url() + "?slots=3")
                    .keysFile(KEYS)
                    .property("gateway.event-loops", 2)
                    .property("gateway.forward-headers", "x-fault")
                    .property("gateway.total-timeout", "700ms")
                    .property("gateway.stall-timeout", "250ms")
                    .property("gateway.pool-idle-timeout", "300ms")
                    .start()) {
                run(gateway.port());
                Set<String> due = seen.entrySet().stream()
                        .filter(entry -> entry.getValue().line == Line.ONE)
                        .map(Map.Entry::getKey)
                        .collect(Collectors.toSet());
                // a request whose client left may still wait to be read
                TestGateway.await(() -> UsageLines.all(gateway).keySet().containsAll(due), "usage lines");
                lines = UsageLines.all(gateway);
                one.awaitQuiet();
                two.awaitQuiet();
            }
            log.reportLeaks();

            assertThat(wrong).as("seed %d", SEED).isEmpty();
            assertThat(lines.keySet()).as("seed %d", SEED).isSubsetOf(seen.keySet());
            seen.forEach((id, what) -> assertAgrees(id, what, lines.get(id)));
            assertThat(Arrays.stream(Fault.values()).filter(this::neverSeen)).isEmpty();
            assertThat(lines.values().stream()
                            .map(line -> line.path("error_code").asText()))
                    .contains("queue_full", "queue_timeout", "concurrency_limit_exceeded");
            assertThat(lines.values())
                    .as("served after they had waited")
                    .anyMatch(line -> line.path("queue_ms").asDouble() > 0
                            && line.path("outcome").asText().equals("success"));
            assertThat(one.errors()).isEmpty();
            assertThat(two.errors()).isEmpty();
            assertThat(log.errors()).as("seed %d", SEED).isEmpty();
        }
    }

    private boolean neverSeen(Fault fault) {
        return seen.values().stream().noneMatch(what -> what.fault == fault && what.end == RawResponse.End.CLEAN)
                && seen.values().stream().noneMatch(what -> what.fault == fault && what.status > 0);
    }

    private static void assertAgrees(String id, Seen what, JsonNode line) {
        if (what.line == Line.NONE) {
            assertThat(line).as("%s %s", id, what).isNull();
        }
        if (line == null || what.status == 0) {
            assertThat(line == null && what.line == Line.ONE)
                    .as("no line for %s %s", id, what)
                    .isFalse();
            return;
        }
        String outcome = line.path("outcome").asText();
        assertThat(line.path("status").asInt()).as("%s %s %s", id, what, line).isEqualTo(what.status);
        switch (what.end) {
            case CLEAN -> {
                String expected =
                        what.status < 300 ? "success" : what.status == 504 ? "timeout" : "upstream_error,rejected";
                assertThat(expected).as("%s %s %s", id, what, line).contains(outcome);
            }
            case CUT_FIN, CUT_RST ->
                assertThat(outcome).as("%s %s %s", id, what, line).isIn("upstream_aborted", "timeout");
            // left inside the answer, or while it ended
            default -> assertThat(outcome).as("%s %s %s", id, what, line).isNotEqualTo("internal");
        }
        if (outcome.equals("success") && what.fault != Fault.NO_CONTENT) {
            UsageLines.assertTokens(line, 5, 2, 7);
        }
    }

    // ---- clients

    private void run(int port) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(CLIENTS);
        try {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                int number = i;
                running.add(pool.submit(() -> {
                    new Client(port, number).run();
                    return null;
                }));
            }
            for (Future<?> each : running) {
                each.get(2, TimeUnit.MINUTES);
            }
        } finally {
            pool.shutdownNow();
        }
    }

    private final class Client {
        private final int port;
        private final int number;
        private final Random random;
        private RawClient connection;

        Client(int port, int number) throws IOException {
            this.port = port;
            this.number = number;
            this.random = new Random(SEED + number);
            connection = RawClient.connect(port);
        }

        void run() throws IOException {
            for (int i = 0; i < REQUESTS; i++) {
                String id = "c" + number + "-" + i;
                Fault fault = oneOf(Fault.values(), 3);
                Until until = oneOf(Until.values(), 2);
                boolean stream = random.nextBoolean();
                boolean stranger = random.nextInt(20) == 0;
                Requests request = Requests.chat("m1", content(), stream)
                        .key(stranger ? "sk-wrong" : number % 2 == 0 ? TestGateway.KEY : TestGateway.OTHER_KEY)
                        .header("X-Request-Id", id)
                        .header("X-Fault", fault + (random.nextBoolean() ? "" : "-once"));
                if (random.nextInt(5) == 0) {
                    request.chunked(1 + random.nextInt(5000));
                }
                Seen what;
                try {
                    what = talk(request, fault, until, stream);
                } catch (IOException e) {
                    // the gateway closed first, as it may once it has answered
                    what = new Seen(Line.MAYBE, fault, stream, 0, RawResponse.End.TIMEOUT);
                    reconnect();
                }
                if (stranger) {
                    what = new Seen(Line.NONE, fault, stream, what.status, what.end);
                    if (until == Until.END && what.status != 401 && what.status != 0) {
                        wrong.add(id + ": a stranger got " + what);
                    }
                }
                seen.put(id, what);
            }
            connection.close();
        }

        private Seen talk(Requests request, Fault fault, Until until, boolean stream) throws IOException {
            boolean rst = random.nextBoolean();
            byte[] wire = request.bytes();
            int head = request.head().length;
            switch (until) {
                case HALF_HEAD -> {
                    connection.send(Arrays.copyOf(wire, 1 + random.nextInt(head - 1)));
                    leave(rst);
                    return new Seen(Line.NONE, fault, stream, 0, RawResponse.End.TIMEOUT);
                }
                case HALF_BODY -> {
                    connection.send(Arrays.copyOf(wire, head + random.nextInt(wire.length - head)));
                    leave(rst);
                    return new Seen(rst ? Line.MAYBE : Line.ONE, fault, stream, 0, RawResponse.End.TIMEOUT);
                }
                case SENT -> {
                    connection.send(wire);
                    leave(rst);
                    return new Seen(rst ? Line.MAYBE : Line.ONE, fault, stream, 0, RawResponse.End.TIMEOUT);
                }
                case ANSWER_BEGUN -> {
                    RawResponse answer = connection.send(wire).begin(PATIENCE);
                    leave(rst);
                    return new Seen(Line.ONE, fault, stream, answer.status(), RawResponse.End.TIMEOUT);
                }
                default -> {
                    RawResponse answer = connection.send(wire).response(PATIENCE);
                    check(answer, fault, stream);
                    boolean closes =
                            answer.header("connection").filter("close"::equals).isPresent();
                    if (answer.end().orElseThrow() != RawResponse.End.CLEAN || closes) {
                        reconnect();
                    }
                    return new Seen(
                            Line.ONE,
                            fault,
                            stream,
                            answer.status(),
                            answer.end().orElseThrow());
                }
            }
        }

        private void check(RawResponse answer, Fault fault, boolean stream) {
            RawResponse.End end = answer.end().orElseThrow();
            boolean good =
                    end == RawResponse.End.CLEAN || end == RawResponse.End.CUT_FIN || end == RawResponse.End.CUT_RST;
            if (end == RawResponse.End.CLEAN && answer.status() == 200) {
                good = answer.text().equals(stream ? STREAM : Payloads.JSON);
            }
            if (!good) {
                wrong.add(fault + ": " + answer);
            }
        }

        private void leave(boolean rst) throws IOException {
            if (rst) {
                connection.leaveRst();
            } else {
                connection.leaveFin();
            }
            connection = RawClient.connect(port);
        }

        private void reconnect() throws IOException {
            connection.close();
            connection = RawClient.connect(port);
        }

        private String content() {
            int size = random.nextInt(4) == 0 ? random.nextInt(200_000) : random.nextInt(500);
            return "p" + random.nextInt(40) + "x".repeat(size);
        }

        /** Half of the time the first value. */
        private <T> T oneOf(T[] values, int usual) {
            return random.nextInt(usual) > 0 ? values[0] : values[random.nextInt(values.length)];
        }
    }

    // ---- replicas

    private static void answer(Call call) throws IOException, InterruptedException {
        String[] asked = call.request().header("x-fault").orElse("NONE").split("-");
        boolean first = call.request().header("x-request-id").orElse("").endsWith("-1");
        Fault fault = asked.length > 1 && !first ? Fault.NONE : Fault.valueOf(asked[0].toUpperCase(Locale.ROOT));
        if (fault == Fault.RST_UNREAD) {
            call.rst();
            return;
        }
        if (fault == Fault.EARLY_413) {
            call.write(Payloads.answer(413, Payloads.error(413, "TooLarge", "too large")));
            return;
        }
        call.readBody();
        boolean stream = call.request().json().path("stream").asBoolean();
        String wire = stream ? Payloads.stream(Payloads.STREAM) : Payloads.answer(200, Payloads.JSON);
        String inside =
                stream ? Payloads.sseHead() + Payloads.chunk(Payloads.EVENT_A) : Payloads.plainHead(200, 9999) + "{";
        switch (fault) {
            case SLOW -> {
                int half = wire.length() / 2;
                call.write(wire.substring(0, half));
                TimeUnit.MILLISECONDS.sleep(20);
                call.write(wire.substring(half));
            }
            case BYTES -> {
                for (byte each : wire.getBytes(StandardCharsets.UTF_8)) {
                    call.write(new byte[] {each});
                }
            }
            case NO_CONTENT -> call.write("HTTP/1.1 204 No Content\r\n\r\n");
            case EXTRA_BYTES -> call.write(wire + "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nno!");
            case ERROR_500 -> call.write(Payloads.answer(500, "boom"));
            case RST -> call.rst();
            case FIN -> call.fin();
            case HALF_HEAD -> call.write("HTTP/1.1 200 OK\r\nCont").fin();
            case GARBAGE -> call.write("garbage\r\n\r\n").hang();
            case HANG -> call.hang();
            case RST_INSIDE -> call.write(inside).rst();
            case FIN_INSIDE -> call.write(inside).fin();
            case HANG_INSIDE -> call.write(inside).hang();
            case BAD_CHUNK -> call.write(Payloads.sseHead() + "xyz\r\n").hang();
            default -> call.write(wire);
        }
    }
}
