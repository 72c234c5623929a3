package routes.quota;

import java.util.concurrent.TimeUnit;

/**
 * What one key or one tenant has used. Knows no limits: they come with each call, and change when keys are read again.
 *
 * <p><b>Threading:</b> every access holds its monitor, for some tens of nanoseconds. Whoever holds two takes the key's
 * before the tenant's.
 */
final class Account {

    private static final long DAY_MILLIS = TimeUnit.DAYS.toMillis(1);

    final Meter requests;
    final Meter tokens;
    final Period day = new Period();
    final Period month = new Period();
    private Today today = Today.NEVER;
    private int running;

    Account(long nowNanos) {
        requests = new Meter(nowNanos);
        tokens = new Meter(nowNanos);
    }

    /** Begins a new day or month when it is time. */
    void turnTo(long nowMillis) {
        long day = Math.floorDiv(nowMillis, DAY_MILLIS);
        // a clock that is set back across midnight by a little changes nothing
        if (day != today.day() && day != today.day() - 1) {
            today = Today.of(day);
            this.day.turnTo(today.day());
            month.turnTo(today.month());
        }
    }

    Today today() {
        return today;
    }

    long nanosToDayEnd(long nowMillis) {
        return nanosUntil(today.day() + 1, nowMillis);
    }

    long nanosToMonthEnd(long nowMillis) {
        return nanosUntil(today.firstOfNextMonth(), nowMillis);
    }

    private static long nanosUntil(long day, long nowMillis) {
        return TimeUnit.MILLISECONDS.toNanos(day * DAY_MILLIS - nowMillis);
    }

    int running() {
        return running;
    }

    void begin() {
        running++;
    }

    void end() {
        running--;
    }

    /** Whether forgetting it would change nothing that a budget of this month could notice. */
    boolean isForgettable(long nowMillis) {
        turnTo(nowMillis);
        return running == 0 && month.isUnused();
    }
}
