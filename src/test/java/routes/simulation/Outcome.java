package routes.simulation;

import java.util.Arrays;
import java.util.List;

/**
 * What a run gave, its first quarter aside. Those that have no first token when it ends count as if they got it then.
 *
 * @param hitShare cached share of prompt tokens
 * @param ttftP50 seconds
 * @param ttftP99 seconds
 * @param perSecond answers completed in a second
 * @param uncached tokens computed for a prompt, mean
 * @param agreement share of requests for which two gateways name the same home
 * @param homeShare share of requests that went home
 */
record Outcome(
        double hitShare,
        double ttftP50,
        double ttftP99,
        double perSecond,
        double uncached,
        double agreement,
        double homeShare) {

    static Outcome of(Fleet fleet) {
        double end = fleet.setup.seconds();
        double warm = end / 4;
        double[] waits = new double[fleet.turns.size()];
        int count = 0;
        int admitted = 0;
        int done = 0;
        int home = 0;
        double cached = 0;
        double tokens = 0;
        for (Turn turn : fleet.turns) {
            done += turn.ended >= warm ? 1 : 0;
            if (turn.arrived < warm || turn.arrived > end - 2) {
                continue;
            }
            waits[count++] = (turn.firstToken < 0 ? end : turn.firstToken) - turn.arrived;
            home += turn.wentHome ? 1 : 0;
            if (turn.cachedTokens >= 0) {
                admitted++;
                cached += turn.cachedTokens;
                tokens += turn.promptTokens();
            }
        }
        Arrays.sort(waits, 0, count);
        return new Outcome(
                cached / tokens,
                waits[count / 2],
                waits[(int) (count * 0.99)],
                done / (end - warm),
                (tokens - cached) / admitted,
                fleet.homesEqual / (double) Math.max(1, fleet.homesCompared),
                home / (double) count);
    }

    static Outcome mean(List<Outcome> of) {
        return new Outcome(
                of.stream().mapToDouble(Outcome::hitShare).average().orElseThrow(),
                of.stream().mapToDouble(Outcome::ttftP50).average().orElseThrow(),
                of.stream().mapToDouble(Outcome::ttftP99).average().orElseThrow(),
                of.stream().mapToDouble(Outcome::perSecond).average().orElseThrow(),
                of.stream().mapToDouble(Outcome::uncached).average().orElseThrow(),
                of.stream().mapToDouble(Outcome::agreement).average().orElseThrow(),
                of.stream().mapToDouble(Outcome::homeShare).average().orElseThrow());
    }
}
