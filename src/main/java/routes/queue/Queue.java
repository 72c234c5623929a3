package routes.queue;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import routes.replica.Replica;

/**
 * Gives the slots that free to those who wait for them: the lowest priority class first, in it the tenant that has been
 * served the fewest tokens for its weight, in that tenant's line who came first. (The virtual token counter of "Fairness
 * in Serving Large Language Models", Sheng et al., OSDI 2024.)
 *
 * <p>While nobody wants a replica its slots are taken without this class. As soon as somebody does
 * ({@link Replica#isWanted}), newcomers come here too and stand behind, and a slot that is given back goes on under the
 * lock to whoever is next. No wake-up is lost: a waiter says that it wants its replicas before it looks for a free slot
 * the last time, and a slot is free before its giver looks whether somebody wants it; so one of the two sees the other.
 *
 * <p>One lock serves all pools, since replicas may stand in several. It is taken only while slots are short, for a few
 * microseconds: entering, leaving and serving cost O(log tenants), and waiters are woken after it was left.
 *
 * <p><b>Threading:</b> any thread. <b>Ownership:</b> a slot that is granted belongs to its waiter.
 */
public final class Queue {

    /** No candidate has room: wait. */
    public static final int WAIT = -1;

    /** Waiting is of no use: no candidate is left. */
    public static final int NOBODY = -2;

    /** The queue is as long as it may be. */
    public static final int FULL = -3;

    /** Waiters that are asked for their choice when one slot is free. */
    private static final int MAX_ASKED = 32;

    /** How often one that needs several slots is passed by; then slots are kept for it. */
    private static final int MAX_OVERTAKEN = 16;

    private final Object lock = new Object();
    private final LongSupplier nanos;
    private final Map<String, Pool> pools = new TreeMap<>();
    /** Pools in which somebody waits. */
    private final List<Pool> busy = new ArrayList<>();

    private Consumer<Pool> onNew = pool -> {};
    private final Waiter[] asked = new Waiter[MAX_ASKED];
    private long round;

