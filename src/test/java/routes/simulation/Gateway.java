package routes.simulation;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Random;

/** One of several gateways that know nothing of each other: its rule, its requests, and what replicas reported last. */
final class Gateway {

    private static final int SCANNED = 256;

    final Fleet fleet;
    final int number;
    final Random random;
    final int replicas;
    final int[] inFlight;
    final int[] reportedRunning;
    final int[] reportedWaiting;
    final double[] reportedCacheUsage;
    private final int[] inFlightThen;
    private final Router router;
    private final ArrayDeque<Turn> held = new ArrayDeque<>();

    Gateway(Fleet fleet, int number, Rule rule, long seed) {
        this.fleet = fleet;
        this.number = number;
        random = new Random(Chain.hash(seed, number));
        replicas = fleet.engines.length;
        inFlight = new int[replicas];
        reportedRunning = new int[replicas];
        reportedWaiting = new int[replicas];
        reportedCacheUsage = new double[replicas];
        inFlightThen = new int[replicas];
        router = rule.router(this);
        double first = router.pollSeconds() * (number + 1) / fleet.setup.gateways();
        fleet.time.after(first, this::poll);
    }

    boolean isUp(int replica) {
        return fleet.engines[replica].up;
    }

    /** Requests at a replica: what it reported, corrected by what has been sent and has ended since. */
    int load(int replica) {
        int reported = reportedRunning[replica] + reportedWaiting[replica];
        return Math.max(inFlight[replica], reported + inFlight[replica] - inFlightThen[replica]);
    }

    int home(Turn turn) {
        return router.home(turn);
    }

    void route(Turn turn) {
        int chosen = router.choose(turn);
        if (chosen == Router.HOLD) {
            held.add(turn);
        } else {
            send(turn, chosen);
        }
    }

    private void send(Turn turn, int replica) {
        turn.replica = replica;
        inFlight[replica]++;
        router.dispatched(turn);
        fleet.engines[replica].offer(turn);
    }

    void firstToken(Turn turn) {
        router.firstToken(turn);
    }

    void ended(Turn turn) {
        inFlight[turn.replica]--;
        router.ended(turn);
        askAgain();
    }

    private void poll() {
        for (int r = 0; r < replicas; r++) {
            Engine engine = fleet.engines[r];
            reportedRunning[r] = engine.running();
            reportedWaiting[r] = engine.waiting();
            reportedCacheUsage[r] = engine.cacheUsage();
            inFlightThen[r] = inFlight[r];
        }
        router.polled();
        askAgain();
        fleet.time.after(router.pollSeconds(), this::poll);
    }

    /** The first of those that wait whose choice has room go. */
    void askAgain() {
        int scanned = 0;
        for (Iterator<Turn> each = held.iterator(); each.hasNext() && scanned < SCANNED; scanned++) {
            Turn turn = each.next();
            int chosen = router.choose(turn);
            if (chosen != Router.HOLD) {
                each.remove();
                send(turn, chosen);
            }
        }
    }

    void left(int replica) {
        forget(replica);
        router.left(replica);
    }

    void joined(int replica) {
        forget(replica);
        router.joined(replica);
        askAgain();
    }

    private void forget(int replica) {
        reportedRunning[replica] = 0;
        reportedWaiting[replica] = 0;
        inFlightThen[replica] = inFlight[replica];
    }
}
