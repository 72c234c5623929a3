package routes.quota;

/**
 * What has been used of a budget in the current day or month.
 *
 * <p><b>Threading:</b> guarded by the monitor of its {@link Account}.
 */
final class Period {

    /** Far above every limit, and far from an overflow. */
    private static final long MOST = Long.MAX_VALUE / 4;

    /** The number of the day or month. */
    private long index = -1;

    private long tokens;
    private long money;

    /** Starts anew when this is another period. */
    void turnTo(long current) {
        if (current != index) {
            index = current;
            tokens = 0;
            money = 0;
        }
    }

    /**
     * Charges, or gives back when negative.
     *
     * @param since the period of the reservation; in a later one nothing of it can be given back
     */
    void add(long moreTokens, long moreMoney, long since) {
        boolean same = since == index;
        tokens = sum(tokens, same ? moreTokens : Math.max(0, moreTokens));
        money = sum(money, same ? moreMoney : Math.max(0, moreMoney));
    }

    boolean hasTokens(long more, long limit) {
        return limit == Terms.UNLIMITED || tokens + more <= limit;
    }

    /** What is free has room in the emptiest budget. */
    boolean hasMoney(long more, long limit) {
        return limit == Terms.UNLIMITED || more == 0 || money + more <= limit;
    }

    boolean isOver(long limitOfTokens, long limitOfMoney) {
        return tokens > limitOfTokens || money > limitOfMoney;
    }

    long tokens() {
        return tokens;
    }

    long money() {
        return money;
    }

    boolean isUnused() {
        return tokens == 0 && money == 0;
    }

    private static long sum(long used, long more) {
        return Math.max(0, Math.min(MOST, used + more));
    }
}
