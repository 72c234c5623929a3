package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.Test;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.replica.Replica;

/** Replicas that fail in every way that we know of, several at a time and one after another, under load. */
class FaultsJourneyTest {

    private static final long SEED = Long.getLong("faults.seed", 20_260_305L);
    private static final Duration STORM = Duration.ofSeconds(Long.getLong("faults.seconds", 45));
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(1);
    private static final int CLIENTS_OF_EACH = 3;

    @Test
    void nothingIsLostLeakedOrAnsweredTwice() throws Exception {
        new FaultRun(SEED, STORM).run();
    }

    @Test
    void oneReplicaInFourIsBlackHoledAndTheOthersClientsSeeNothing() throws Exception {
        try (LogCapture log = LogCapture.at(Level.WARN);
                FaultyFleet fleet = new FaultyFleet(SEED)) {
            FaultyReplica hole = fleet.replicas().get((int) Math.floorMod(SEED, 4L));
            List<Dweller> dwellers;
            long began;
            long noticed;
            try (TestGateway gateway = fleet.gateway()
                    // one home for each prompt, however often it is used
                    .balancer("rendezvous")
                    .property("gateway.connect-timeout", CONNECT_TIMEOUT.toSeconds() + "s")
                    .property("gateway.health.timeout", "500ms")
                    .start()) {
                dwellers = settle(fleet, gateway);
                dwellers.forEach(Thread::start);
                try {
                    awaitMore(fleet, dwellers, 20);
                    began = System.nanoTime();
                    hole.begin(Fault.BLACK_HOLED);
                    Replica seen = FaultyFleet.seenBy(gateway, hole);
                    fleet.await(() -> seen.fitness() == Replica.Fitness.NONE, "probes to notice the black hole");
                    noticed = System.nanoTime();
                    awaitMore(fleet, dwellers, 40);
                    hole.end();
                    long before = hole.served();
                    fleet.await(() -> hole.served() > before + 20, "its clients to come home");
                } finally {
                    for (Dweller each : dwellers) {
                        each.leave();
                    }
                }
                fleet.readUsage(gateway);
            }
            fleet.awaitNoConnections();
            assertThat(fleet.ledger().complaints()).as("seed %d", SEED).isEmpty();
            assertThat(log.errors()).as("seed %d", SEED).isEmpty();

            List<Told> others = new ArrayList<>();
            List<Told> afterwards = new ArrayList<>();
            List<Told> struck = new ArrayList<>();
            for (Dweller each : dwellers) {
                boolean elsewhere = !each.home.equals(hole.url());
                for (Told told : each.told) {
                    (elsewhere ? others : told.begunAfter(noticed) ? afterwards : struck).add(told);
                }
            }
            assertSawNothing("at home elsewhere", others);
            assertSawNothing("after the black hole was noticed", afterwards);
            assertThat(struck.stream().filter(told -> told.begunAfter(began)))
                    .as("seed %d: requests for the black hole", SEED)
                    .isNotEmpty()
                    .allMatch(told -> told.status == 200 || told.status == 504);
        }
    }

    /** Whole answers at the first attempt, and nearly all of them sooner than a connection is given up. */
    private static void assertSawNothing(String who, List<Told> told) {
        assertThat(told)
                .as("seed %d: %s", SEED, who)
                .hasSizeGreaterThan(100)
                .allMatch(each -> each.status == 200
                        && each.of.attempts().size() == 1
                        && each.of.attempts().get(0).number() == 1);
        List<Duration> sorted = told.stream().map(Told::took).sorted().toList();
        assertThat(sorted.get(sorted.size() * 99 / 100 - 1))
                .as(
                        "seed %d: 99 of 100 requests %s; the longest: %s",
                        SEED, who, told.stream().max(Comparator.comparing(Told::took)))
                .isLessThan(CONNECT_TIMEOUT);
    }

    /** Some clients for each replica, which is first for all that they ask. */
    private static List<Dweller> settle(FaultyFleet fleet, TestGateway gateway)
            throws IOException, InterruptedException {
        Map<String, Integer> settled = new HashMap<>();
        List<Dweller> dwellers = new ArrayList<>();
        for (int i = 0; dwellers.size() < CLIENTS_OF_EACH * fleet.replicas().size(); i++) {
            assertThat(i).as("seed %d: sessions tried", SEED).isLessThan(500);
            Dweller next = new Dweller(fleet.ledger(), gateway.port(), "session-" + SEED + "-" + i);
            if (settled.merge(next.home, 1, Integer::sum) <= CLIENTS_OF_EACH) {
                dwellers.add(next);
            } else {
                next.leave();
            }
        }
        return dwellers;
    }

    private static void awaitMore(FaultyFleet fleet, List<Dweller> dwellers, int requests) {
        for (Dweller each : dwellers) {
            int enough = each.count + requests;
            fleet.await(() -> each.count >= enough, "requests of " + each.getName());
        }
    }

    /** How a request went that its client waited for. */
    private record Told(FaultCase of, int status, long beganNanos, long endedNanos) {
        boolean begunAfter(long nanos) {
            return beganNanos - nanos > 0;
        }

        Duration took() {
            return Duration.ofNanos(endedNanos - beganNanos);
        }
    }

    /** A client that asks again and again in the same session. */
    private static final class Dweller extends Thread {
        private final FaultLedger ledger;
        private final int port;
        private RawClient connection;
        private final List<Told> told = new ArrayList<>();
        private final String home;
        private volatile int count;
        private volatile boolean stopped;

        Dweller(FaultLedger ledger, int port, String session) throws IOException {
            super(session);
            this.ledger = ledger;
            this.port = port;
            connection = RawClient.connect(port);
            home = ask().attempts().get(0).replica();
        }

        @Override
        public void run() {
            try {
                while (!stopped) {
                    ask();
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
                }
            } catch (IOException | RuntimeException | Error e) {
                ledger.failed(e);
            }
        }

        private FaultCase ask() throws IOException {
            FaultCase what = ledger.add(new FaultCase(getName() + "-" + count, count, 1000, count % 2 == 0, false));
            long began = System.nanoTime();
            RawResponse answer = connection.exchange(what.request().header("X-Session-Id", getName()));
            told.add(new Told(what, answer.status(), began, System.nanoTime()));
            ledger.sawAnswer(what, answer);
            if (answer.end().orElseThrow() != RawResponse.End.CLEAN
                    || answer.header("connection").filter("close"::equals).isPresent()) {
                // a stream that the black hole swallowed is cut
                connection.close();
                connection = RawClient.connect(port);
            }
            count = count + 1;
            return what;
        }

        void leave() throws IOException, InterruptedException {
            stopped = true;
            if (isAlive()) {
                join(TimeUnit.SECONDS.toMillis(30));
            }
            connection.close();
        }
    }
}
