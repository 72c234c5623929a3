package routes.simulation;

import java.util.PriorityQueue;

/** A clock that jumps from event to event; events of the same time run in the order in which they were asked for. */
final class VirtualTime {

    private record Event(long nanos, long number, Runnable work) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            int order = Long.compare(nanos, other.nanos);
            return order != 0 ? order : Long.compare(number, other.number);
        }
    }

    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private long now;
    private long number;

    long now() {
        return now;
    }

    double seconds() {
        return now / 1e9;
    }

    void after(double seconds, Runnable work) {
        events.add(new Event(now + Math.round(seconds * 1e9), number++, work));
    }

    /** Runs events up to a time; those behind it stay. */
    void runUntil(double seconds) {
        long end = Math.round(seconds * 1e9);
        for (Event next = events.peek(); next != null && next.nanos <= end; next = events.peek()) {
            events.remove();
            now = next.nanos;
            next.work.run();
        }
        now = end;
    }
}
