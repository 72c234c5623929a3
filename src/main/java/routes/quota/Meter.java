package routes.quota;

/**
 * How much of a minute's allowance is in use: fills by what is charged and drains evenly, a whole allowance in a minute.
 * May hold more than the allowance; that is the debt. The allowance is given with each call, so that a new one finds what
 * was used under the old one.
 *
 * <p><b>Threading:</b> guarded by the monitor of its {@link Account}.
 */
final class Meter {

    private static final double NANOS_PER_MINUTE = 60e9;

    /** What rounding can add up to, in a unit of which there are only whole ones. */
    private static final double ROUNDING = 1e-6;

    private double used;
    private long atNanos;

    Meter(long nowNanos) {
        atNanos = nowNanos;
    }

    /**
     * Nanoseconds until so much more has room: 0 when it has room now, {@link Refusal#NEVER} when it is more than a whole
     * allowance.
     */
    long waitFor(long amount, long perMinute, long nowNanos) {
        if (perMinute == Terms.UNLIMITED) {
            return 0;
        }
        if (amount > perMinute) {
            return Refusal.NEVER;
        }
        drain(perMinute, nowNanos);
        double missing = used + amount - perMinute;
        return missing <= ROUNDING ? 0 : nanosFor(missing - ROUNDING / 2, perMinute);
    }

    /** Charges, or gives back when negative. */
    void add(long amount, long perMinute, long nowNanos) {
        if (perMinute != Terms.UNLIMITED) {
            drain(perMinute, nowNanos);
            used = Math.max(0, used + amount);
        }
    }

    Level level(long perMinute, long nowNanos) {
        drain(perMinute, nowNanos);
        return new Level(
                perMinute,
                Math.max(0, (long) (perMinute - used + ROUNDING)),
                used == 0 ? 0 : nanosFor(used, perMinute));
    }

    private void drain(long perMinute, long nowNanos) {
        long passed = nowNanos - atNanos;
        // threads read the clock before they come here: the later one may be first
        if (passed > 0) {
            used = Math.max(0, used - passed * (double) perMinute / NANOS_PER_MINUTE);
            atNanos = nowNanos;
        }
    }

    private static long nanosFor(double amount, long perMinute) {
        return (long) Math.ceil(amount * NANOS_PER_MINUTE / perMinute);
    }

    /**
     * What a meter shows.
     *
     * @param limit a minute's allowance
     * @param remaining what is left of it
     * @param resetNanos nanoseconds until all of it is left
     */
    record Level(long limit, long remaining, long resetNanos) {}
}
