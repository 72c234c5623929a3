package routes.queue;

import org.jspecify.annotations.Nullable;

/**
 * The waiters of one tenant in one priority class, first come first served, and how much the tenant has been served.
 *
 * <p><b>Threading:</b> guarded by the queue's lock.
 */
final class Line {

    final String tenant;
    final int priority;
    /** Breaks ties between lines that have been served alike. */
    final long number;
    /** Tokens served, divided by the tenant's weight. Changed only while the line is not in an ordered set. */
    double served;

    @Nullable
    Waiter first;

    private @Nullable Waiter last;

    Line(String tenant, int priority, long number) {
        this.tenant = tenant;
        this.priority = priority;
        this.number = number;
    }

    boolean isEmpty() {
        return first == null;
    }

    void add(Waiter waiter) {
        Waiter end = last;
        waiter.previous = end;
        waiter.next = null;
        last = waiter;
        if (end == null) {
            first = waiter;
        } else {
            end.next = waiter;
        }
    }

    void addFirst(Waiter waiter) {
        Waiter begin = first;
        waiter.next = begin;
        waiter.previous = null;
        first = waiter;
        if (begin == null) {
            last = waiter;
        } else {
            begin.previous = waiter;
        }
    }

    void remove(Waiter waiter) {
        Waiter before = waiter.previous;
        Waiter after = waiter.next;
        if (before == null) {
            first = after;
        } else {
            before.next = after;
        }
        if (after == null) {
            last = before;
        } else {
            after.previous = before;
        }
        waiter.previous = null;
        waiter.next = null;
    }
}
