package routes.demo;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Room for sequences, as vLLM's {@code max-num-seqs}: what does not fit waits, first come, first served.
 *
 * <p><b>Threading</b>: event-loop confined; the two counts may be read from anywhere.
 */
final class Slots {

    /** Something that generates sequences; compared by identity. */
    interface Sequences {
        int count();

        /** There is room now. May be called from within {@link Slots#enter}. */
        void admitted();
    }

    private final int total;
    private final Set<Sequences> inside = new HashSet<>();
    private final Deque<Sequences> queue = new ArrayDeque<>();
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger waiting = new AtomicInteger();
    private boolean admitting;

    Slots(int total) {
        this.total = total;
    }

    void enter(Sequences sequences) {
        queue.add(sequences);
        waiting.addAndGet(sequences.count());
        admit();
    }

    /** Gives the room back, or leaves the queue; does nothing the second time. */
    void leave(Sequences sequences) {
        if (inside.remove(sequences)) {
            running.addAndGet(-sequences.count());
        } else if (queue.remove(sequences)) {
            waiting.addAndGet(-sequences.count());
        }
        admit();
    }

    int running() {
        return running.get();
    }

    int waiting() {
        return waiting.get();
    }

    double usage() {
        return Math.min(1, (double) running.get() / total);
    }

    private void admit() {
        if (admitting) {
            // called from within admitted(): the loop below goes on with the next
            return;
        }
        admitting = true;
        for (Sequences next = queue.peek(); next != null && fits(next); next = queue.peek()) {
            queue.remove();
            inside.add(next);
            waiting.addAndGet(-next.count());
            running.addAndGet(next.count());
            next.admitted();
        }
        admitting = false;
    }

    /** More sequences than there are slots run alone. */
    private boolean fits(Sequences next) {
        return running.get() + next.count() <= total || inside.isEmpty();
    }
}
