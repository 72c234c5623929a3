package routes.quota;

import org.jspecify.annotations.Nullable;

/**
 * A key or a tenant that is limited: its terms and its account.
 *
 * <p><b>Threading:</b> callers hold the account's monitor, except for {@link #end} and {@link #add}, which take it.
 */
record Holder(boolean isTenant, Terms terms, Account account) {

    /** How long to wait for one of the running requests to end, when nobody knows. */
    private static final long UNTIL_ONE_ENDS_NANOS = 1_000_000_000L;

    /** The refusal that takes longest to pass, of this one's limits and what was found before; null when all admit. */
    @Nullable
    Refusal check(Ask ask, @Nullable Refusal before) {
        Account now = account;
        now.turnTo(ask.millis());
        Refusal found = before;
        long wait = now.requests.waitFor(ask.requests(), terms.requestsPerMinute, ask.nanos());
        if (wait != 0) {
            found = worse(found, Term.REQUESTS_PER_MINUTE, wait);
        }
        wait = now.tokens.waitFor(ask.tokens(), terms.tokensPerMinute, ask.nanos());
        if (wait != 0) {
            found = worse(found, Term.TOKENS_PER_MINUTE, wait);
        }
        if (now.running() >= terms.concurrentRequests) {
            found = worse(found, Term.CONCURRENT_REQUESTS, UNTIL_ONE_ENDS_NANOS);
        }
        if (!now.day.hasTokens(ask.tokens(), terms.tokensPerDay)) {
            found = dayIsOver(found, Term.TOKENS_PER_DAY, ask.tokens(), ask);
        }
        if (!now.day.hasMoney(ask.money(), terms.moneyPerDay)) {
            found = dayIsOver(found, Term.MONEY_PER_DAY, ask.money(), ask);
        }
        if (!now.month.hasTokens(ask.tokens(), terms.tokensPerMonth)) {
            found = monthIsOver(found, Term.TOKENS_PER_MONTH, ask.tokens(), ask);
        }
        if (!now.month.hasMoney(ask.money(), terms.moneyPerMonth)) {
            found = monthIsOver(found, Term.MONEY_PER_MONTH, ask.money(), ask);
        }
        return found;
    }

    private Refusal dayIsOver(@Nullable Refusal found, Term term, long asked, Ask ask) {
        return worse(found, term, asked > terms.limit(term) ? Refusal.NEVER : account.nanosToDayEnd(ask.millis()));
    }

    private Refusal monthIsOver(@Nullable Refusal found, Term term, long asked, Ask ask) {
        return worse(found, term, asked > terms.limit(term) ? Refusal.NEVER : account.nanosToMonthEnd(ask.millis()));
    }

    private Refusal worse(@Nullable Refusal found, Term term, long waitNanos) {
        return found != null && found.waitNanos() >= waitNanos ? found : new Refusal(this, term, waitNanos);
    }

    void take(Ask ask) {
        Account to = account;
        to.requests.add(ask.requests(), terms.requestsPerMinute, ask.nanos());
        to.tokens.add(ask.tokens(), terms.tokensPerMinute, ask.nanos());
        to.day.add(ask.tokens(), ask.money(), to.today().day());
        to.month.add(ask.tokens(), ask.money(), to.today().month());
        to.begin();
    }

    void end() {
        synchronized (account) {
            account.end();
        }
    }

    /**
     * Charges the difference, or gives it back where it is negative.
     *
     * @param since when it was reserved
     * @return whether the budgets last
     */
    boolean add(Ask difference, Today since) {
        Account to = account;
        synchronized (to) {
            to.turnTo(difference.millis());
            to.requests.add(difference.requests(), terms.requestsPerMinute, difference.nanos());
            to.tokens.add(difference.tokens(), terms.tokensPerMinute, difference.nanos());
            to.day.add(difference.tokens(), difference.money(), since.day());
            to.month.add(difference.tokens(), difference.money(), since.month());
            return !to.day.isOver(terms.tokensPerDay, terms.moneyPerDay)
                    && !to.month.isOver(terms.tokensPerMonth, terms.moneyPerMonth);
        }
    }
}
