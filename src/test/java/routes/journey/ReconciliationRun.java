package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import routes.fixture.RawResponse;

/**
 * Many requests through gateways that are ended meanwhile, one after the other; afterwards the usage lines are laid beside
 * the replicas' own books.
 */
final class ReconciliationRun {

    private static final int CLIENTS = 24;
    /** Streams that each SIGTERM finds open, and ends. */
    private static final int LASTING = 4;

    private static final int STOPPED = Integer.MAX_VALUE / 2;
    private static final long PATIENCE_MILLIS = TimeUnit.MINUTES.toMillis(10);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    /** What a busy machine may add to the flush interval: a timer that is late, the write itself. */
    private static final long SLACK_MILLIS = 1_000;

    private final Path folder;
    private final ConcurrentHashMap<String, BilledClient.Seen> seen = new ConcurrentHashMap<>();
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private final AtomicInteger next = new AtomicInteger();

    ReconciliationRun(Path folder) {
        this.folder = folder;
    }

    // ---- ended in order

    /** @return the report, in Markdown */
    String terminate(int requests, int restarts) throws Exception {
        try (BilledReplica first = BilledReplica.start();
                BilledReplica second = first.startAnother();
                BilledGateway gateway = new BilledGateway(folder, first, second, "200ms")) {
            List<Thread> clients = startClients(gateway, requests);
            for (int i = 1; i <= restarts; i++) {
                int enough = requests * i / (restarts + 1);
                await(() -> next.get() >= enough, "request " + enough);
                restart(gateway, i);
            }
            join(clients);
            assertThat(gateway.terminate()).isZero();
            assertThat(failures).isEmpty();
            assertThat(first.complaints()).isEmpty();

            List<JsonNode> journal = gateway.journal();
            Map<String, JsonNode> lines = byRequest(journal);
            assertThat(byRecord(gateway.events()).keySet())
                    .as("records in the route's files")
                    .isEqualTo(byRecord(journal).keySet());
            assertThat(byRecord(gateway.events())).isEqualTo(byRecord(journal));
            Table table = new Table();
            first.books().forEach((id, made) -> table.compare(made, line(lines, id)));
            seen.forEach((id, what) -> assertRecorded(id, what, lines.get(id)));
            assertThat(table.rows.keySet()).contains("final", "running", "estimated", "none");
            return table.report(restarts, gateway.events().size());
        }
    }

    private void restart(BilledGateway gateway, int number) throws Exception {
        List<RawResponse> open = new ArrayList<>();
        for (int i = 0; i < LASTING; i++) {
            open.add(new BilledClient(gateway, seen).begin("lasting-" + number + "-" + i));
        }
        assertThat(gateway.terminate()).as("exit status").isZero();
        for (RawResponse each : open) {
            assertThat(each.finish().end()).isPresent().get().isNotEqualTo(RawResponse.End.CLEAN);
        }
        gateway.start();
    }

    private static JsonNode line(Map<String, JsonNode> lines, String id) {
        JsonNode line = lines.get(id);
        assertThat(line).as("the line of " + id).isNotNull();
        return line;
    }

    private static void assertRecorded(String id, BilledClient.Seen what, @Nullable JsonNode line) {
        // a gateway that stops refuses before it asks who is there
        if (what.status() != 0 && what.status() != 503) {
            assertThat(line)
                    .as("the line of %s, of which the client saw %s", id, what)
                    .isNotNull();
            assertThat(line.path("status").asInt()).as("%s", line).isEqualTo(what.status());
        }
    }

    /** What replicas made and what lines say, by the lines' source. */
    private static final class Table {
        private final Map<String, long[]> rows = new TreeMap<>();

        void compare(BilledReplica.Tokens made, JsonNode line) {
            String source = line.path("usage_source").asText();
            long prompt = line.path("prompt_tokens").asLong();
            long completion = line.path("completion_tokens").asLong();
            assertThat(source).as("%s, %s", made, line).isEqualTo(made.kind().source());
            if (source.equals("none")) {
                assertThat(line.path("completion_tokens").isNull())
                        .as("%s", line)
                        .isTrue();
            } else {
                assertThat(completion).as("%s, %s", made, line).isEqualTo(made.completion());
                assertThat(line.path("total_tokens").asLong()).as("%s", line).isEqualTo(prompt + completion);
            }
            if (source.equals("final") || source.equals("running")) {
                assertThat(prompt).as("%s, %s", made, line).isEqualTo(made.prompt());
            }
            long[] row = rows.computeIfAbsent(source, any -> new long[5]);
            row[0]++;
            row[1] += made.prompt();
            row[2] += prompt;
            row[3] += made.completion();
            row[4] += completion;
        }

