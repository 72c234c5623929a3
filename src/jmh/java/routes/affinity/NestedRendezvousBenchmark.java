package routes.affinity;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import routes.replica.Backlog;
import routes.replica.Load;
import routes.request.PrefixLevels;

/**
 * The choice of a replica among busy ones, for prompts of as many levels. The first level is everybody's, each further one is
 * of half as many; so the way leads through all sizes of home sets, and to prefixes all over the table.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class NestedRendezvousBenchmark {

    private static final int PROMPTS = 4096;

    private record Busy(long hash, int inFlight, Backlog backlog) implements Load {
        @Override
        public int slots() {
            return 64;
        }

        @Override
        public int foreign() {
            return 2;
        }

        @Override
        public int foreignWaiting() {
            return 1;
        }

        @Override
        public long waitNanos(int slots, int ahead) {
            return 0;
        }

        @Override
        public int awaited() {
            return 0;
        }

        @Override
        public void awaited(int more) {}
    }

    @Param({"2x1", "8x10", "32x10", "64x24"})
    public String replicasByLevels = "";

    private final PrefixLevels[] prompts = new PrefixLevels[PROMPTS];
    private final Choice choice = new Choice();
    private NestedRendezvous rule = new NestedRendezvous(Tuning.DEFAULTS, 0);
    private Load[] pool = {};
    private long now;
    private int next;

    @Setup(Level.Trial)
    public void fill() {
        int by = replicasByLevels.indexOf('x');
        int replicas = Integer.parseInt(replicasByLevels, 0, by, 10);
        int levels = Integer.parseInt(replicasByLevels, by + 1, replicasByLevels.length(), 10);
        Random random = new Random(7);
        pool = new Load[replicas];
        for (int i = 0; i < replicas; i++) {
            Backlog backlog = new Backlog();
            backlog.sent(random.nextInt(4000));
            pool[i] = new Busy(random.nextLong(), random.nextInt(40), backlog);
        }
        for (int i = 0; i < PROMPTS; i++) {
            prompts[i] = prompt(i, levels);
        }
        rule = new NestedRendezvous(Tuning.DEFAULTS, 0);
        for (int i = 0; i < 10 * PROMPTS; i++) {
            now += TimeUnit.MILLISECONDS.toNanos(20);
            PrefixLevels prompt = prompts[i % PROMPTS];
            rule.dispatched(prompt, pool[rule.choose(prompt, pool, -1, 1, now, choice)], choice, now);
            choice.ended(now);
        }
    }

    private static PrefixLevels prompt(int number, int levels) {
        int[] tokens = new int[levels];
        long[] hashes = new long[levels];
        for (int level = 0; level < levels; level++) {
            tokens[level] = 256 * (level + 1);
            hashes[level] = Strategy.mix(level, number & (1 << Math.min(level, 12)) - 1) | 1;
        }
        return PrefixLevels.of(levels, tokens, hashes, 256 * levels + 300, 0);
    }

    @Benchmark
    public int choose() {
        return rule.choose(prompts[next++ & PROMPTS - 1], pool, -1, 1, now, choice);
    }

    @Benchmark
    public int chooseWithoutHome() {
        return rule.choose(prompts[next++ & PROMPTS - 1], pool, -2, 1, now, choice);
    }

    @Benchmark
    public int chooseAndDispatch() {
        PrefixLevels prompt = prompts[next++ & PROMPTS - 1];
        int chosen = rule.choose(prompt, pool, -1, 1, now, choice);
        rule.dispatched(prompt, pool[chosen], choice, now);
        choice.ended(now);
        return chosen;
    }
}
