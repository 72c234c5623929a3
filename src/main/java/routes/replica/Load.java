package routes.replica;

/**
 * One replica as a rule of choice sees it: who it is and how busy.
 *
 * <p><b>Threading:</b> any thread, and without a lock: asked under the queue's.
 */
public interface Load {

    /** Hash of its identity, the same in every gateway. */
    long hash();

    /** Requests that it can run at once. */
    int slots();

    /** This gateway's requests there. */
    int inFlight();

    /** Requests there that are not this gateway's, as last reported; 0 when that isn't known. */
    int foreign();

    /** Requests that wait in the replica beyond those of {@link #backlog} at the time of the report. */
    int foreignWaiting();

    /**
     * Expected time until slots are free: 0 when they are and nobody waits for them; else such as {@link Backlog#waitNanos} says.
     *
     * @param slots that are needed, {@link #slots()} at most
     * @param ahead slots that others wait for and get first
     */
    long waitNanos(int slots, int ahead);

    /** Slots of this replica that requests in this gateway's queue hope for. */
    int awaited();

    /** More or fewer of them. */
    void awaited(int more);

    Backlog backlog();
}
