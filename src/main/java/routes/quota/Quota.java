package routes.quota;

import org.jspecify.annotations.Nullable;
import routes.error.GatewayException;
import routes.quota.Meter.Level;

/**
 * What one key is allowed, by its own terms and by those that it shares with the other keys of its tenant.
 *
 * <p><b>Threading:</b> any thread. A decision holds the account of the key and then that of the tenant, for some tens of
 * nanoseconds, however many keys there are.
 */
public final class Quota {

    /** That of a key without limits. */
    public static final Quota UNLIMITED = new Quota(null, null, null, Prices.NONE, Standing.DEFAULT);

    private static final long MOST_TOKENS = 1L << 40;

    private final @Nullable Quotas quotas;
    private final @Nullable Holder first;
    private final @Nullable Holder second;
    private final Prices prices;
    private final Standing standing;
    private final boolean endsStreams;

    /**
     * @param quotas whose clocks are used; null without limits
     * @param key null when the key has no limits of its own
     * @param tenant null when its tenant has none
     */
    Quota(@Nullable Quotas quotas, @Nullable Holder key, @Nullable Holder tenant, Prices prices, Standing standing) {
        this.quotas = quotas;
        first = key == null ? tenant : key;
        second = key == null ? null : tenant;
        this.prices = prices;
        this.standing = standing;
        endsStreams = standing.endsStreams() && (haveBudget(first) || haveBudget(second));
    }

    private static boolean haveBudget(@Nullable Holder holder) {
        return holder != null && holder.terms().haveBudget();
    }

    /** Class in the queue: a lower one is served before every higher one. */
    public int priority() {
        return standing.priority();
    }

    /** Share of the queue, 1 or more. */
    public int weight() {
        return standing.weight();
    }

    /** Whether a running stream is to be ended when a budget is used up: {@link Grant#spend} then tells. */
    public boolean endsStreams() {
        return endsStreams;
    }

    /**
     * Refuses what would be refused whatever the body says: one request with the smallest prompt. Takes nothing.
     *
     * @throws GatewayException as {@link #reserve}
     */
    public void precheck() throws GatewayException {
        Quotas in = quotas;
        if (in != null) {
            decide(in.ask(1, 1, prices.leastCost()), null);
        }
    }

    /**
     * Takes all that a request needs, from the key and from its tenant, or nothing.
     *
     * @param model the model's own name
     * @param n answers asked for, each counted as a request, 1 or more
     * @param promptTokens estimate; replaced by what {@link Grant#settle} says
     * @return owned by the request, which gives it back once
     * @throws GatewayException code {@code rate_limit_exceeded}, {@code token_limit_exceeded},
     *     {@code concurrency_limit_exceeded} or {@code budget_exhausted}: of all limits that refuse it, the one that takes
     *     longest to pass. {@code Retry-After} is the time until it would be admitted if nobody else came; it is left out
     *     where the request is larger than the limit
     */
    public Grant reserve(String model, int n, long promptTokens) throws GatewayException {
        Quotas in = quotas;
        if (in == null) {
            return Grant.FREE;
        }
        Price price = prices.of(model);
        long tokens = Math.max(1, Math.min(promptTokens, MOST_TOKENS));
        Ask ask = in.ask(Math.max(1, n), tokens, price.atLeast(tokens));
        Grant grant = new Grant(this, price, ask);
        decide(ask, grant);
        in.began();
        return grant;
    }

    @Nullable
    Quotas quotas() {
        return quotas;
    }

    /** The key when it has limits, else the tenant; null when neither has. */
    @Nullable
    Holder first() {
        return first;
    }

    /** The tenant when both have limits. */
    @Nullable
    Holder second() {
        return second;
    }

    /** @param grant null to decide only */
    private void decide(Ask ask, @Nullable Grant grant) throws GatewayException {
        Holder one = first;
        Holder two = second;
        if (one == null) {
            return;
        }
        Refusal refusal;
        Level requests;
        Level tokens;
        synchronized (one.account()) {
            if (two == null) {
                refusal = one.check(ask, null);
                if (refusal == null) {
                    take(one, ask, grant);
                    return;
                }
                requests = requests(one, ask, null);
                tokens = tokens(one, ask, null);
            } else {
                synchronized (two.account()) {
                    refusal = two.check(ask, one.check(ask, null));
                    if (refusal == null) {
                        take(one, ask, grant);
                        if (grant != null) {
                            two.take(ask);
                        }
                        return;
                    }
                    requests = requests(two, ask, requests(one, ask, null));
                    tokens = tokens(two, ask, tokens(one, ask, null));
                }
            }
        }
        Quotas in = quotas;
        if (in != null) {
            in.refused(refusal.term());
        }
        throw RefusalText.exception(refusal, ask, requests, tokens);
    }

    private static void take(Holder holder, Ask ask, @Nullable Grant grant) {
        if (grant != null) {
            holder.take(ask);
            grant.taken(holder.account().today());
        }
    }

    private static @Nullable Level requests(Holder holder, Ask ask, @Nullable Level other) {
        long limit = holder.terms().requestsPerMinute;
        return limit == Terms.UNLIMITED ? other : less(holder.account().requests.level(limit, ask.nanos()), other);
    }

    private static @Nullable Level tokens(Holder holder, Ask ask, @Nullable Level other) {
        long limit = holder.terms().tokensPerMinute;
        return limit == Terms.UNLIMITED ? other : less(holder.account().tokens.level(limit, ask.nanos()), other);
    }

    private static Level less(Level level, @Nullable Level other) {
        return other == null || level.remaining() < other.remaining() ? level : other;
    }
}
