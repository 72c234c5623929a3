package routes.demo;

import com.fasterxml.jackson.databind.JsonNode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.concurrent.EventExecutor;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One client connection: takes requests one after another and sends their answers, whole or as events.
 *
 * <p><b>Threading</b>: event-loop confined.
 *
 * <p><b>Ownership</b>: keeps pipelined requests until their turn and releases each of them once.
 *
 * <p><b>Failure</b>: when the client closes or the connection breaks, the answer in the making is aborted.
 */
final class DemoConnection extends SimpleChannelInboundHandler<FullHttpRequest> {

    private static final int MAX_PIPELINED = 16;
    private static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern(
                    "EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH)
            .withZone(ZoneOffset.UTC);

    private final DemoRoutes routes;
    private final KeepAlive keepAlive;
    private final String server;
    private final Deque<FullHttpRequest> pipelined = new ArrayDeque<>();
    private @Nullable ChannelHandlerContext context;
    private @Nullable Generation generation;
    private boolean busy;
    private boolean persistent;
    private boolean chunked;

    DemoConnection(DemoRoutes routes, KeepAlive keepAlive, String server) {
        this.routes = routes;
        this.keepAlive = keepAlive;
        this.server = server;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
        if (!busy && pipelined.isEmpty()) {
            handle(request);
        } else if (pipelined.size() < MAX_PIPELINED) {
            pipelined.add(request.retain());
        } else {
            ctx.close();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (generation != null && ctx.channel().isWritable()) {
            generation.resume();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        if (generation != null) {
            generation.abort();
            generation = null;
        }
        while (!pipelined.isEmpty()) {
            pipelined.remove().release();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        ctx.close();
    }

    // ---- for the routes

    EventExecutor loop() {
        return context().executor();
    }

    void generate(Generation next) {
        generation = next;
        next.start();
    }

    void json(int status, JsonNode body) {
        send(status, "application/json", Json.bytes(body));
    }

    void send(int status, String type, byte[] body) {
        HttpResponse response = head(
                new DefaultFullHttpResponse(
                        HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status), Unpooled.wrappedBuffer(body)),
                type);
        HttpUtil.setContentLength(response, body.length);
        context().write(response);
        finish();
    }

    /** Answers, then closes: what follows on the connection can not be told apart. */
    void refuse(String text) {
        persistent = false;
        send(400, "text/plain; charset=utf-8", text.getBytes(StandardCharsets.UTF_8));
    }

    /** Sends the head of a stream at once, before there is anything to say. */
    void startStream() {
        HttpResponse response = head(
                new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK),
                "text/event-stream; charset=utf-8");
        HttpUtil.setTransferEncodingChunked(response, chunked);
        context().writeAndFlush(response);
    }

    /** Writes {@code data: {…}} and an empty line, without a flush. */
    void event(JsonNode data) {
        ByteBuf event = Json.event(context().alloc(), data);
        context().write(new DefaultHttpContent(event));
    }

    /** Writes {@code event: …} and {@code data: {…}} and an empty line, without a flush. */
    void event(String name, JsonNode data) {
        context()
                .write(new DefaultHttpContent(
                        Unpooled.copiedBuffer("event: " + name + "\n", StandardCharsets.US_ASCII)));
        event(data);
    }

    /** Ends a stream whose last event says so itself. */
    void endEvents() {
        context().write(LastHttpContent.EMPTY_LAST_CONTENT);
        finish();
    }

    void endStream() {
        ByteBuf done = Unpooled.copiedBuffer("data: [DONE]\n\n", StandardCharsets.US_ASCII);
        context().write(new DefaultHttpContent(done));
        context().write(LastHttpContent.EMPTY_LAST_CONTENT);
        finish();
    }

    boolean isWritable() {
        return context().channel().isWritable();
    }

    void flush() {
        context().flush();
    }

    /** Breaks the connection with a RST; what was flushed stays readable. */
    void reset() {
        generation = null;
        context().flush();
        context().channel().config().setOption(ChannelOption.SO_LINGER, 0);
        context().close();
    }

    // ---- one request after another

    private void handle(FullHttpRequest request) {
        busy = true;
        chunked = request.protocolVersion().isKeepAliveDefault();
        persistent = chunked && HttpUtil.isKeepAlive(request);
        routes.handle(request, this);
    }

    private void finish() {
        generation = null;
        if (!persistent) {
            // stays busy: whatever else arrives is not answered
            context().writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
            return;
        }
        busy = false;
        context().flush();
        if (pipelined.isEmpty()) {
            keepAlive.start(context());
        } else {
            loop().execute(this::handlePipelined);
        }
    }

    private void handlePipelined() {
        FullHttpRequest next = busy ? null : pipelined.poll();
        if (next != null) {
            try {
                handle(next);
            } finally {
                next.release();
            }
        }
    }

    private HttpResponse head(HttpResponse response, String type) {
        response.headers().set(HttpHeaderNames.DATE, DATE.format(Instant.now())).set(HttpHeaderNames.SERVER, server);
        if (!type.isEmpty()) {
            response.headers().set(HttpHeaderNames.CONTENT_TYPE, type);
        }
        if (!persistent) {
            response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        }
        return response;
    }

    private ChannelHandlerContext context() {
        if (context == null) {
            throw new IllegalStateException("not in a pipeline");
        }
        return context;
    }
}
