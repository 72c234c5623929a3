package routes.affinity;

import org.jspecify.annotations.Nullable;

/**
 * What {@link NestedRendezvous} has last said about one request, and what its attempt has on a replica's {@link Backlog}.
 *
 * <p><b>Threading:</b> one thread at a time; whoever hands it to another does so under a lock or through a queue.
 * <b>Ownership:</b> the request's; may be used for one attempt after another.
 */
public final class Choice {

    /** Why a replica. */
    public enum Why {
        NOBODY("nobody"),
        /** It is where the prompt's prefix is kept. */
        HOME("home"),
        /** It is the only one that can be asked. */
        ONLY_ONE("only_one"),
        /** Where the prefix is kept can't be asked. */
        HOME_UNAVAILABLE("home_unavailable"),
        /** Where the prefix is kept is so busy that it pays to compute it elsewhere. */
        SPILL_LOAD("spill_load"),
        /** Where the prefix is kept has no slot free, and waiting for one is dearer than to compute it elsewhere. */
        SPILL_FULL("spill_full"),
        /** There is no prefix to keep anywhere. */
        NO_PREFIX("no_prefix");

        private final String text;

        Why(String text) {
            this.text = text;
        }

        /** As in usage lines and metrics. */
        public String text() {
            return text;
        }
    }

    final int answers;

    // ---- written by the rule
    int index = NestedRendezvous.NOBODY;
    int home = NestedRendezvous.NOBODY;
    int warmTokens;
    int uncachedTokens;
    double cost;
    long waitNanos;
    Why why = Why.NOBODY;

    // ---- of the attempt that runs
    private @Nullable Backlog backlog;
    private boolean pending;
    private int sentTokens;
    private long sentNanos;

    /** @param answers slots that the request needs */
    public Choice(int answers) {
        if (answers < 1) {
            throw new IllegalArgumentException("answers: " + answers + " (expected: >= 1)");
        }
        this.answers = answers;
    }

    /** The replica that was chosen; -1 for nobody. */
    public int index() {
        return index;
    }

    /** The replica where the prefix is kept, of those that could be asked; -1 for no prefix. */
    public int home() {
        return home;
    }

    /** Tokens of the prompt that the chosen replica is expected to have cached. */
    public int warmTokens() {
        return warmTokens;
    }

    /** Tokens of the prompt that the chosen replica is expected to compute. */
    public int uncachedTokens() {
        return uncachedTokens;
    }

    /** What the chosen replica costs, in the unit of {@link Tuning.Price}. */
    public double cost() {
        return cost;
    }

    /** Expected wait for the chosen replica's slots; 0 when they are free. */
    public long waitNanos() {
        return waitNanos;
    }

    public Why why() {
        return why;
    }

    void nobody() {
        index = NestedRendezvous.NOBODY;
        home = NestedRendezvous.NOBODY;
        warmTokens = 0;
        uncachedTokens = 0;
        cost = 0;
        waitNanos = 0;
        why = Why.NOBODY;
    }

    // ---- the attempt

    void sent(Backlog to, long nowNanos) {
        ended(nowNanos);
        to.sent(uncachedTokens);
        backlog = to;
        pending = true;
        sentTokens = uncachedTokens;
        sentNanos = nowNanos;
    }

    /** The attempt's first token has come: its prompt is no longer to be computed. Counts once. */
    public void firstToken() {
        Backlog of = backlog;
        if (of != null && pending) {
            pending = false;
            of.answered(sentTokens);
        }
    }

    /** The attempt has ended, however it did. Counts once. */
    public void ended(long nowNanos) {
        firstToken();
        Backlog of = backlog;
        backlog = null;
        if (of != null) {
            of.held(Math.max(0, nowNanos - sentNanos));
        }
    }
}