    /** @param nanos a monotonic clock */
    public Queue(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /** The pool of a model; the same for every route that serves it. */
    public Pool pool(String model) {
        synchronized (lock) {
            Pool known = pools.get(model);
            if (known == null) {
                known = new Pool(model);
                pools.put(model, known);
                onNew.accept(known);
            }
            return known;
        }
    }

    /** Called for each pool that is named for the first time, and at once for those already known. */
    public void onNew(Consumer<Pool> listener) {
        synchronized (lock) {
            onNew = listener;
            pools.values().forEach(listener);
        }
    }

    /** All pools, by name. */
    public Collection<Pool> pools() {
        synchronized (lock) {
            return List.copyOf(pools.values());
        }
    }

    /** Requests that wait, in all pools. */
    public int waiting() {
        return pools().stream().mapToInt(Pool::waiting).sum();
    }

    /**
     * Joins the queue, or gets slots at once where nobody else may have them first.
     *
     * @return index of a candidate whose slots are taken; {@link #WAIT} when {@link Waiter#granted} will be called unless
     *     {@link #leave} is first; {@link #NOBODY} or {@link #FULL}
     */
    public int enter(Pool pool, Waiter waiter) {
        Waiter woken;
        int answer;
        synchronized (lock) {
            if (waiter.state != Waiter.State.NEW) {
                throw new IllegalStateException("has entered before");
            }
            if (waiter.choose() == NOBODY) {
                waiter.state = Waiter.State.OVER;
                return NOBODY;
            }
            add(pool, waiter);
            // all who came before have been served as far as they can be
            woken = waiter.choose() >= 0 ? serve(waiter) : null;
            if (waiter.state == Waiter.State.GRANTED) {
                waiter.state = Waiter.State.OVER;
                answer = waiter.chosen;
            } else if (pool.isOverBounds()) {
                remove(pool, waiter);
                waiter.state = Waiter.State.OVER;
                answer = FULL;
            } else {
                answer = WAIT;
            }
        }
        wake(woken);
        return answer;
    }

    /**
     * Leaves the queue for good; slots that were granted and not yet taken go to others. On the waiter's own loop.
     *
     * @return whether it was waiting
     */
    public boolean leave(Waiter waiter) {
        Waiter woken = null;
        Waiter.State was;
        synchronized (lock) {
            was = waiter.state;
            waiter.state = Waiter.State.OVER;
            Pool pool = waiter.pool;
            if (was == Waiter.State.WAITING && pool != null) {
                remove(pool, waiter);
                // slots may have been kept for it
                woken = waiter.wish.answers() > 1 ? serve(null) : null;
            }
        }
        wake(woken);
        if (was == Waiter.State.GRANTED && waiter.chosen >= 0) {
            Replica replica = waiter.wish.candidates().get(waiter.chosen);
            replica.release(replica.slotsFor(waiter.wish.answers()));
        }
        return was == Waiter.State.WAITING;
    }

    /** A slot of the replica has been given back, or the replica can serve again, or no more. */
    public void freed(Replica replica) {
        if (!replica.isWanted()) {
            return;
        }
        Waiter woken;
        synchronized (lock) {
            woken = serve(null);
        }
        wake(woken);
    }

    /** What a request cost that was served from the queue; until then it counts as what was expected. */
    public void correct(Waiter waiter, long tokens) {
        synchronized (lock) {
            Pool pool = waiter.pool;
            if (pool != null) {
                pool.correct(waiter, tokens);
            }
        }
    }

    /** How long the oldest waiter of a pool has waited, in nanoseconds; 0 when nobody waits. */
    public long oldestNanos(Pool pool) {
        synchronized (lock) {
            long now = nanos.getAsLong();
            long oldest = 0;
            for (Pool.PriorityClass of : pool.classes()) {
                for (Line line : of.active) {
                    Waiter first = line.first;
                    if (first != null) {
                        oldest = Math.max(oldest, now - first.sinceNanos);
                    }
                }
            }
            return oldest;
        }
    }

    // ---- under the lock

    private void add(Pool pool, Waiter waiter) {
        if (pool.waiting() == 0) {
            busy.add(pool);
        }
        waiter.pool = pool;
        waiter.state = Waiter.State.WAITING;
        waiter.sinceNanos = nanos.getAsLong();
        pool.add(waiter);
        for (Replica replica : waiter.wish.candidates()) {
            replica.wanted(1);
        }
    }

    private void remove(Pool pool, Waiter waiter) {
        pool.remove(waiter);
        for (Replica replica : waiter.wish.candidates()) {
            replica.wanted(-1);
        }
        if (pool.waiting() == 0) {
            busy.remove(pool);
        }
    }

    /**
     * Serves waiters until nobody can be served, of several pools the one whose next waiter is the most urgent, then the
     * oldest.
     *
     * @param entering is served without being woken
     * @return the first of those to wake, each with the next one
     */
    private @Nullable Waiter serve(@Nullable Waiter entering) {
        Waiter woken = null;
        round++;
        for (Pool pool = next(); pool != null; pool = next()) {
            Waiter served = serveOne(pool);
            if (served == null) {
                pool.servedNobodyIn = round;
            } else if (served != entering) {
                served.next = woken;
                woken = served;
            }
        }
        return woken;
    }

    private @Nullable Pool next() {
        Pool best = null;
        Waiter bestHead = null;
        for (Pool pool : busy) {
            Waiter head = pool.servedNobodyIn == round ? null : pool.head();
            if (head != null && (bestHead == null || isBefore(head, bestHead))) {
                best = pool;
                bestHead = head;
            }
        }
        return best;
    }

    private static boolean isBefore(Waiter a, Waiter b) {
        int order = Integer.compare(a.claim.priority(), b.claim.priority());
        return order != 0 ? order < 0 : a.sinceNanos - b.sinceNanos < 0;
    }

    private @Nullable Waiter serveOne(Pool pool) {
        int count = 0;
        for (Pool.PriorityClass of : pool.classes()) {
            for (Line line : of.active) {
                for (Waiter waiter = line.first; waiter != null; waiter = waiter.next) {
                    int chosen = chooseAndTake(waiter);
                    if (chosen != WAIT) {
                        for (int i = 0; i < count; i++) {
                            asked[i].overtaken++;
                        }
                        grant(pool, waiter, chosen);
                        return waiter;
                    }
                    if (count == MAX_ASKED || waiter.overtaken >= MAX_OVERTAKEN && waiter.wish.answers() > 1) {
                        return null;
                    }
                    asked[count++] = waiter;
                }
            }
        }
        return null;
    }

    private static int chooseAndTake(Waiter waiter) {
        while (true) {
            int chosen = waiter.choose();
            if (chosen < 0) {
                return chosen;
            }
            Replica replica = waiter.wish.candidates().get(chosen);
            if (replica.tryAcquire(replica.slotsFor(waiter.wish.answers()))) {
                return chosen;
            }
        }
    }

    private void grant(Pool pool, Waiter waiter, int chosen) {
        remove(pool, waiter);
        if (chosen >= 0) {
            pool.charge(waiter, nanos.getAsLong());
        }
        waiter.chosen = chosen;
        waiter.state = Waiter.State.GRANTED;
    }

    // ---- without the lock

    private void wake(@Nullable Waiter first) {
        Waiter waiter = first;
        while (waiter != null) {
            Waiter following = waiter.next;
            waiter.next = null;
            wakeOne(waiter);
            waiter = following;
        }
    }

    private void wakeOne(Waiter waiter) {
        try {
            waiter.loop.execute(() -> resume(waiter));
        } catch (RejectedExecutionException shutDown) {
            leave(waiter);
        }
    }

    private void resume(Waiter waiter) {
        synchronized (lock) {
            if (waiter.state != Waiter.State.GRANTED) {
                return;
            }
            waiter.state = Waiter.State.OVER;
        }
        waiter.granted(waiter.chosen);
    }
}
