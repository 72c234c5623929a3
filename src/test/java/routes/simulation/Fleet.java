package routes.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Eight modelled replicas, and one that may join, behind gateways that follow one rule, on virtual time. */
final class Fleet {

    static final int REPLICAS = 8;

    /** @param load requests a second, as a share of what the oracle's hits could sustain */
    record Setup(Workload workload, double load, int gateways, long seed, double seconds) {}

    final Setup setup;
    final VirtualTime time = new VirtualTime();
    final Engine[] engines = new Engine[REPLICAS + 1];
    final List<Turn> turns = new ArrayList<>();
    private final Gateway[] gateways;
    private final Random door;
    int homesCompared;
    int homesEqual;

    private Fleet(Setup setup, Rule rule) {
        this.setup = setup;
        door = new Random(setup.seed() * 31 + 7);
        for (int r = 0; r < engines.length; r++) {
            engines[r] = new Engine(this, r < REPLICAS);
        }
        gateways = new Gateway[setup.gateways()];
        for (int g = 0; g < gateways.length; g++) {
            gateways[g] = new Gateway(this, g, rule, setup.seed());
        }
    }

    static Outcome run(Setup setup, Rule rule) {
        Fleet fleet = new Fleet(setup, rule);
        new Sessions(setup, fleet.time, fleet::offer).begin();
        if (setup.workload() == Workload.CHURN) {
            double end = setup.seconds();
            fleet.time.after(end * 0.4, () -> fleet.leave(0));
            fleet.time.after(end * 0.4 + 45, () -> fleet.join(0));
            fleet.time.after(end * 0.6, () -> fleet.leave(1));
            fleet.time.after(end * 0.75, () -> fleet.join(REPLICAS));
        }
        fleet.time.runUntil(setup.seconds());
        return Outcome.of(fleet);
    }

    /** A request comes to one of the gateways, by chance. */
    void offer(Turn turn) {
        turn.arrived = time.seconds();
        turn.gateway = door.nextInt(gateways.length);
        turns.add(turn);
        Gateway gateway = gateways[turn.gateway];
        int home = gateway.home(turn);
        if (gateways.length > 1 && home >= 0) {
            homesCompared++;
            homesEqual += gateways[(turn.gateway + 1) % gateways.length].home(turn) == home ? 1 : 0;
        }
        gateway.route(turn);
        turn.wentHome = turn.replica == home;
    }

    void firstToken(Turn turn) {
        if (turn.firstToken < 0) {
            turn.firstToken = time.seconds();
        }
        gateways[turn.gateway].firstToken(turn);
    }

    void ended(Turn turn) {
        turn.ended = time.seconds();
        gateways[turn.gateway].ended(turn);
        turn.whenDone.run();
    }

    /** A replica dies; its requests go to others. */
    void leave(int replica) {
        List<Turn> lost = engines[replica].stop();
        for (Gateway gateway : gateways) {
            gateway.left(replica);
        }
        for (Turn turn : lost) {
            gateways[turn.gateway].ended(turn);
            gateways[turn.gateway].route(turn);
        }
    }

    void join(int replica) {
        engines[replica].up = true;
        for (Gateway gateway : gateways) {
            gateway.joined(replica);
        }
    }
}
