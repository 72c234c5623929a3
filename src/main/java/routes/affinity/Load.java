package routes.affinity;

/**
 * One replica as {@link NestedRendezvous} sees it: who it is and how busy.
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
     * Expected time until slots are free: 0 when they are; else such as {@link Backlog#waitNanos} says.
     *
     * @param slots that are needed, {@link #slots()} at most
     */
    long waitNanos(int slots);

    Backlog backlog();
}
