package routes.quota;

import java.time.LocalDate;

/**
 * A day of the calendar in UTC.
 *
 * @param day days since the epoch
 * @param month months since the year 0
 */
record Today(long day, long month) {

    /** Before every day on which a gateway runs. */
    static final Today NEVER = new Today(-1, -1);

    static Today of(long day) {
        LocalDate date = LocalDate.ofEpochDay(day);
        return new Today(day, date.getYear() * 12L + date.getMonthValue());
    }

    /** Days since the epoch. */
    long firstOfNextMonth() {
        return LocalDate.ofEpochDay(day).withDayOfMonth(1).plusMonths(1).toEpochDay();
    }
}
