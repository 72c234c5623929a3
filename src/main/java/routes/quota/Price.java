package routes.quota;

import java.math.BigDecimal;

/**
 * What the tokens of a model cost.
 *
 * @param input billionths of the unit of money for one token of a prompt, such as 2500 for 2.50 per million
 * @param cachedInput the same for one that the replica found in its cache
 * @param output the same for one of an answer
 */
public record Price(double input, double cachedInput, double output) {

    static final Price FREE = new Price(0, 0, 0);

    private static final int BILLIONTHS_OF_A_MILLIONTH = 1000;
    private static final long MOST_EXPENSIVE = Long.MAX_VALUE / 8;

    public Price {
        if (!(input >= 0 && cachedInput >= 0 && output >= 0)) {
            throw new IllegalArgumentException("a price below 0 (expected: 0 or more)");
        }
    }

    /** From prices per million tokens, as they are usually quoted. */
    public static Price perMillion(BigDecimal input, BigDecimal cachedInput, BigDecimal output) {
        return new Price(perToken(input), perToken(cachedInput), perToken(output));
    }

    private static double perToken(BigDecimal perMillion) {
        return perMillion.doubleValue() * BILLIONTHS_OF_A_MILLIONTH;
    }

    /** @param cached how many of the prompt's tokens were cached */
    long cost(long prompt, long cached, long completion) {
        double cost = (prompt - cached) * input + cached * cachedInput + completion * output;
        return Math.min(Math.round(cost), MOST_EXPENSIVE);
    }

    /** What a request costs at least; 0 only when the model is free. */
    long atLeast(long prompt) {
        return isFree() ? 0 : Math.max(1, cost(prompt, 0, 0));
    }

    boolean isFree() {
        return input == 0 && output == 0;
    }
}
