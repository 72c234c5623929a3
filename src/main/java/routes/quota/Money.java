package routes.quota;

import java.math.BigDecimal;

/** Amounts of money: whole billionths of the one unit in which prices and budgets are written, such as euros. */
public final class Money {

    /** Decimals that an amount may have. */
    public static final int DECIMALS = 9;

    static final long UNIT = 1_000_000_000L;

    /** The largest budget: a billion units. */
    static final long MAX = 1_000_000_000L * UNIT;

    private Money() {}

    /**
     * The amount in billionths, such as 2500000000 for {@code 2.50}.
     *
     * @throws ArithmeticException if it has more decimals, or is out of all proportion
     */
    public static long parse(BigDecimal amount) {
        return amount.movePointRight(DECIMALS).longValueExact();
    }

    /** The amount as it is written, without zeros at its end. */
    public static String text(long billionths) {
        return BigDecimal.valueOf(billionths, DECIMALS).stripTrailingZeros().toPlainString();
    }
}
