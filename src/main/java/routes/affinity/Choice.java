package routes.affinity;

import org.jspecify.annotations.Nullable;
import routes.replica.Backlog;
import routes.replica.Load;

/**
 * What a {@link Strategy} has last said about one request, and what its attempt has on a replica's {@link Backlog}.
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
        NO_PREFIX("no_prefix"),
        /** The balancer doesn't look at prefixes: whose turn it is, or who has least to do. */
        BALANCED("balanced");

        private final String text;

        Why(String text) {
            this.text = text;
        }

        /** As in usage lines and metrics. */
        public String text() {
            return text;
        }
    }

    // ---- written by the rule
    int index = Strategy.NOBODY;
    int home = Strategy.NOBODY;
    int warmTokens;
    int computedTokens;
    int age;
    int uncachedTokens;
    double cost;
    long waitNanos;
    Why why = Why.NOBODY;

    // ---- of the attempt that runs
    private @Nullable Backlog backlog;
    private boolean pending;
    private int sentTokens;
    private long sentNanos;

    // ---- of a request that waits in the queue
    private @Nullable Load hope;
    private int hopedSlots;
    private int ahead;
    private long overdueNanos;
    private boolean impatient;

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

    // ---- waiting

    /** It waits for so many slots of this replica; null for it waits no more. */
    public void hopesFor(@Nullable Load replica, int slots) {
        Load before = hope;
        if (before == replica) {
            return;
        }
        if (before != null) {
            before.awaited(-hopedSlots);
        }
        hope = replica;
        hopedSlots = slots;
        overdueNanos = 0;
        if (replica != null) {
            ahead = replica.awaited();
            replica.awaited(slots);
        }
    }

    /** Slots that others get first at a replica. */
    int ahead(Load replica) {
        return replica == hope ? Math.min(ahead, replica.awaited()) : replica.awaited();
    }

    /** It has waited so long, which is longer than was expected: it may take as long again. */
    public void isOverdue(long waitedNanos) {
        overdueNanos = waitedNanos;
    }

    /** Expected wait for a replica, where others that it may choose know better. */
    long waitNanos(Load replica, long expected) {
        return replica == hope ? Math.max(expected, overdueNanos) : expected;
    }

    /** It can't wait: a free slot anywhere is better from now on. */
    public void losesPatience() {
        impatient = true;
    }

    boolean isImpatient() {
        return impatient;
    }

    void nobody() {
        index = Strategy.NOBODY;
        home = Strategy.NOBODY;
        warmTokens = 0;
        computedTokens = 0;
        age = Warmth.UNKNOWN_AGE;
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
        boolean answered = !pending;
        firstToken();
        Backlog of = backlog;
        backlog = null;
        if (of != null && answered) {
            of.held(Math.max(0, nowNanos - sentNanos));
        }
    }
}
