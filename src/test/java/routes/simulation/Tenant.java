package routes.simulation;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** One tenant of a run: what it asks for, and what it got. */
final class Tenant {

    final String name;
    final int weight;
    final List<Double> waits = new ArrayList<>();
    long tokensServed;
    int asked;

    Tenant(String name, int weight) {
        this.name = name;
        this.weight = weight;
    }

    /** Seconds that requests waited, those that ran at once included. */
    double waited(double quantile) {
        if (waits.isEmpty()) {
            return Double.NaN;
        }
        List<Double> sorted = new ArrayList<>(waits);
        Collections.sort(sorted);
        return sorted.get((int) Math.min(sorted.size() - 1L, Math.round(quantile * (sorted.size() - 1))));
    }
}
