package routes.request;

import org.jspecify.annotations.Nullable;
import routes.replica.Replica;

/**
 * All that a request holds and must give back: buffered bytes and a slot. Given back once, by
 * {@link InferenceRequest#finish}; a slot earlier, when an attempt is over.
 *
 * <p><b>Threading:</b> the request's event loop.
 */
public final class Lease {

    private final BodyBudget budget;
    private long bodyBytes;
    private @Nullable Replica slotOf;
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

    /** Takes a slot of the replica; a slot taken before is given back first. */
    public boolean tryTakeSlot(Replica replica) {
        giveBackSlot();
        if (closed || !replica.tryAcquire()) {
            return false;
        }
        slotOf = replica;
        return true;
    }

    /** Whether a slot of this replica is held. */
    public boolean holdsSlotOf(Replica replica) {
        return slotOf == replica;
    }

    public void giveBackSlot() {
        Replica replica = slotOf;
        slotOf = null;
        if (replica != null) {
            replica.release();
        }
    }

    void close() {
        closed = true;
        giveBackSlot();
        giveBackBody();
    }
}
