package routes.affinity;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import routes.queue.Pool;

/**
 * What the gateway knows of its models' prefixes: one strategy for each model and way of choosing, kept for as long as the
 * gateway runs, whatever routes come and go.
 *
 * <p><b>Threading:</b> any thread; not asked by each request.
 */
public final class Affinities implements MeterBinder {

    /** How the balancers of one model choose. */
    record OfPool(Pool pool, Strategy strategy, AffinityCounts counts) {}

    private record Key(String pool, Way way) {}

    /** A way of choosing; {@code tuning} counts for nested rendezvous only. */
    record Way(Strategies strategy, Tuning tuning) {}

    private final LongSupplier nanos;
    private final Map<Key, Strategy> strategies = new LinkedHashMap<>();
    private final Map<String, AffinityCounts> counts = new LinkedHashMap<>();
    private final List<MeterRegistry> registries = new ArrayList<>();

    /** @param nanos a monotonic clock */
    public Affinities(LongSupplier nanos) {
        this.nanos = nanos;
    }

    synchronized OfPool of(Pool pool, Way way) {
        AffinityCounts of = counts.get(pool.name());
        if (of == null) {
            of = new AffinityCounts();
            counts.put(pool.name(), of);
            for (MeterRegistry registry : registries) {
                of.bindTo(registry, pool.name());
            }
        }
        Strategy strategy = strategies.computeIfAbsent(
                new Key(pool.name(), way), key -> way.strategy().create(way.tuning(), nanos.getAsLong()));
        return new OfPool(pool, strategy, of);
    }

    /** Why requests went where they did, and how much of their prompts was cached there; models of later routes included. */
    @Override
    public synchronized void bindTo(MeterRegistry registry) {
        registries.add(registry);
        counts.forEach((pool, of) -> of.bindTo(registry, pool));
    }

    /** What choices came to, by model. */
    synchronized Map<String, AffinityCounts> counts() {
        return new LinkedHashMap<>(counts);
    }

    /** The prefixes of each model that are used most; models with nested rendezvous only. */
    public Map<String, List<HotPrefix>> hottest(int most) {
        Map<String, NestedRendezvous> nested = new LinkedHashMap<>();
        synchronized (this) {
            strategies.forEach((key, strategy) -> {
                if (strategy instanceof NestedRendezvous rule) {
                    nested.put(key.pool, rule);
                }
            });
        }
        Map<String, List<HotPrefix>> hottest = new LinkedHashMap<>();
        nested.forEach((pool, rule) -> hottest.put(pool, rule.hottest(most, nanos.getAsLong())));
        return hottest;
    }
}
