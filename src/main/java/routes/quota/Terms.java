package routes.quota;

import java.util.EnumMap;
import java.util.Map;

/**
 * What is agreed with a key or a tenant: limits, and how its requests are treated.
 *
 * <p><b>Threading:</b> immutable; shared by all keys of a plan.
 */
public final class Terms {

    /** The value of a limit that is not set. */
    static final long UNLIMITED = Long.MAX_VALUE;

    public static final Terms NONE = new Terms(Map.of());

    final long requestsPerMinute;
    final long tokensPerMinute;
    final long concurrentRequests;
    final long tokensPerDay;
    final long tokensPerMonth;
    final long moneyPerDay;
    final long moneyPerMonth;

    private final Map<Term, Long> values;

    private Terms(Map<Term, Long> values) {
        this.values = values;
        requestsPerMinute = limit(Term.REQUESTS_PER_MINUTE);
        tokensPerMinute = limit(Term.TOKENS_PER_MINUTE);
        concurrentRequests = limit(Term.CONCURRENT_REQUESTS);
        tokensPerDay = limit(Term.TOKENS_PER_DAY);
        tokensPerMonth = limit(Term.TOKENS_PER_MONTH);
        moneyPerDay = limit(Term.MONEY_PER_DAY);
        moneyPerMonth = limit(Term.MONEY_PER_MONTH);
    }

    /** @throws IllegalArgumentException if a value is out of its term's range */
    public static Terms of(Map<Term, Long> values) {
        if (values.isEmpty()) {
            return NONE;
        }
        values.forEach((term, value) -> {
            if (value < term.min() || value > term.max()) {
                throw new IllegalArgumentException(
                        term.label() + ": " + value + " (expected: " + term.min() + " to " + term.max() + ")");
            }
        });
        return new Terms(new EnumMap<>(values));
    }

    /** These terms, and those of the base where these say nothing. */
    public Terms over(Terms base) {
        if (values.isEmpty()) {
            return base;
        }
        if (base.values.isEmpty()) {
            return this;
        }
        Map<Term, Long> merged = new EnumMap<>(base.values);
        merged.putAll(values);
        return new Terms(merged);
    }

    /** Whether there is a limit on money, which means nothing without prices. */
    public boolean limitsMoney() {
        return values.keySet().stream().anyMatch(Term::isMoney);
    }

    boolean limitAnything() {
        return values.keySet().stream().anyMatch(Term::isLimit);
    }

    boolean haveBudget() {
        return values.keySet().stream().anyMatch(Term::isBudget);
    }

    long get(Term term, long otherwise) {
        return values.getOrDefault(term, otherwise);
    }

    long limit(Term term) {
        return get(term, UNLIMITED);
    }
}
