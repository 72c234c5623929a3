package routes.simulation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Runs of the fleet with several seeds; each is made once. */
final class Trials {

    static final double LOAD = 0.8;
    static final int GATEWAYS = 2;

    private final int seeds;
    private final double seconds;
    private final Map<List<Object>, Outcome> known = new HashMap<>();

    Trials(int seeds, double seconds) {
        this.seeds = seeds;
        this.seconds = seconds;
    }

    Outcome of(Rule rule, Workload workload) {
        return of(rule, workload, LOAD, GATEWAYS);
    }

    Outcome of(Rule rule, Workload workload, double load, int gateways) {
        List<Object> key = List.of(rule, workload, load, gateways);
        @Nullable Outcome outcome = known.get(key);
        if (outcome == null) {
            List<Outcome> all = new ArrayList<>();
            for (long seed = 1; seed <= seeds; seed++) {
                all.add(Fleet.run(new Fleet.Setup(workload, load, gateways, seed, seconds), rule));
            }
            outcome = Outcome.mean(all);
            known.put(key, outcome);
        }
        return outcome;
    }

    void forget() {
        known.clear();
    }
}
