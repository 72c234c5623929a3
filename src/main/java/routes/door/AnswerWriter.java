package routes.door;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import routes.net.HeadBytes;
import routes.request.Client.AnswerHead;
import routes.request.Client.BodyFraming;

/**
 * Writes answers as HTTP/1.1 bytes, straight to the socket's outbound buffer. A head waits for the first piece of its body
 * and leaves with it in one buffer when it fits.
 *
 * <p><b>Threading:</b> event-loop confined. <b>Ownership:</b> owns a head that waits until it is written or
 * {@link #release}d.
 */
final class AnswerWriter {

    /** Room behind a head for the first piece of a body. */
    private static final int JOINED_BYTES = 4096;

    private static final byte[][] STATUS_LINES = new byte[600][];
    private static final byte[] CHUNKED = ascii("transfer-encoding: chunked\r\n");
    private static final byte[] CLOSE = ascii("connection: close\r\n");
    private static final byte[] KEEP_ALIVE = ascii("connection: keep-alive\r\n");
    private static final byte[] CONTENT_LENGTH = ascii("content-length: ");
    private static final byte[] REQUEST_ID = ascii("x-request-id: ");
    private static final byte[] FALLBACK = ascii("x-dromedary-fallback: ");
    private static final byte[] NOTHING = {};
    private static final byte[] CRLF = ascii("\r\n");
    private static final byte[] CONTINUE = ascii("HTTP/1.1 100 Continue\r\n\r\n");

    private final ChannelHandlerContext ctx;
    private @Nullable ByteBuf waiting;
    private byte @Nullable [] lines;

    AnswerWriter(ChannelHandlerContext ctx) {
        this.ctx = ctx;
    }

    /** How the connection goes on after an answer. */
    record Ending(boolean http10, boolean reuse) {}

    /** Header lines that the answers have from here on, each ended by CRLF; null for none. */
    void lines(byte @Nullable [] further) {
        lines = further;
    }

    void sendContinue() {
        ctx.writeAndFlush(ctx.alloc().directBuffer(CONTINUE.length).writeBytes(CONTINUE), ctx.voidPromise());
    }

    /**
     * Begins an answer with a replica's head.
     *
     * @param servedInstead the model that served the request in place of the one asked for
     * @return how the body is framed; null when it can only end with the connection
     */
    @Nullable
    BodyFraming head(AnswerHead head, String requestId, @Nullable String servedInstead, Ending ending) {
        HeadBytes text = HeadBytes.begin();
        text.put(statusLine(head.status()));
        head.writeLines(text);
        text.put(REQUEST_ID).put(requestId).put(CRLF);
        if (servedInstead != null) {
            text.put(FALLBACK).put(servedInstead).put(CRLF);
        }
        addLines(text);
        BodyFraming framing = BodyFraming.PLAIN;
        boolean endless = false;
        if (!head.bodyless()) {
            if (head.contentLength() >= 0) {
                text.put(CONTENT_LENGTH).put(head.contentLength()).put(CRLF);
            } else if (!ending.http10()) {
                text.put(CHUNKED);
                framing = BodyFraming.CHUNKED;
            } else {
                endless = true;
            }
        }
        text.put(connection(ending, ending.reuse() && !endless)).put(CRLF);
        ByteBuf out = ctx.alloc().directBuffer(text.length() + JOINED_BYTES);
        text.writeTo(out);
        waiting = out;
        return endless ? null : framing;
    }

    /** Takes ownership. */
    void write(ByteBuf piece) {
        ByteBuf head = waiting;
        if (head == null) {
            ctx.write(piece, ctx.voidPromise());
            return;
        }
        waiting = null;
        if (piece.readableBytes() <= head.writableBytes()) {
            head.writeBytes(piece);
            piece.release();
            ctx.write(head, ctx.voidPromise());
        } else {
            ctx.write(head, ctx.voidPromise());
            ctx.write(piece, ctx.voidPromise());
        }
    }

    void flush() {
        ByteBuf head = waiting;
        if (head != null) {
            waiting = null;
            ctx.write(head, ctx.voidPromise());
        }
        ctx.flush();
    }

    /** Writes a whole answer. */
    void whole(int status, List<Map.Entry<String, String>> headers, Content content, Ending ending) {
        HeadBytes text = HeadBytes.begin();
        text.put(statusLine(status));
        boolean bodyless = status == 204;
        if (!bodyless) {
            line(text, "content-type", content.type);
        }
        for (Map.Entry<String, String> header : headers) {
            line(text, header.getKey(), header.getValue());
        }
        addLines(text);
        if (!bodyless) {
            text.put(CONTENT_LENGTH).put(content.body.length).put(CRLF);
        }
        text.put(connection(ending, ending.reuse())).put(CRLF);
        ByteBuf out = ctx.alloc().directBuffer(text.length() + content.body.length);
        text.writeTo(out);
        if (!content.headOnly && !bodyless) {
            out.writeBytes(content.body);
        }
        ctx.write(out, ctx.voidPromise());
    }

    /** An answer's body; with {@code headOnly} it stays here, as HEAD asks for. */
    static final class Content {
        private final String type;
        private final byte[] body;
        private final boolean headOnly;

        Content(String type, byte[] body, boolean headOnly) {
            this.type = type;
            this.body = body;
            this.headOnly = headOnly;
        }
    }

    void release() {
        ByteBuf head = waiting;
        waiting = null;
        if (head != null) {
            head.release();
        }
    }

    private void addLines(HeadBytes text) {
        byte[] further = lines;
        if (further != null) {
            text.put(further);
        }
    }

    private static byte[] connection(Ending ending, boolean reuse) {
        if (!reuse) {
            return CLOSE;
        }
        return ending.http10() ? KEEP_ALIVE : NOTHING;
    }

    private static void line(HeadBytes text, String name, String value) {
        if (value.chars().anyMatch(c -> c < ' ' || c > '~')) {
            // a value from a step must not begin another header
            return;
        }
        text.put(name).put(": ").put(value).put(CRLF);
    }

    private static byte[] statusLine(int status) {
        byte[] line = status < STATUS_LINES.length ? STATUS_LINES[status] : null;
        if (line == null) {
            line = ascii("HTTP/1.1 " + status + ' '
                    + HttpResponseStatus.valueOf(status).reasonPhrase() + "\r\n");
            if (status < STATUS_LINES.length) {
                STATUS_LINES[status] = line;
            }
        }
        return line;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
