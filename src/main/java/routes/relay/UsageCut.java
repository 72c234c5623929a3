package routes.relay;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import org.jspecify.annotations.Nullable;

/**
 * Takes the usage-only event out of a stream's data. Of a block that may still turn out to be that event, the bytes are
 * held back; every other byte goes with the read it came with.
 *
 * <p>Works on the data of one read, packed at the front of an array: {@link #beginRead}, any number of {@link #data},
 * at the body's end {@link #end}, then {@link #decide}, {@link #writeDue} and {@link #hold}.
 *
 * <p><b>Threading</b>: event-loop confined.
 *
 * <p><b>Ownership</b>: owns what it holds until {@link #writeDue} or {@link #release}.
 */
final class UsageCut {

    /** Bytes of a block beyond which it is let through, whatever it is. */
    static final int MAX_HELD = 16 * 1024;

    private final EventScanner events;
    private final ByteBufAllocator allocator;

    private @Nullable ByteBuf held;
    private int blockStart;
    private boolean heldIsDue;
    private boolean letThrough;
    private boolean lastWasCut;
    private boolean changed;

    UsageCut(EventScanner events, ByteBufAllocator allocator) {
        this.events = events;
        this.allocator = allocator;
    }

    void beginRead() {
        blockStart = 0;
        heldIsDue = false;
        changed = held != null;
    }

    /**
     * Looks through new data.
     *
     * @return the end of what is left of it, packed
     */
    int data(byte[] bytes, int from, int to) {
        int p = from;
        int end = to;
        if (p < end && events.takeLineFeed(bytes[p])) {
            if (lastWasCut) {
                end = remove(bytes, p, p + 1, end);
            } else {
                p++;
            }
            blockStart = p;
        }
        while (p < end) {
            p = events.scan(bytes, p, end);
            if (!events.blockEnded()) {
                break;
            }
            lastWasCut = events.usageOnly() && !letThrough && blockBytes(p) <= MAX_HELD;
            if (lastWasCut) {
                end = remove(bytes, blockStart, p, end);
                p = blockStart;
                dropBlock();
            } else {
                heldIsDue |= held != null;
                blockStart = p;
            }
            letThrough = false;
        }
        return end;
    }

    /**
     * The body ended, which ends its last block.
     *
     * @return the end of the data that is left
     */
    int end(int end) {
        events.end();
        if (events.usageOnly() && !letThrough && blockBytes(end) <= MAX_HELD) {
            changed |= end > blockStart;
            dropBlock();
            return blockStart;
        }
        giveUp();
        return end;
    }

    /** Lets the current block through: there is no end to wait for. */
    void giveUp() {
        letThrough = true;
    }

    /**
     * How much of the data may go now.
     *
     * @param end the end of this read's data
     */
    int decide(int end) {
        boolean ofThisBlock = end > blockStart || held != null;
        if (!ofThisBlock || (heldIsDue && end == blockStart)) {
            return end;
        }
        letThrough |= events.ruledOut() || blockBytes(end) > MAX_HELD;
        if (!letThrough) {
            changed |= end > blockStart;
            return blockStart;
        }
        heldIsDue |= held != null;
        return end;
    }

    /** Whether the client gets other bytes than those of this read. */
    boolean changed() {
        return changed;
    }

    /** Bytes held from earlier reads that may go now, in front of this read's data. */
    int dueBytes() {
        return heldIsDue && held != null ? held.readableBytes() : 0;
    }

    void writeDue(ByteBuf out) {
        if (heldIsDue && held != null) {
            out.writeBytes(held);
            release();
        }
    }

    /** Holds the undecided rest of a read. Call after {@link #writeDue}. */
    void hold(byte[] bytes, int from, int to) {
        if (from < to) {
            if (held == null) {
                held = allocator.heapBuffer(Math.max(512, to - from), MAX_HELD);
            }
            held.writeBytes(bytes, from, to - from);
        }
    }

    void release() {
        if (held != null) {
            held.release();
            held = null;
        }
        heldIsDue = false;
    }

    /** What is due is of an earlier block. */
    private void dropBlock() {
        if (!heldIsDue) {
            release();
        }
    }

    private int blockBytes(int end) {
        int earlier = held == null || heldIsDue ? 0 : held.readableBytes();
        return earlier + end - blockStart;
    }

    private int remove(byte[] bytes, int from, int to, int end) {
        System.arraycopy(bytes, to, bytes, from, end - to);
        changed = true;
        return end - (to - from);
    }
}
