package routes.queue;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
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
 * <p>Of several pools that want a slot, the one with the most urgent waiter gets it, else the one whose tenants have got the
 * least, each counted alike: a crowd in one model does not delay another model on the same replica.
 *
 * <p>A request that needs several slots may be passed by only so often; then the slots of the replica it would like best are
 * gathered for it, and count as taken meanwhile.
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
    private static final int MAX_ASKED = 64;

    /** How often one that needs several slots is passed by; then they are gathered for it. */
    private static final int MAX_OVERTAKEN = 16;

    private final Object lock = new Object();
    private final LongSupplier nanos;
    private final Map<String, Pool> pools = new TreeMap<>();
    /** Pools in which somebody waits. */
    private final List<Pool> busy = new ArrayList<>();
    /** Replicas that somebody waits for. */
    private final Map<Replica, Desk> desks = new HashMap<>();

    /**
     * A replica that somebody waits for.
     *
     * <p><b>Threading:</b> guarded by the queue's lock.
     */
    private static final class Desk {
        final Replica replica;
        /** Those in which somebody waits for it. */
        final List<Pool> pools = new ArrayList<>();
        /** Gets every slot that frees until it has enough. */
        @Nullable
        Waiter gathering;

        Desk(Replica replica) {
            this.replica = replica;
        }
    }

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
                known = new Pool(model, pools.size());
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
        Waiter woken = null;
        int answer;
        synchronized (lock) {
            if (waiter.state != Waiter.State.NEW) {
                throw new IllegalStateException("has entered before");
            }
            add(pool, waiter);
            int chosen = waiter.choose(waiter.wish.answers());
            if (chosen >= 0) {
                woken = serve(pool, waiter);
            }
            if (waiter.state == Waiter.State.GRANTED) {
                answer = waiter.answer;
            } else if (chosen == NOBODY || pool.isOverBounds()) {
                remove(pool, waiter);
                answer = chosen == NOBODY ? NOBODY : FULL;
            } else {
                answer = WAIT;
            }
            if (answer != WAIT) {
                waiter.state = Waiter.State.OVER;
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
                woken = serve(stopGathering(waiter), null);
            }
        }
        wake(woken);
        Replica granted = waiter.replica;
        if (was == Waiter.State.GRANTED && granted != null) {
            granted.release(granted.slotsFor(waiter.wish.answers()));
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
            woken = serve(desks.get(replica), null);
        }
        wake(woken);
    }

    /** A waiter may choose otherwise by now: asks those before it and then it. */
    public void ask(Waiter waiter) {
        Waiter woken = null;
        synchronized (lock) {
            Pool pool = waiter.pool;
            if (waiter.state == Waiter.State.WAITING && pool != null) {
                woken = serve(pool, waiter);
                if (waiter.state == Waiter.State.GRANTED) {
                    waiter.next = woken;
                    woken = waiter;
                }
            }
        }
        wake(woken);
    }

    /** Other replicas than before: those who wait see who joined, and wait no more for who left. */
    public void change(Candidates candidates, List<Replica> next) {
        Waiter woken = null;
        synchronized (lock) {
            List<Replica> before = candidates.now();
            candidates.now(next);
            for (Pool pool : List.copyOf(busy)) {
                if (pool.wants(candidates)) {
                    next.stream().filter(replica -> !before.contains(replica)).forEach(replica -> want(replica, pool));
                    for (Replica replica : before) {
                        if (!next.contains(replica)) {
                            Desk desk = stopGatheringAt(replica, candidates);
                            unwant(replica, pool);
                            woken = serve(desk, woken);
                        }
                    }
                    for (Waiter served = serveOne(pool); served != null; served = serveOne(pool)) {
                        served.next = woken;
                        woken = served;
                    }
                }
            }
        }
        wake(woken);
    }

    /** What a request cost that was served from the queue; until then it counts as what was expected. The first call counts. */
    public void correct(Waiter waiter, long tokens) {
        synchronized (lock) {
            Pool pool = waiter.pool;
            if (pool != null && waiter.charged) {
                waiter.charged = false;
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
            pool.returns(busy);
            busy.add(pool);
        }
        waiter.pool = pool;
        waiter.state = Waiter.State.WAITING;
        waiter.sinceNanos = nanos.getAsLong();
        if (pool.add(waiter)) {
            waiter.wish.candidates().now().forEach(replica -> want(replica, pool));
        }
    }

    private void want(Replica replica, Pool pool) {
        desks.computeIfAbsent(replica, Desk::new).pools.add(pool);
        replica.wanted(1);
    }

    private void unwant(Replica replica, Pool pool) {
        replica.wanted(-1);
        Desk desk = desks.get(replica);
        if (desk != null) {
            desk.pools.remove(pool);
            if (desk.pools.isEmpty()) {
                desks.remove(replica);
            }
        }
    }

    private void remove(Pool pool, Waiter waiter) {
        if (pool.remove(waiter)) {
            waiter.wish.candidates().now().forEach(replica -> unwant(replica, pool));
        }
        if (pool.waiting() == 0) {
            busy.remove(pool);
        }
    }

    /** Serves whoever comes next in the pool, and then the one who enters if nobody before it can use what is free. */
    private @Nullable Waiter serve(Pool pool, Waiter entering) {
        Waiter woken = null;
        while (entering.state == Waiter.State.WAITING) {
            Waiter served = serveOne(pool);
            if (served == null) {
                int chosen = chooseAndTake(entering);
                if (chosen == WAIT) {
                    break;
                }
                grant(pool, entering, chosen);
            } else if (served != entering) {
                served.next = woken;
                woken = served;
            }
        }
        return woken;
    }

    /**
     * Serves waiters until the replica has no free slot or nobody can use it.
     *
     * @param before others to wake
     * @return the first of those to wake, each with the next one
     */
    private @Nullable Waiter serve(@Nullable Desk desk, @Nullable Waiter before) {
        Waiter woken = before;
        if (desk == null) {
            return woken;
        }
        round++;
        // called without a free slot it is the replica that has changed, and who can't hope any more is told
        boolean changed = !desk.replica.hasFree(1);
        while (changed || desk.replica.hasFree(1)) {
            Waiter gathering = desk.gathering;
            Pool pool = gathering == null ? next(desk) : null;
            if (gathering == null && pool == null) {
                break;
            }
            Waiter served = pool == null ? gather(desk, gathering) : serveOne(pool);
            if (served == null) {
                if (pool == null) {
                    break;
                }
                pool.servedNobodyIn = round;
            } else {
                served.next = woken;
                woken = served;
            }
        }
        return woken;
    }

    /** The pool whose turn it is, of those that were not asked in this round. */
    private @Nullable Pool next(Desk desk) {
        Pool best = null;
        Waiter bestHead = null;
        for (Pool pool : desk.pools) {
            Waiter head = pool.servedNobodyIn == round ? null : pool.head();
            if (head != null && (best == null || bestHead == null || isBefore(pool, head, best, bestHead))) {
                best = pool;
                bestHead = head;
            }
        }
        return best;
    }

    private static boolean isBefore(Pool pool, Waiter head, Pool other, Waiter otherHead) {
        int order = Integer.compare(head.claim.priority(), otherHead.claim.priority());
        if (order == 0) {
            order = Double.compare(pool.served, other.served);
        }
        return order != 0 ? order < 0 : head.sinceNanos - otherHead.sinceNanos < 0;
    }

    private @Nullable Waiter serveOne(Pool pool) {
        int count = 0;
        for (Pool.PriorityClass of : pool.classes()) {
            for (Line line : of.active) {
                for (Waiter waiter = line.first; waiter != null; waiter = waiter.next) {
                    if (count == MAX_ASKED) {
                        return null;
                    }
                    int chosen = chooseAndTake(waiter);
                    if (chosen != WAIT) {
                        for (int i = 0; chosen >= 0 && i < count; i++) {
                            asked[i].overtaken++;
                        }
                        grant(pool, waiter, chosen);
                        return waiter;
                    }
                    asked[count++] = waiter;
                }
            }
        }
        return null;
    }

    private int chooseAndTake(Waiter waiter) {
        if (waiter.gathered > 0) {
            return WAIT;
        }
        while (true) {
            int chosen = waiter.choose(waiter.wish.answers());
            if (chosen < 0) {
                return chosen == WAIT && waiter.overtaken >= MAX_OVERTAKEN ? beginGathering(waiter) : chosen;
            }
            Replica replica = waiter.wish.candidates().now().get(chosen);
            if (replica.tryAcquire(replica.slotsFor(waiter.wish.answers()))) {
                return chosen;
            }
        }
    }

    // ---- one that needs several slots of one replica

    private int beginGathering(Waiter waiter) {
        if (waiter.wish.answers() == 1) {
            return WAIT;
        }
        int liked = waiter.choose(0);
        if (liked < 0) {
            return WAIT;
        }
        Desk desk = desks.get(waiter.wish.candidates().now().get(liked));
        if (desk != null && desk.gathering == null && desk.replica.hasFree(1)) {
            desk.gathering = waiter;
            waiter.replica = desk.replica;
            takeFree(desk, waiter);
        }
        return WAIT;
    }

    private static boolean takeFree(Desk desk, Waiter waiter) {
        int needed = desk.replica.slotsFor(waiter.wish.answers());
        while (waiter.gathered < needed && desk.replica.tryAcquire(1)) {
            waiter.gathered++;
        }
        return waiter.gathered == needed;
    }

    /** @return the waiter when it has enough */
    private @Nullable Waiter gather(Desk desk, @Nullable Waiter waiter) {
        Pool pool = waiter == null ? null : waiter.pool;
        if (waiter == null || pool == null || !takeFree(desk, waiter)) {
            return null;
        }
        desk.gathering = null;
        grant(pool, waiter, waiter.wish.candidates().now().indexOf(desk.replica));
        return waiter;
    }

    /** @return the replica that may serve others again; null when nothing was gathered, or nobody else waits for it */
    private @Nullable Desk stopGathering(Waiter waiter) {
        Replica replica = waiter.replica;
        if (waiter.gathered == 0 || replica == null) {
            return null;
        }
        waiter.replica = null;
        Desk desk = desks.get(replica);
        if (desk != null) {
            desk.gathering = null;
        }
        replica.giveBack(waiter.gathered);
        waiter.gathered = 0;
        return desk;
    }

    private @Nullable Desk stopGatheringAt(Replica replica, Candidates candidates) {
        Desk desk = desks.get(replica);
        Waiter gathering = desk == null ? null : desk.gathering;
        return gathering == null || gathering.wish.candidates() != candidates ? null : stopGathering(gathering);
    }

    private void grant(Pool pool, Waiter waiter, int chosen) {
        remove(pool, waiter);
        if (chosen >= 0) {
            pool.charge(waiter, nanos.getAsLong());
            waiter.charged = true;
        }
        waiter.answer = chosen;
        waiter.replica = chosen < 0 ? null : waiter.wish.candidates().now().get(chosen);
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
        waiter.granted(waiter.answer);
    }
}
