package routes.net;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.FastThreadLocal;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A hashed timer wheel for one event loop: arming, moving and cancelling cost a few instructions however many timers
 * there are, and an entry needs no allocation.
 *
 * <p>A deadline that moves later costs nothing: the entry stays where it is and moves when its old slot comes round. The
 * loop is woken only for slots that hold something. What is due later than one turn of the wheel waits in a coarser one, a
 * slot for each turn, so that ten thousand idle clients wake nobody. Resolution is {@value #TICK_MILLIS} ms; an entry never
 * expires early.
 *
 * <p><b>Threading:</b> event-loop confined. <b>Failure:</b> an entry that throws is logged and does not stop the others.
 */
public final class TimerWheel {

    private static final Logger LOG = LoggerFactory.getLogger(TimerWheel.class);
    private static final long TICK_MILLIS = 4;
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS);
    private static final int SLOTS = 1024;
    private static final int TURNS = 256;
    private static final FastThreadLocal<@Nullable TimerWheel> WHEELS = new FastThreadLocal<>();

    private final EventLoop loop;
    private final LongSupplier clock;
    private final Head[] slots;
    private final long[] occupied = new long[SLOTS / 64];
    /** Entries by the turn in which they are due. */
    private final Head[] turns;

    private final long[] occupiedTurns = new long[TURNS / 64];
    private final Entry due = new Head(new long[1], 0);
    private final long startNanos;
    private long tick;
    private int size;
    private @Nullable ScheduledFuture<?> wakeUp;
    private long wakeUpTick;

    /** @param clock as {@link System#nanoTime()} */
    TimerWheel(EventLoop loop, LongSupplier clock) {
        this.loop = loop;
        this.clock = clock;
        this.startNanos = clock.getAsLong();
        this.slots = heads(SLOTS, occupied);
        this.turns = heads(TURNS, occupiedTurns);
    }

    private static Head[] heads(int count, long[] bits) {
        Head[] heads = new Head[count];
        for (int i = 0; i < count; i++) {
            heads[i] = new Head(bits, i);
        }
        return heads;
    }

    /** The wheel of the event loop that this thread runs. */
    public static TimerWheel of(EventLoop loop) {
        TimerWheel wheel = WHEELS.get();
        if (wheel == null || wheel.loop != loop) {
            if (!loop.inEventLoop()) {
                throw new IllegalStateException("not on the event loop");
            }
            wheel = new TimerWheel(loop, System::nanoTime);
            WHEELS.set(wheel);
        }
        return wheel;
    }

    /** A timer; extend it and arm it with {@link TimerWheel#arm}. */
    public abstract static class Entry {
        private @Nullable Entry previous;
        private @Nullable Entry next;
        private long deadlineNanos;
        private long tick;

        /** Called once the deadline has passed; the entry is no longer armed and may be armed again. */
        protected abstract void expired(long nowNanos);

        private boolean linked() {
            return previous != null;
        }
    }

    /** The begin and end of a list, and the bit that says whether it holds something. */
    private static final class Head extends Entry {
        private final long[] bits;
        private final int index;

        Head(long[] bits, int index) {
            this.bits = bits;
            this.index = index;
            super.previous = this;
            super.next = this;
        }

        void occupied(boolean something) {
            long bit = 1L << index;
            bits[index >> 6] = something ? bits[index >> 6] | bit : bits[index >> 6] & ~bit;
        }

        @Override
        protected void expired(long nowNanos) {}
    }

    /** Arms the entry for a time of {@link System#nanoTime()}, or moves it there. */
    public void arm(Entry entry, long deadlineNanos) {
        entry.deadlineNanos = deadlineNanos;
        if (size == 0) {
            // nobody was woken meanwhile
            tick = Math.max(tick, (clock.getAsLong() - startNanos) / TICK_NANOS - 1);
        }
        long due = Math.max(tick + 1, (deadlineNanos - startNanos) / TICK_NANOS + 1);
        if (entry.linked()) {
            if (entry.tick <= due) {
                return;
            }
            unlink(entry);
        }
        long wake = link(entry, due);
        if (wakeUp == null || wake < wakeUpTick) {
            scheduleWakeUp(wake);
        }
    }

    /** Disarms the entry; nothing happens when it isn't armed. */
    public void cancel(Entry entry) {
        if (entry.linked()) {
            unlink(entry);
        }
    }

    /** How many entries are armed. */
    public int size() {
        return size;
    }

    /** Returns the tick at which the loop must look at it. */
    private long link(Entry entry, long due) {
        boolean later = due - tick >= SLOTS;
        Head head = later ? turns[(int) (due / SLOTS) & TURNS - 1] : slots[(int) due & SLOTS - 1];
        entry.tick = due;
        append(head, entry);
        head.occupied(true);
        return later ? due / SLOTS * SLOTS : due;
    }

    private void append(Entry head, Entry entry) {
        Entry last = head.previous;
        entry.previous = last;
        entry.next = head;
        if (last != null) {
            last.next = entry;
        }
        head.previous = entry;
        size++;
    }

    private void unlink(Entry entry) {
        Entry before = entry.previous;
        Entry after = entry.next;
        if (before == null || after == null) {
            return;
        }
        before.next = after;
        after.previous = before;
        entry.previous = null;
        entry.next = null;
        size--;
        if (before == after && before instanceof Head head) {
            head.occupied(false);
        }
    }

    private void scheduleWakeUp(long due) {
        if (wakeUp != null) {
            wakeUp.cancel(false);
        }
        wakeUpTick = due;
        long delay = startNanos + due * TICK_NANOS - clock.getAsLong();
        wakeUp = loop.schedule(this::advance, Math.max(delay, 0), TimeUnit.NANOSECONDS);
    }

    private void advance() {
        wakeUp = null;
        long now = clock.getAsLong();
        long until = (now - startNanos) / TICK_NANOS;
        while (tick < until) {
            long turn = (tick / SLOTS + 1) * SLOTS;
            long next = nextOccupied(Math.min(until, turn - 1));
            if (next < turn && next <= until) {
                tick = next;
                expire((int) next & SLOTS - 1, now);
            } else if (turn <= until) {
                tick = turn;
                begin(turn / SLOTS);
                expire((int) turn & SLOTS - 1, now);
            } else {
                tick = until;
            }
        }
        if (size > 0) {
            long slot = nextOccupied(tick + SLOTS);
            long turn = nextTurn();
            long next = slot <= tick + SLOTS ? Math.min(slot, turn) : turn;
            if (wakeUp == null || next < wakeUpTick) {
                scheduleWakeUp(next);
            }
        }
    }

    /** A turn of the wheel begins: what is due in it gets its slot. */
    private void begin(long turn) {
        Head begun = turns[(int) turn & TURNS - 1];
        Entry head = begun;
        Entry entry = head.next;
        head.next = head;
        head.previous = head;
        begun.occupied(false);
        while (entry != null && entry != head) {
            Entry following = entry.next;
            size--;
            link(entry, entry.tick);
            entry = following;
        }
    }

    /** The tick at which the next turn begins in which something is due; far away when there is none. */
    private long nextTurn() {
        long current = tick / SLOTS;
        for (long turn = current + 1; turn <= current + TURNS; turn++) {
            int index = (int) turn & TURNS - 1;
            if ((occupiedTurns[index >> 6] & 1L << index) != 0) {
                return turn * SLOTS;
            }
        }
        return Long.MAX_VALUE;
    }

    /** The next tick after the current one whose slot holds entries; past {@code until} when there is none before. */
    private long nextOccupied(long until) {
        long candidate = tick + 1;
        long last = Math.min(until, tick + SLOTS);
        while (candidate <= last) {
            int slot = (int) candidate & SLOTS - 1;
            long word = occupied[slot >> 6] >>> slot;
            if (word != 0) {
                return candidate + Long.numberOfTrailingZeros(word);
            }
            candidate += 64 - (slot & 63);
        }
        return last + 1;
    }

    private void expire(int slot, long now) {
        Entry head = slots[slot];
        for (Entry entry = head.next; entry != null && entry != head; ) {
            Entry following = entry.next;
            if (entry.tick <= tick) {
                unlink(entry);
                append(due, entry);
            }
            entry = following;
        }
        // a callback may arm or cancel any entry, those still on this list included
        for (Entry entry = due.next; entry != null && entry != due; entry = due.next) {
            unlink(entry);
            if (entry.deadlineNanos - now > 0) {
                arm(entry, entry.deadlineNanos);
            } else {
                expire(entry, now);
            }
        }
    }

    private static void expire(Entry entry, long now) {
        try {
            entry.expired(now);
        } catch (RuntimeException e) {
            LOG.error("A timer failed", e);
        }
    }
}
