package routes.relay;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * One answer's way from replica to client: takes reads, hands on what may go to the client, finds the answer's end.
 *
 * <p>Where framing need not change, a read leaves as the very buffer that came, while the observer looks at a copy in
 * the scratch array. When usage is cut this holds for each read that begins and ends between chunks and from which
 * nothing is cut or held; any other read's data leaves as one chunk of its own, so that the client stands between
 * chunks after each read.
 *
 * <p><b>Threading</b>: event-loop confined; so is the scratch array, which all answers of the loop may share: it is not
 * in use when the sink is called, nor between reads.
 *
 * <p><b>Ownership</b>: {@link #relay} takes ownership of what it is given, the sink of what it gets. {@link #release}
 * must be called once the answer is over, however it ended.
 *
 * <p><b>Failure</b>: an answer that is cut off or breaks its framing is {@link RelayState#MALFORMED}; what was good of
 * it was handed on, an end was not.
 */
public final class AnswerRelay {

    private static final byte[] CRLF = {'\r', '\n'};
    private static final byte[] LAST_CHUNK = {'0', '\r', '\n'};
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    /** A size line, the CRLF behind the data, a last chunk and its CRLF. */
    private static final int MAX_FRAME = 8 + 2 + 2 + 3 + 2;

    private final RelayPlan plan;
    private final ByteBufAllocator allocator;
    private final byte[] scratch;
    private final @Nullable EventScanner events;
    private final @Nullable Observer observer;
    private final @Nullable UsageCut cut;
    private final ChunkScanner chunks = new ChunkScanner();

    private RelayState state = RelayState.MORE;
    private long left;
    private boolean extraBytes;

    private int dataEnd;
    private int trailerFrom;
    private int trailerTo;
    private boolean lastChunk;

    /** Where the client's bytes go. */
    @FunctionalInterface
    public interface Sink {
        /** Takes ownership; must not throw. */
        void write(ByteBuf owned);
    }

    /** @param scratch of any size; a read that is larger is looked at in pieces */
    public AnswerRelay(RelayPlan plan, AnswerFacts facts, ByteBufAllocator allocator, byte[] scratch) {
        this.plan = plan;
        this.allocator = allocator;
        this.scratch = scratch;
        left = plan.length();
        events = plan.content() == Content.SSE ? new EventScanner(facts) : null;
        observer = plan.content() == Content.JSON ? new DocumentScanner(facts) : events;
        cut = plan.cutUsage() && events != null ? new UsageCut(events, allocator) : null;
    }

    /**
     * Relays a read; takes ownership of it. Whatever of it may go to the client has gone to the sink when this returns.
     * A body of no bytes needs one call with an empty buffer to reach its end.
     */
    public RelayState relay(ByteBuf in, Sink sink) {
        ByteBuf unsent = in;
        try {
            if (state != RelayState.MORE) {
                extraBytes |= in.isReadable();
            } else if (cut == null && plan.keepsFraming()) {
                int start = in.readerIndex();
                int good = follow(in);
                if (good > 0) {
                    unsent = null;
                    sink.write(in.writerIndex(start + good));
                }
            } else {
                unsent = relayPieces(in, sink);
            }
            return state;
        } finally {
            if (unsent != null) {
                unsent.release();
            }
        }
    }

    /**
     * The replica closed its side. What was held goes to the sink.
     *
     * @return {@code END} where that is the answer's end or comes after it, else {@code MALFORMED}
     */
    public RelayState upstreamClosed(Sink sink) {
        if (state == RelayState.MORE) {
            beginPiece();
            if (plan.upstream() == Framing.CLOSE) {
                endBody();
                state = RelayState.END;
            } else {
                breakOff();
            }
            write(sink);
        }
        return state;
    }

    /**
     * Ends a stream here with an event of the gateway's own. Possible only where the client stands between two events;
     * then the answer is at its end, and what the replica still sends is nobody's.
     *
     * @return false, and nothing happened, where the client is inside an event: ask again after the next read
     */
    public boolean endWith(byte[] event, Sink sink) {
        EventScanner scanner = events;
        boolean framed = cut != null || !plan.keepsFraming() || betweenChunks();
        if (state != RelayState.MORE || scanner == null || !scanner.betweenBlocks() || !framed) {
            return false;
        }
        if (plan.client() == Framing.LENGTH) {
            return false;
        }
        boolean chunked = plan.client() == Framing.CHUNKED;
        ByteBuf out = allocator.ioBuffer(event.length + MAX_FRAME);
        if (chunked) {
            writeSize(out, event.length);
        }
        out.writeBytes(event);
        if (chunked) {
            out.writeBytes(CRLF).writeBytes(LAST_CHUNK).writeBytes(CRLF);
        }
        state = RelayState.END;
        sink.write(out);
        return true;
    }

    /** Whether bytes came behind the answer's end: the connection must not be used again. They are never handed on. */
    public boolean extraBytes() {
        return extraBytes;
    }

    public RelayState state() {
        return state;
    }

    /** Releases what is held; may be called again. */
    public void release() {
        if (cut != null) {
            cut.release();
        }
    }

    /** Looks through a read that leaves as it came; returns its good bytes. */
    private int follow(ByteBuf in) {
        int readable = in.readableBytes();
        int good = 0;
        boolean look = observer != null || plan.upstream() == Framing.CHUNKED;
        do {
            int size = Math.min(scratch.length, readable - good);
            beginPiece();
            if (look) {
                in.getBytes(in.readerIndex() + good, scratch, 0, size);
            }
            good += frame(size);
            extraBytes |= state == RelayState.END && good < readable;
        } while (state == RelayState.MORE && good < readable);
        return good;
    }

    /** Returns the buffer when it is still to be released. */
    private @Nullable ByteBuf relayPieces(ByteBuf in, Sink sink) {
        do {
            int size = Math.min(scratch.length, in.readableBytes());
            boolean clean = betweenChunks();
            beginPiece();
            in.getBytes(in.readerIndex(), scratch, 0, size);
            int good = frame(size);
            extraBytes |= state == RelayState.END && good < in.readableBytes();
            if (clean && good > 0 && mayLeaveAsItCame()) {
                if (good == in.readableBytes()) {
                    sink.write(in);
                    return null;
                }
                sink.write(in.readRetainedSlice(good));
            } else {
                in.skipBytes(good);
                write(sink);
            }
        } while (state == RelayState.MORE && in.isReadable());
        return in;
    }

    private boolean mayLeaveAsItCame() {
        return cut != null
                && plan.keepsFraming()
                && betweenChunks()
                && cut.decide(dataEnd) == dataEnd
                && !cut.changed();
    }

    private boolean betweenChunks() {
        return plan.upstream() != Framing.CHUNKED || chunks.atBoundary() || chunks.ended();
    }

    private void beginPiece() {
        dataEnd = 0;
        trailerFrom = 0;
        trailerTo = 0;
        lastChunk = false;
        if (cut != null) {
            cut.beginRead();
        }
    }

    /** Follows the framing through the first bytes of the scratch array; returns how many of them are good. */
    private int frame(int size) {
        if (plan.upstream() == Framing.CHUNKED) {
            return frameChunks(size);
        }
        int good = size;
        if (plan.upstream() == Framing.LENGTH) {
            good = (int) Math.min(left, size);
            left -= good;
        }
        body(0, good);
        if (left == 0) {
            endBody();
            state = RelayState.END;
        }
        return good;
    }

    private int frameChunks(int size) {
        int p = 0;
        while (p < size && state == RelayState.MORE) {
            if (chunks.inData()) {
                int from = p;
                p += chunks.takeData(size - p);
                body(from, p);
                continue;
            }
            boolean inTrailers = chunks.afterLastChunk();
            int from = p;
            p = chunks.advance(scratch, p, size);
            if (inTrailers) {
                trailerFrom = trailerTo == 0 ? from : trailerFrom;
                trailerTo = p;
            } else if (chunks.afterLastChunk()) {
                lastChunk = true;
                endBody();
            }
            if (chunks.ended()) {
                state = RelayState.END;
            } else if (chunks.malformed()) {
                breakOff();
            }
        }
        return p;
    }

    private void body(int from, int to) {
        if (cut == null && plan.keepsFraming()) {
            if (observer != null) {
                observer.data(scratch, from, to);
            }
            return;
        }
        int end = dataEnd + to - from;
        if (from != dataEnd) {
            System.arraycopy(scratch, from, scratch, dataEnd, to - from);
        }
        if (cut != null) {
            dataEnd = cut.data(scratch, dataEnd, end);
            return;
        }
        if (observer != null) {
            observer.data(scratch, dataEnd, end);
        }
        dataEnd = end;
    }

    private void endBody() {
        if (cut != null) {
            dataEnd = cut.end(dataEnd);
        } else if (observer != null) {
            observer.end();
        }
    }

    private void breakOff() {
        state = RelayState.MALFORMED;
        if (cut != null) {
            cut.giveUp();
        }
    }

    /** Writes what may go of a piece, newly framed. */
    private void write(Sink sink) {
        int decided = cut == null ? dataEnd : cut.decide(dataEnd);
        int size = decided + (cut == null ? 0 : cut.dueBytes());
        boolean chunked = plan.client() == Framing.CHUNKED;
        boolean ending = chunked && (plan.upstream() == Framing.CHUNKED ? lastChunk : state == RelayState.END);
        int trailers = chunked ? trailerTo - trailerFrom : 0;
        ByteBuf out = null;
        if (size > 0 || ending || trailers > 0) {
            out = allocator.ioBuffer(size + trailers + MAX_FRAME);
            if (size > 0) {
                writeData(out, size, decided, chunked);
            }
            if (ending) {
                out.writeBytes(LAST_CHUNK);
                if (plan.upstream() != Framing.CHUNKED) {
                    out.writeBytes(CRLF);
                }
            }
            out.writeBytes(scratch, trailerFrom, trailers);
        }
        if (cut != null) {
            cut.hold(scratch, decided, dataEnd);
        }
        if (out != null) {
            sink.write(out);
        }
    }

    private void writeData(ByteBuf out, int size, int decided, boolean chunked) {
        if (chunked) {
            writeSize(out, size);
        }
        if (cut != null) {
            cut.writeDue(out);
        }
        out.writeBytes(scratch, 0, decided);
        if (chunked) {
            out.writeBytes(CRLF);
        }
    }

    private static void writeSize(ByteBuf out, int size) {
        int shift = (31 - Integer.numberOfLeadingZeros(size)) & ~3;
        for (; shift >= 0; shift -= 4) {
            out.writeByte(HEX[(size >>> shift) & 0xf]);
        }
        out.writeBytes(CRLF);
    }
}
