package routes.quota;

import org.jspecify.annotations.Nullable;

/** What can be agreed with a key or a tenant, as {@code keys.yaml} spells it, and the values that make sense. */
public enum Term {
    REQUESTS_PER_MINUTE("requests-per-minute", Kind.COUNT, 1, 1_000_000_000L),
    TOKENS_PER_MINUTE("tokens-per-minute", Kind.COUNT, 1, 1_000_000_000_000L),
    CONCURRENT_REQUESTS("concurrent-requests", Kind.COUNT, 1, 1_000_000),
    TOKENS_PER_DAY("tokens-per-day", Kind.COUNT, 1, 1_000_000_000_000_000L),
    TOKENS_PER_MONTH("tokens-per-month", Kind.COUNT, 1, 1_000_000_000_000_000L),
    MONEY_PER_DAY("money-per-day", Kind.MONEY, 1, Money.MAX),
    MONEY_PER_MONTH("money-per-month", Kind.MONEY, 1, Money.MAX),
    /** Class in the queue: a lower one is served before every higher one. */
    PRIORITY("priority", Kind.COUNT, -1000, 1000),
    /** Share of the queue, against the others of the same class. */
    WEIGHT("weight", Kind.COUNT, 1, 1000),
    /** 1 when a running stream is ended as soon as a budget is used up, 0 when it may finish. */
    ON_EXHAUSTED("on-exhausted", Kind.ON_EXHAUSTED, 0, 1);

    /** How a value is written. */
    public enum Kind {
        /** A whole number. */
        COUNT,
        /** A decimal number of the unit that prices use, kept in its billionths. */
        MONEY,
        /** {@code finish} or {@code end}. */
        ON_EXHAUSTED
    }

    private final String label;
    private final Kind kind;
    private final long min;
    private final long max;

    Term(String label, Kind kind, long min, long max) {
        this.label = label;
        this.kind = kind;
        this.min = min;
        this.max = max;
    }

    /** The term with this name in {@code keys.yaml}; null when there is none. */
    public static @Nullable Term named(String label) {
        for (Term term : values()) {
            if (term.label.equals(label)) {
                return term;
            }
        }
        return null;
    }

    public String label() {
        return label;
    }

    public Kind kind() {
        return kind;
    }

    public long min() {
        return min;
    }

    public long max() {
        return max;
    }

    boolean isMoney() {
        return kind == Kind.MONEY;
    }

    /** Whether it bounds what is used, rather than saying how requests are treated. */
    boolean isLimit() {
        return ordinal() < PRIORITY.ordinal();
    }

    boolean isBudget() {
        return switch (this) {
            case TOKENS_PER_DAY, TOKENS_PER_MONTH, MONEY_PER_DAY, MONEY_PER_MONTH -> true;
            default -> false;
        };
    }
}
