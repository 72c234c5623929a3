package routes.request;

import org.jspecify.annotations.Nullable;
import routes.queue.Queue;
import routes.queue.Waiter;
import routes.quota.Grant;
import routes.replica.Replica;

/**
 * All that a request holds and must give back: buffered bytes, what it has reserved of its key's quota, its place in the
 * queue, slots. Given back once, by {@link InferenceRequest#finish}; slots earlier, when an attempt is over.
 *
 * <p><b>Threading:</b> the request's event loop.
 */
public final class Lease {

    private final BodyBudget budget;
    private long bodyBytes;
    private @Nullable Replica slotsOf;
    private int slots;
    private Grant grant = Grant.FREE;
    private @Nullable Queue queue;
    private @Nullable Waiter waiter;
    private boolean closed;

    Lease(BodyBudget budget) {
        this.budget = budget;
    }

    /** Takes room for a body, or for more of it. */
    public boolean tryTakeBody(long bytes) {
        if (closed || !budget.tryTake(bytes)) {
            return false;
        }
        bodyBytes += bytes;
        return true;
    }

    /** The body's memory has been released. */
    public void giveBackBody() {
        long bytes = bodyBytes;
        bodyBytes = 0;
        if (bytes != 0) {
            budget.giveBack(bytes);
        }
    }

    /** Takes the slots of the replica that so many answers need; slots taken before are given back first. */
    public boolean tryTakeSlots(Replica replica, int answers) {
        giveBackSlots();
        int count = replica.slotsFor(answers);
        if (closed || !replica.tryAcquire(count)) {
            return false;
        }
        slotsOf = replica;
        slots = count;
        return true;
    }

    /** The queue has taken the slots of the replica for this request. */
    public void adoptSlots(Replica replica, int answers) {
        giveBackSlots();
        slotsOf = replica;
        slots = replica.slotsFor(answers);
        if (closed) {
            giveBackSlots();
        }
    }

    /** Whether slots of this replica are held. */
    public boolean holdsSlotsOf(Replica replica) {
        return slotsOf == replica;
    }

    public void giveBackSlots() {
        Replica replica = slotsOf;
        slotsOf = null;
        if (replica != null) {
            replica.release(slots);
        }
    }

    /** Owns what the key's quota has granted. */
    public void reserved(Grant granted) {
        grant = granted;
        if (closed) {
            granted.refund();
        }
    }

    /** What the key's quota has granted; {@link Grant#FREE} before, and for a key without limits. */
    public Grant grant() {
        return grant;
    }

    /**
     * Gives back what the next request of this client may need: slots, and one of the key's concurrent requests. Called
     * before the client can see the end, since it may ask again at once.
     */
    public void giveBackPlaces() {
        giveBackSlots();
        grant.releaseConcurrency();
    }

    /** Has a place in the queue until it is served, or leaves. What it was served before came to nothing. */
    public void queues(Queue in, Waiter as) {
        correctQueue(0);
        queue = in;
        waiter = as;
        if (closed) {
            in.leave(as);
        }
    }

    /** What a request from the queue really cost, for the order of those that follow. */
    void correctQueue(long tokens) {
        Queue in = queue;
        Waiter as = waiter;
        if (in != null && as != null) {
            in.correct(as, tokens);
        }
    }

    void close() {
        closed = true;
        Queue in = queue;
        Waiter as = waiter;
        if (in != null && as != null) {
            in.leave(as);
        }
        giveBackPlaces();
        giveBackBody();
    }
}
