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
import routes.replica.Replica;
import routes.replica.ReplicaAddress;
import routes.replica.Replicas;
import routes.request.PrefixLevels;

/** The choice of a replica in an idle pool, a new key each time. The largest pool that a route may have is 64. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class RendezvousBenchmark {

    private final long[] keys = new Random(7).longs(1024).toArray();

    @Param({"2", "8", "64"})
    public int replicas;

    private final Strategy rule = new FirstFree(FirstFree.Order.RENDEZVOUS);
    private final Choice choice = new Choice();
    private final int[] tokens = {256};
    private final long[] key = new long[1];
    private Replica[] pool = {};
    private int next;

    @Setup(Level.Trial)
    public void fillPool() {
        Replicas registry = new Replicas();
        pool = new Replica[replicas];
        for (int i = 0; i < replicas; i++) {
            pool[i] = registry.replica(ReplicaAddress.parse("http://10.0.0." + i + ":8000"), 256);
        }
    }

    @Benchmark
    public int choose() {
        key[0] = keys[next++ & keys.length - 1];
        return rule.choose(PrefixLevels.of(1, tokens, key, 1024, 0), pool, -1, 1, 0, choice);
    }
}
