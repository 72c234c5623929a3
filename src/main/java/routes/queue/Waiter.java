package routes.queue;

import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import routes.replica.Replica;

/**
 * One request's wish for slots of one of several replicas.
 *
 * <p><b>Threading:</b> made, {@link Queue#leave left} and {@link #granted} on its own event loop; its state is guarded by the
 * queue's lock. <b>Ownership:</b> owns its place in the queue, and the slots from their grant until {@link #granted} has
 * been called.
 */
public abstract class Waiter {

    /**
     * What is asked for.
     *
     * @param candidates the replicas that may be chosen
     * @param answers slots that are needed, all of one replica ({@link Replica#slotsFor})
     * @param bytes memory that is held while waiting
     * @param again whether this request has waited or run before and goes first among its tenant's
     */
    public record Wish(Candidates candidates, int answers, long bytes, boolean again) {

        /** A wish of its own, for replicas that never change. */
        public Wish(List<Replica> candidates, int answers, long bytes, boolean again) {
            this(new Candidates(candidates), answers, bytes, again);
        }
    }

    /**
     * Who asks.
     *
     * @param priority class; a lower one is served before every higher one
     * @param tenant among whom the class is shared
     * @param weight the tenant's share, 1 or more
     * @param tokens what the request will cost, as far as it can be known
     */
    public record Claim(int priority, String tenant, int weight, long tokens) {}

    enum State {
        NEW,
        WAITING,
        GRANTED,
        OVER
    }

    final Wish wish;
    final Claim claim;
    final Executor loop;

    // ---- guarded by the queue's lock
    State state = State.NEW;

    @Nullable
    Pool pool;

    @Nullable
    Line line;

    @Nullable
    Waiter previous;

    @Nullable
    Waiter next;

    /** What {@link #granted} is told. */
    int answer;

    /** Whose slots are granted, or are being gathered. */
    @Nullable
    Replica replica;

    int overtaken;
    int gathered;
    boolean charged;
    long sinceNanos;

    /** @param loop where {@link #granted} is called */
    protected Waiter(Wish wish, Claim claim, Executor loop) {
        this.wish = wish;
        this.claim = claim;
        this.loop = loop;
    }

    /**
     * The rule of who goes where. Has no side effects and is asked again whenever something may have changed; called under
     * the queue's lock, so it must be quick and take no lock.
     *
     * @param slots that are needed; 0 for what it would like best if every candidate had room
     * @return index of a candidate that has room; {@link Queue#WAIT} when none has; {@link Queue#NOBODY} when there is no
     *     use in waiting
     */
    protected abstract int choose(int slots);

    /**
     * The wait is over.
     *
     * @param answer index of the candidate whose slots are the request's ({@link #grantedReplica}), which takes ownership of them;
     *     {@link Queue#NOBODY} when there is no use in waiting any more
     */
    protected abstract void granted(int answer);

    /** Whose slots were granted; null before, and when none were. */
    protected final @Nullable Replica grantedReplica() {
        return replica;
    }
}
