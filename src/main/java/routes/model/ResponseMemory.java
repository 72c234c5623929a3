package routes.model;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import routes.replica.Replica;

/**
 * Which replica keeps which response, and for whom. Bounded in number and time; the oldest are forgotten first.
 *
 * <p><b>Threading:</b> any thread; one lock, held for a look-up in a map. Only requests for responses come here.
 */
final class ResponseMemory {

    /**
     * What is known of a response.
     *
     * @param model the model's own name
     * @param replica that keeps it
     * @param tenant whose it is
     */
    record Known(String model, Replica replica, String tenant) {}

    private static final class Entry {
        private final Known known;
        private final long atNanos;
        private boolean owesUsage;

        Entry(Known known, long atNanos, boolean owesUsage) {
            this.known = known;
            this.atNanos = atNanos;
            this.owesUsage = owesUsage;
        }
    }

    private final Map<String, Entry> entries = new LinkedHashMap<>();
    private final int most;
    private final long keptNanos;
    private final LongSupplier clock;

    ResponseMemory(int most, long keptNanos, LongSupplier clock) {
        this.most = most;
        this.keptNanos = keptNanos;
        this.clock = clock;
    }

    /** @param owesUsage whether its usage is to be told later, by whoever asks for it first */
    synchronized void remember(String id, Known known, boolean owesUsage) {
        long now = clock.getAsLong();
        Entry before = entries.get(id);
        if (before != null && !before.known.tenant().equals(known.tenant())) {
            // an id is its first owner's
            return;
        }
        entries.remove(id);
        entries.put(id, new Entry(known, now, owesUsage));
        Iterator<Entry> oldest = entries.values().iterator();
        while (oldest.hasNext()) {
            Entry entry = oldest.next();
            if (entries.size() <= most && now - entry.atNanos <= keptNanos) {
                return;
            }
            oldest.remove();
        }
    }

    /** Null for an id that isn't known, or not any more. */
    synchronized @Nullable Known find(String id) {
        Entry entry = entries.get(id);
        return entry == null || clock.getAsLong() - entry.atNanos > keptNanos ? null : entry.known;
    }

    /** Whether the response's usage is still to be told; then it is for the caller to tell. */
    synchronized boolean takeUsage(String id) {
        Entry entry = entries.get(id);
        if (entry == null || !entry.owesUsage) {
            return false;
        }
        entry.owesUsage = false;
        return true;
    }

    /** The usage that was taken was not there yet. */
    synchronized void owesUsage(String id) {
        Entry entry = entries.get(id);
        if (entry != null) {
            entry.owesUsage = true;
        }
    }

    synchronized int size() {
        return entries.size();
    }
}
