package routes.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the buffer of each read of one channel: small and pooled, doubling while reads fill it and shrinking again; or,
 * while a body of known length is awaited, that body's own buffer, so that the kernel writes it where it stays.
 *
 * <p><b>Threading:</b> event-loop confined; one instance for each channel. <b>Ownership:</b> a target is borrowed: each
 * read that goes into it retains it once more and hands that reference to {@code channelRead}.
 */
public final class ReadBuffers extends DefaultMaxMessagesRecvByteBufAllocator {

    private static final int MAX_READS = 16;
    private static final int LARGEST = 65536;

    private final int smallest;
    private int size;
    private @Nullable ByteBuf target;

    /** @param smallest bytes of the first read, such as 2048 */
    public ReadBuffers(int smallest) {
        super(MAX_READS);
        this.smallest = smallest;
        this.size = smallest;
    }

    /** The next read is the smallest again: what follows has a buffer of its own to go into. */
    public void startSmall() {
        size = smallest;
    }

    /** Reads go into this buffer's writable bytes until it is null again. */
    public void readInto(@Nullable ByteBuf buffer) {
        target = buffer;
    }

    @Override
    @SuppressWarnings("deprecation") // the interface's own return type
    public Handle newHandle() {
        return new Sizes();
    }

    private final class Sizes extends MaxMessageHandle {
        @Override
        public int guess() {
            return size;
        }

        @Override
        public ByteBuf allocate(ByteBufAllocator alloc) {
            ByteBuf body = target;
            return body != null && body.isWritable() ? body.retain() : alloc.directBuffer(size, size);
        }

        @Override
        public void lastBytesRead(int bytes) {
            super.lastBytesRead(bytes);
            if (target == null && bytes > 0) {
                if (bytes == attemptedBytesRead()) {
                    size = Math.min(LARGEST, size << 1);
                } else if (bytes < size >> 1) {
                    size = Math.max(smallest, size >> 1);
                }
            }
        }
    }
}
