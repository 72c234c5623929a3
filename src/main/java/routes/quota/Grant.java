package routes.quota;

/**
 * What one request has reserved. Ends in {@link #settle} or in {@link #refund}; only the first of them counts, and each
 * ends the request's concurrency too.
 *
 * <p><b>Threading:</b> any thread. Its own monitor guards its fields and is never held together with an account's.
 */
public final class Grant {

    /** That of a request without limits: nothing is reserved, and all calls do nothing. */
    public static final Grant FREE = new Grant(Quota.UNLIMITED, Price.FREE, new Ask(0, 0, 0, 0, 0));

    private final Quota quota;
    private final Price price;
    private final Ask ask;
    private Today since = Today.NEVER;
    private boolean isRunning;
    private boolean isOpen;
    private long tokens;
    private long money;
    private long completionTokens;

    Grant(Quota quota, Price price, Ask ask) {
        this.quota = quota;
        this.price = price;
        this.ask = ask;
        tokens = ask.tokens();
        money = ask.money();
    }

    /** Everything has been taken. */
    void taken(Today on) {
        since = on;
        isRunning = true;
        isOpen = true;
    }

    /** The estimate that was reserved; for {@link #settle} when the replica told no better. */
    public long promptTokens() {
        return ask.tokens();
    }

    /** Whether a running stream is to be ended when a budget is used up: {@link #spend} then tells. */
    public boolean endsStream() {
        return quota.endsStreams();
    }

    /**
     * Charges tokens of a running answer to the budgets before it has ended. Does nothing unless {@link #endsStream()}.
     *
     * @param more tokens since the last call
     * @return false when a budget of the key or of its tenant is used up, by this request or by others
     */
    public boolean spend(long more) {
        Quotas in = quota.quotas();
        if (in == null || !quota.endsStreams()) {
            return true;
        }
        Ask difference;
        synchronized (this) {
            if (!isOpen) {
                return true;
            }
            completionTokens += more;
            long cost = Math.max(money, price.cost(ask.tokens(), 0, completionTokens));
            difference = in.ask(0, more, cost - money);
            tokens += more;
            money = cost;
        }
        return charge(difference);
    }

    /**
     * Replaces the estimate by what was really used, which may be more than was left.
     *
     * @param cachedTokens how many of the prompt's tokens the replica found in its cache; 0 when it doesn't tell
     */
    public void settle(long promptTokens, long cachedTokens, long completion) {
        long prompt = Math.max(0, promptTokens);
        long cached = Math.max(0, Math.min(cachedTokens, prompt));
        long answer = Math.max(0, completion);
        close(0, prompt + answer, price.cost(prompt, cached, answer));
    }

    /** Gives everything back: the request was refused later, and costs nothing. */
    public void refund() {
        close(-ask.requests(), 0, 0);
    }

    private void close(int requests, long finalTokens, long finalMoney) {
        Quotas in = quota.quotas();
        if (in == null) {
            return;
        }
        Ask difference;
        synchronized (this) {
            if (!isOpen) {
                return;
            }
            isOpen = false;
            difference = in.ask(requests, finalTokens - tokens, finalMoney - money);
        }
        charge(difference);
        releaseConcurrency();
    }

    private boolean charge(Ask difference) {
        Holder first = quota.first();
        Holder second = quota.second();
        boolean lasts = first == null || first.add(difference, since);
        return (second == null || second.add(difference, since)) && lasts;
    }

    /** Lets another request begin: to be called before the client can see the end. Later calls do nothing. */
    public void releaseConcurrency() {
        synchronized (this) {
            if (!isRunning) {
                return;
            }
            isRunning = false;
        }
        Holder first = quota.first();
        Holder second = quota.second();
        if (first != null) {
            first.end();
        }
        if (second != null) {
            second.end();
        }
        Quotas in = quota.quotas();
        if (in != null) {
            in.ended();
        }
    }
}
