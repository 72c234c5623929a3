package routes.door;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import org.jspecify.annotations.Nullable;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.request.Lease;

/**
 * Gathers one request body in one contiguous buffer: of exactly its size when the length is known, else growing by
 * doubling. Its bytes are taken from the budget before they are allocated.
 *
 * <p><b>Threading:</b> event-loop confined. <b>Ownership:</b> owns the buffer until {@link #take} or {@link #release}.
 */
final class BodyCollector {

    private static final int FIRST_CHUNKED = 4096;

    private final ByteBufAllocator alloc;
    private final Lease lease;
    private final long limit;
    private final @Nullable ChunkedBody chunked;
    private @Nullable ByteBuf buffer;
    private boolean complete;

    private BodyCollector(ByteBufAllocator alloc, Lease lease, long limit, @Nullable ChunkedBody chunked) {
        this.alloc = alloc;
        this.lease = lease;
        this.limit = limit;
        this.chunked = chunked;
    }

    static BodyCollector ofLength(ByteBufAllocator alloc, Lease lease, int length) throws GatewayException {
        BodyCollector collector = new BodyCollector(alloc, lease, length, null);
        collector.take(length);
        collector.buffer = alloc.directBuffer(length + 1, length + 1);
        return collector;
    }

    static BodyCollector ofChunks(ByteBufAllocator alloc, Lease lease, long limit) {
        return new BodyCollector(alloc, lease, limit, new ChunkedBody());
    }

    /**
     * Takes what belongs to the body from {@code in}.
     *
     * @return whether the body is complete
     */
    boolean feed(ByteBuf in) throws GatewayException {
        if (chunked != null) {
            complete = chunked.feed(in, this::append);
            return complete;
        }
        ByteBuf body = target();
        body.writeBytes(in, (int) Math.min(in.readableBytes(), limit - body.readableBytes()));
        return isFull();
    }

    /**
     * The buffer that a body of known length may be read into. It has room for one byte more, so that a read that brings the
     * whole body and no more is known to have emptied the socket.
     */
    ByteBuf target() {
        ByteBuf body = buffer;
        if (body == null) {
            throw new IllegalStateException("no buffer");
        }
        return body;
    }

    boolean hasLength() {
        return chunked == null;
    }

    boolean isFull() {
        ByteBuf body = buffer;
        return chunked == null ? body != null && body.readableBytes() >= limit : complete;
    }

    /** What was read beyond a body of known length, or null. Returns owned; the caller releases. */
    @Nullable
    ByteBuf takeExcess() {
        ByteBuf body = buffer;
        if (chunked != null || body == null || body.readableBytes() <= limit) {
            return null;
        }
        int excess = body.readableBytes() - (int) limit;
        ByteBuf rest = alloc.directBuffer(256).writeBytes(body, body.readerIndex() + (int) limit, excess);
        body.writerIndex(body.writerIndex() - excess);
        return rest;
    }

    /** Returns owned; the caller releases. */
    ByteBuf take() {
        ByteBuf body = buffer == null ? alloc.directBuffer(1) : buffer;
        buffer = null;
        return body;
    }

    void release() {
        ByteBuf body = buffer;
        buffer = null;
        if (body != null) {
            body.release();
        }
    }

    private void append(ByteBuf source, int index, int length) throws GatewayException {
        ByteBuf body = buffer;
        int had = body == null ? 0 : body.readableBytes();
        if (had + (long) length > limit) {
            throw tooLarge(limit);
        }
        if (body == null || body.writableBytes() < length) {
            int capacity = (int) Math.min(limit, Math.max(FIRST_CHUNKED, Long.highestOneBit(had + (long) length) << 1));
            take(capacity - (body == null ? 0 : body.capacity()));
            ByteBuf larger = alloc.directBuffer(capacity, capacity);
            if (body != null) {
                larger.writeBytes(body);
                body.release();
            }
            buffer = larger;
            body = larger;
        }
        body.writeBytes(source, index, length);
    }

    private void take(long bytes) throws GatewayException {
        if (!lease.tryTakeBody(bytes)) {
            throw new GatewayException(ErrorCode.BODY_BUDGET_EXHAUSTED);
        }
    }

    static GatewayException tooLarge(long limit) {
        return new GatewayException(
                ErrorCode.BODY_TOO_LARGE,
                "The request body is larger than this gateway accepts (at most " + limit + " bytes).");
    }
}
