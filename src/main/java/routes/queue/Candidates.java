package routes.queue;

import java.util.List;
import routes.replica.Replica;

/**
 * The replicas that the requests of one route may go to: one object for all of them, so that those who wait see who joins
 * and who leaves.
 *
 * <p><b>Threading:</b> any thread reads; {@link Queue#change} writes.
 */
public final class Candidates {

    private volatile List<Replica> now;
    private volatile Replica[] replicas;

    public Candidates(List<Replica> now) {
        this.now = List.copyOf(now);
        this.replicas = now.toArray(new Replica[0]);
    }

    /** Those that there are now. */
    public List<Replica> now() {
        return now;
    }

    /** The same, for a rule that looks at each; never written to. */
    public Replica[] replicas() {
        return replicas;
    }

    /** Under the queue's lock. */
    void now(List<Replica> next) {
        now = List.copyOf(next);
        replicas = next.toArray(new Replica[0]);
    }
}
