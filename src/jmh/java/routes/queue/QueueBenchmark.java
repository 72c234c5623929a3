package routes.queue;

import java.util.ArrayDeque;
import java.util.List;
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

/** The queue while it is long: two replicas, both full, a hundred waiters of each tenant at most. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class QueueBenchmark {

    @Param({"100", "10000"})
    public int waiters;

    private final ArrayDeque<Runnable> loop = new ArrayDeque<>();
    private final Random random = new Random(7);
    private final Queue queue = new Queue(System::nanoTime);
    private final Pool pool = queue.pool("m1");
    private List<Replica> replicas = List.of();
    private int turn;

    @Setup(Level.Trial)
    public void fillQueue() {
        pool.bounds(new Pool.Bounds(1_000_000, Long.MAX_VALUE, Pool.Bounds.DEFAULT.timeout()));
        Replicas registry = new Replicas(queue::freed);
        replicas = List.of(
                registry.replica(ReplicaAddress.parse("http://10.0.0.1:8000"), 64),
                registry.replica(ReplicaAddress.parse("http://10.0.0.2:8000"), 64));
        for (int i = 0; i < waiters + 128; i++) {
            queue.enter(pool, new Entry());
        }
    }

    /** One comes and leaves again. */
    @Benchmark
    public boolean enterAndLeave() {
        Entry entry = new Entry();
        queue.enter(pool, entry);
        return queue.leave(entry);
    }

    /** A slot is given back, the next waiter gets it and wakes up, another comes. */
    @Benchmark
    public int releaseGrantAndEnter() {
        replicas.get(turn++ & 1).release(1);
        for (Runnable task = loop.poll(); task != null; task = loop.poll()) {
            task.run();
        }
        return queue.enter(pool, new Entry());
    }

    private final class Entry extends Waiter {
        Entry() {
            super(
                    new Wish(QueueBenchmark.this.replicas, 1, 1000, false),
                    new Claim(0, "tenant-" + random.nextInt(Math.max(1, waiters / 10)), 1, 500),
                    QueueBenchmark.this.loop::add);
        }

        @Override
        protected int choose(int slots) {
            for (int i = 0; i < wish.candidates().now().size(); i++) {
                if (wish.candidates().now().get(i).hasFree(Math.max(1, slots))) {
                    return i;
                }
            }
            return Queue.WAIT;
        }

        @Override
        protected void granted(int candidate) {}
    }
}
