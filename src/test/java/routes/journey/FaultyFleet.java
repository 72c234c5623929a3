package routes.journey;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import routes.replica.Replica;
import routes.replica.Replicas;

/** Four replicas that things befall, what they and their clients have seen, and how to put a gateway before them. */
final class FaultyFleet implements AutoCloseable {

    static final int SLOTS = 8;
    private static final int REPLICAS = 4;
    private static final int MAX_ATTEMPTS = 3;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final String KEYS =
            """
            keys:
              - id: key-one
                tenant: tenant-one
                sha256: %s
                limits: { concurrent-requests: 1000, tokens-per-month: 1000000000000 }
              - id: key-two
                tenant: tenant-two
                sha256: %s
            """.formatted(TestGateway.sha256(TestGateway.KEY), TestGateway.sha256(TestGateway.OTHER_KEY));

    private final FaultLedger ledger;
    private final Path usageFile;
    private final List<FaultyReplica> replicas = new ArrayList<>();

    FaultyFleet(long seed) throws IOException {
        ledger = new FaultLedger(seed, MAX_ATTEMPTS);
        usageFile = Files.createTempDirectory("faults").resolve("usage.jsonl");
        for (int i = 0; i < REPLICAS; i++) {
            replicas.add(new FaultyReplica(ledger, SLOTS));
        }
    }

    FaultLedger ledger() {
        return ledger;
    }

    List<FaultyReplica> replicas() {
        return replicas;
    }

    /** A gateway that notices everything soon. */
    TestGateway.Builder gateway() {
        String[] urls =
                replicas.stream().map(each -> each.url() + "?slots=" + SLOTS).toArray(String[]::new);
        return TestGateway.builder()
                .modelWith("queueLimit: 16, queueTimeout: 300ms", "m1", urls)
                .keysFile(KEYS)
                .property("gateway.event-loops", 2)
                .property("gateway.forward-headers", "x-case")
                .property("gateway.usage.file", usageFile)
                .property("gateway.max-attempts", MAX_ATTEMPTS)
                .property("gateway.connect-timeout", "200ms")
                .property("gateway.head-timeout", "500ms")
                .property("gateway.stall-timeout", "400ms")
                .property("gateway.total-timeout", "2s")
                .property("gateway.pool-idle-timeout", "1s")
                .property("gateway.pool-max-age", "10s")
                .property("gateway.health.path", "/health")
                .property("gateway.health.interval", "100ms")
                .property("gateway.health.timeout", "200ms")
                .property("gateway.slow-start", "300ms")
                .property("gateway.load.path", "/metrics")
                .property("gateway.load.interval", "200ms")
                .property("gateway.load.max-age", "1s")
                .property("camel.resilience4j.waitDurationInOpenState", 1);
    }

    /** What the gateway thinks of one of the replicas. */
    static Replica seenBy(TestGateway gateway, FaultyReplica replica) {
        return gateway.bean(Replicas.class).all().stream()
                .filter(each -> each.address().port() == replica.port())
                .findFirst()
                .orElseThrow();
    }

    /** Has the ledger compare all usage lines, once nothing is in flight any more. */
    void readUsage(TestGateway gateway) {
        gateway.awaitIdle();
        // a request whose client left may still wait to be read
        await(() -> ledger.read(usageFile), "usage lines");
    }

    /** The gateway has stopped: nothing may be left. */
    void awaitNoConnections() {
        for (FaultyReplica each : replicas) {
            await(() -> each.connections() == 0, "the end of connections to " + each.url());
        }
        ledger.read(usageFile);
        ledger.close();
    }

    /** Waits without keeping a core busy, which the load needs. */
    void await(BooleanSupplier condition, String what) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError(
                        "seed " + ledger.seed() + ": still waiting for " + what + "; so far " + ledger.complaints());
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }

    @Override
    public void close() throws IOException {
        for (FaultyReplica each : replicas) {
            each.close();
        }
    }
}
