package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.ResourceLeakDetector;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.logging.log4j.Level;
import routes.door.Door;
import routes.queue.Queue;
import routes.quota.Quotas;
import routes.replica.Replica;
import routes.replica.Replicas;
import routes.request.BodyBudget;
import routes.usage.UsageJournal;

/**
 * A gateway under steady load, with weather over its replicas for a while. Afterwards each request has the one usage line that
 * agrees with what its client and the replicas saw, and nothing is kept.
 */
final class FaultRun {

    private static final int CLIENTS = 28;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final long seed;
    private final Duration storm;
    private final Map<String, Long> gauges = new LinkedHashMap<>();
    private FaultLedger ledger;
    private FaultWeather weather;
    private Duration recovery = Duration.ZERO;

    FaultRun(long seed, Duration storm) {
        this.seed = seed;
        this.storm = storm;
    }

    /** @throws AssertionError naming the seed, and the requests that something is wrong with */
    FaultRun run() throws Exception {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        try (LogCapture log = LogCapture.at(Level.WARN);
                FaultyFleet fleet = new FaultyFleet(seed)) {
            ledger = fleet.ledger();
            weather = new FaultWeather(fleet.replicas(), seed);
            try (TestGateway gateway = fleet.gateway().start()) {
                storm(gateway.port(), fleet);
                fleet.await(() -> gateway.bean(Door.class).connections() == 0, "the end of clients' connections");
                fleet.readUsage(gateway);
                readGauges(gateway);
            }
            fleet.awaitNoConnections();
            log.reportLeaks();

            assertThat(ledger.complaints()).as("seed %d", seed).isEmpty();
            assertThat(log.errors()).as("seed %d", seed).isEmpty();
            assertThat(gauges.values()).as("seed %d: %s", seed, gauges).containsOnly(0L);
            assertAllHappened();
            fleet.close();
            fleet.await(() -> left(before).isEmpty(), "the end of threads begun meanwhile");
        }
        return this;
    }

    private void storm(int port, FaultyFleet fleet) throws IOException, InterruptedException {
        List<FaultClient> clients = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            FaultClient client = new FaultClient(port, i, seed, ledger);
            clients.add(client);
            threads.add(new Thread(client, "client-" + i));
        }
        threads.forEach(Thread::start);
        try {
            weather.blow(storm);
            awaitRecovery(fleet);
        } finally {
            clients.forEach(FaultClient::stop);
            for (Thread each : threads) {
                each.join(PATIENCE.toMillis());
                assertThat(each.isAlive())
                        .as("seed %d: %s still waits for an answer", seed, each.getName())
                        .isFalse();
            }
        }
    }

    /** The load goes on until every replica has a share of it again. */
    private void awaitRecovery(FaultyFleet fleet) {
        long began = System.nanoTime();
        List<FaultyReplica> replicas = fleet.replicas();
        long[] before = replicas.stream().mapToLong(FaultyReplica::served).toArray();
        for (int i = 0; i < before.length; i++) {
            FaultyReplica replica = replicas.get(i);
            long enough = before[i] + 10;
            fleet.await(() -> replica.served() >= enough, "answers of " + replica.url() + " after the weather");
        }
        recovery = Duration.ofNanos(System.nanoTime() - began);
    }

    private void readGauges(TestGateway gateway) {
        long slots = gateway.bean(Replicas.class).all().stream()
                .mapToLong(Replica::inFlight)
                .sum();
        gauges.put("requests in flight", (long) gateway.bean(Door.class).inFlight());
        gauges.put("slots taken", slots);
        gauges.put("requests in the queue", (long) gateway.bean(Queue.class).waiting());
        gauges.put("concurrent requests of keys", gateway.bean(Quotas.class).running());
        gauges.put("usage lines pending", gateway.bean(UsageJournal.class).pending());
        gauges.put("bytes of bodies", gateway.bean(BodyBudget.class).used());
        gauges.put("clients' connections", (long) gateway.bean(Door.class).connections());
    }

    /** A run in which nothing happened proves nothing. */
    private void assertAllHappened() {
        assertThat(weather.times().keySet())
                .as("seed %d", seed)
                .containsAll(EnumSet.complementOf(EnumSet.of(Fault.NONE)));
        assertThat(ledger.outcomes().keySet())
                .as("seed %d", seed)
                .contains(
                        "success",
                        "client_closed",
                        "upstream_aborted upstream_incomplete",
                        "timeout upstream_timeout",
                        "upstream_error upstream_error");
        assertThat(ledger.attempts().keySet()).as("seed %d: attempts", seed).contains(1, 2);
    }

    private static List<String> left(Set<Thread> before) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(each -> !before.contains(each))
                .map(Thread::getName)
                .toList();
    }

    // ---- what came out

    /** Tables in Markdown: requests, faults by kind, outcomes by cause, gauges at the end. */
    String report() {
        StringBuilder text = new StringBuilder("# Faults survived\n\n");
        text.append(String.format(
                Locale.ROOT,
                "%d s of weather with seed %d: %d requests of %d clients, all replicas gone at once %d times. "
                        + "After it all served again within %d ms.\n",
                storm.toSeconds(),
                seed,
                ledger.requests(),
                CLIENTS,
                weather.outages(),
                recovery.toMillis()));
        text.append("\n| fault | times | requests read meanwhile |\n|---|---:|---:|\n");
        weather.times()
                .forEach((fault, times) -> text.append(String.format(
                        Locale.ROOT,
                        "| %s | %d | %d |\n",
                        fault.name().toLowerCase(Locale.ROOT).replace('_', ' '),
                        times,
                        ledger.attemptsDuring(fault))));
        table(text, "outcome and cause, by usage lines", ledger.outcomes());
        table(text, "what clients saw", ledger.seen());
        table(text, "attempts of a request", ledger.attempts());
        table(text, "gauge at the end", gauges);
        return text.toString();
    }

    private static void table(StringBuilder text, String title, Map<?, ? extends Number> rows) {
        text.append("\n| ").append(title).append(" | |\n|---|---:|\n");
        rows.forEach((name, value) -> text.append(String.format(Locale.ROOT, "| %s | %d |\n", name, value)));
    }
}
