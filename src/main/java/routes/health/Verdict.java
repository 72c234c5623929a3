package routes.health;

/**
 * What the answers to a replica's probes add up to. The first answer decides at once; after it, misses in a row take the
 * replica out and hits in a row bring it back.
 *
 * <p><b>Threading:</b> one thread at a time.
 */
final class Verdict {

    /** What an answer has changed. */
    enum Change {
        NONE,
        /** It can serve, for the first time. */
        UP,
        /** It can serve again. */
        BACK,
        DOWN
    }

    private enum State {
        UNKNOWN,
        UP,
        DOWN
    }

    private final int misses;
    private final int hits;
    private State state = State.UNKNOWN;
    private boolean wasUp;
    private int inARow;

    /**
     * @param misses in a row until it is down
     * @param hits in a row until it is up again
     */
    Verdict(int misses, int hits) {
        this.misses = misses;
        this.hits = hits;
    }

    Change hit() {
        if (state == State.UP) {
            inARow = 0;
            return Change.NONE;
        }
        if (state == State.DOWN && ++inARow < hits) {
            return Change.NONE;
        }
        Change change = wasUp ? Change.BACK : Change.UP;
        enter(State.UP);
        wasUp = true;
        return change;
    }

    Change miss() {
        if (state == State.DOWN) {
            inARow = 0;
            return Change.NONE;
        }
        if (state == State.UP && ++inARow < misses) {
            return Change.NONE;
        }
        enter(State.DOWN);
        return Change.DOWN;
    }

    private void enter(State next) {
        state = next;
        inARow = 0;
    }
}