        String report(int restarts, int events) {
            StringBuilder text = new StringBuilder(String.format(
                    Locale.ROOT,
                    """
                    ## Ended by SIGTERM

                    %d requests that a replica answered, %d restarts meanwhile. Each has one line; the journal's file and the files of
                    the route `usage-events` have the same %d records.

                    | usage_source | requests | prompt tokens, replicas | in lines | completion tokens, replicas | in lines |
                    |---|---:|---:|---:|---:|---:|
                    """,
                    rows.values().stream().mapToLong(row -> row[0]).sum(),
                    restarts,
                    events));
            rows.forEach((source, row) -> text.append(String.format(
                    Locale.ROOT, "| %s | %d | %d | %d | %d | %d |\n", source, row[0], row[1], row[2], row[3], row[4])));
            return text.append("""

                    `estimated`: the prompt is guessed by its bytes. `none`: refused, or a plain answer broken off before its usage.
                    """).toString();
        }
    }

    // ---- ended on the spot

    /** @return the report, in Markdown */
    String kill(int requests, int flushMillis) throws Exception {
        try (BilledReplica first = BilledReplica.start();
                BilledReplica second = first.startAnother();
                BilledGateway gateway = new BilledGateway(folder, first, second, flushMillis + "ms")) {
            List<Thread> clients = startClients(gateway, STOPPED);
            await(() -> seen.size() >= requests, requests + " answers");
            long killedNanos = System.nanoTime();
            gateway.kill();
            next.set(STOPPED);
            join(clients);
            assertThat(failures).isEmpty();

            Map<String, JsonNode> lines = byRequest(gateway.journal());
            Map<String, JsonNode> events = byRequest(gateway.events());
            assertThat(lines).as("what the route has is in the journal").containsAllEntriesOf(events);
            Lost lost = new Lost();
            int ended = 0;
            for (Map.Entry<String, BilledClient.Seen> each : seen.entrySet()) {
                BilledClient.Seen what = each.getValue();
                if (what.whole() && what.atNanos() - killedNanos < 0) {
                    ended++;
                    lost.add(lines.get(each.getKey()), first.books().get(each.getKey()), killedNanos - what.atNanos());
                }
            }
            assertThat(lost.oldestMillis)
                    .as("age of the oldest line that is missing, in ms")
                    .isLessThanOrEqualTo(flushMillis + SLACK_MILLIS);
            gateway.start();
            assertThat(new BilledClient(gateway, seen).ask("after", BilledKind.PLAIN))
                    .isTrue();
            assertThat(gateway.terminate()).isZero();
            assertThat(byRequest(gateway.journal())).containsKey("after").containsAllEntriesOf(lines);
            return lost.report(ended, lines.size(), lines.size() - events.size(), flushMillis);
        }
    }

    private static final class Lost {
        private long lines;
        private long tokens;
        private long oldestMillis;

        void add(@Nullable JsonNode line, BilledReplica.@Nullable Tokens made, long ageNanos) {
            if (line == null) {
                lines++;
                tokens += made == null ? 0 : made.prompt() + made.completion();
                oldestMillis = Math.max(oldestMillis, TimeUnit.NANOSECONDS.toMillis(ageNanos));
            }
        }

        String report(int ended, int written, int notInRoute, int flushMillis) {
            return String.format(
                    Locale.ROOT, """

                    ## Ended by SIGKILL

                    Of %d requests whose answers had come to their end, %d lines with %d tokens are missing; the oldest had ended %d ms
                    before, with a flush interval of %d ms. %d lines are in the journal's file, %d of them not in the route's.
                    """, ended, lines, tokens, oldestMillis, flushMillis, written, notInRoute);
        }
    }

    // ---- clients

    private List<Thread> startClients(BilledGateway gateway, int requests) {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            Thread thread = new Thread(() -> ask(gateway, requests), "billed-client-" + i);
            threads.add(thread);
            thread.start();
        }
        return threads;
    }

    private void ask(BilledGateway gateway, int requests) {
        try (BilledClient client = new BilledClient(gateway, seen)) {
            for (int i = next.getAndIncrement(); i < requests; i = next.getAndIncrement()) {
                BilledKind kind = BilledKind.of(Integer.hashCode(i * 0x9e3779b9) >>> 8);
                for (int tries = 1; !client.ask("r" + i + "-" + tries, kind) && next.get() < STOPPED; tries++) {
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
            }
        } catch (IOException | RuntimeException | Error e) {
            failures.add(e);
        }
    }

    private void await(BooleanSupplier condition, String what) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
        while (!condition.getAsBoolean()) {
            assertThat(failures).isEmpty();
            assertThat(System.nanoTime() - deadline).as("waiting for %s", what).isNegative();
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private static void join(List<Thread> threads) throws InterruptedException {
        for (Thread each : threads) {
            each.join(PATIENCE_MILLIS);
            assertThat(each.isAlive()).as("%s still waits", each.getName()).isFalse();
        }
    }

    // ---- lines

    /** Fails where a request has two. */
    private static Map<String, JsonNode> byRequest(List<JsonNode> lines) {
        Map<String, JsonNode> found = new LinkedHashMap<>();
        for (JsonNode line : lines) {
            JsonNode before = found.put(line.path("request_id").asText(), line);
            assertThat(before).as("a second line: %s", line).isNull();
        }
        return found;
    }

    /** As one does where a record may come again. */
    private static Map<String, JsonNode> byRecord(List<JsonNode> lines) {
        Map<String, JsonNode> found = new HashMap<>();
        lines.forEach(line -> found.put(line.path("record_id").asText(), line));
        return found;
    }
}
