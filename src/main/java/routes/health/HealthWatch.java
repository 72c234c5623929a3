package routes.health;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import routes.net.EventLoops;
import routes.replica.Replica;
import routes.replica.Replicas;

/**
 * Watches every replica that there is: probes its health and reads its load, each replica by its own clock and all of them on
 * the one event loop beside those of the requests. What it finds stands in the {@link Replica}.
 *
 * <p><b>Threading:</b> any thread; the work is confined to {@link EventLoops#watch}. <b>Ownership:</b> {@link #close} ends all
 * probes and their connections, before the event loops are closed.
 */
public final class HealthWatch implements Replicas.Listener, AutoCloseable {

    private static final long CLOSE_SECONDS = 1;

    private final EventLoop loop;
    private final WatchSettings settings;
    /** Changed on the loop only. */
    private final Map<Replica, ReplicaWatch> watches = new ConcurrentHashMap<>();

    private boolean closed;

    public HealthWatch(EventLoops loops, WatchSettings settings) {
        this.loop = loops.watch();
        this.settings = settings;
    }

    @Override
    public void added(Replica replica) {
        execute(() -> {
            if (!closed && !watches.containsKey(replica)) {
                ReplicaWatch watch = new ReplicaWatch(replica, loop, settings);
                watches.put(replica, watch);
                watch.begin();
            }
        });
    }

    @Override
    public void removed(Replica replica) {
        execute(() -> {
            ReplicaWatch watch = watches.remove(replica);
            if (watch != null) {
                watch.close();
            }
        });
    }

    /** What the replica last reported about its load, however old. */
    public Optional<LoadReading> reading(Replica replica) {
        ReplicaWatch watch = watches.get(replica);
        return watch == null ? Optional.empty() : Optional.ofNullable(watch.reading());
    }

    /** Ends all probes. */
    @Override
    public void close() {
        Future<?> ended = execute(() -> {
            closed = true;
            watches.values().forEach(ReplicaWatch::close);
            watches.clear();
        });
        if (!loop.inEventLoop()) {
            ended.awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS);
        }
    }

    /** When the loop has ended its connections have too. */
    private Future<?> execute(Runnable work) {
        try {
            return loop.submit(work);
        } catch (RejectedExecutionException e) {
            return loop.newSucceededFuture(null);
        }
    }
}
