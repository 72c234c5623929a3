package routes.health;

import io.netty.channel.EventLoop;
import org.jspecify.annotations.Nullable;
import routes.replica.Replica;

/**
 * All that is asked of one replica.
 *
 * <p><b>Threading:</b> confined to the watch loop, but for {@link #reading}.
 */
final class ReplicaWatch implements AutoCloseable {

    private final Replica replica;
    private final @Nullable HealthProbe health;
    private final @Nullable LoadProbe load;

    ReplicaWatch(Replica replica, EventLoop loop, WatchSettings settings) {
        this.replica = replica;
        this.health = replica.options().health().isProbed() ? new HealthProbe(replica, loop, settings) : null;
        this.load = replica.options().loadPath().isEmpty() ? null : new LoadProbe(replica, loop, settings);
    }

    void begin() {
        if (health != null) {
            health.begin();
        }
        if (load != null) {
            load.begin();
        }
    }

    @Nullable
    LoadReading reading() {
        return load == null ? null : load.reading();
    }

    /** From now on nothing limits the slots of the replica; whether it is up stays as it is. */
    @Override
    public void close() {
        if (health != null) {
            health.close();
            replica.limit(replica.slots());
        }
        if (load != null) {
            load.close();
            replica.foreign(0, 0);
        }
    }
}
