package routes.door;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.PrematureChannelClosureException;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.function.Consumer;
import org.apache.camel.component.netty.http.NettyHttpConsumer;
import org.apache.camel.component.netty.http.handlers.HttpOutboundStreamHandler;
import org.apache.camel.support.RestConsumerContextPathMatcher;
import org.jspecify.annotations.Nullable;
import routes.error.GatewayException;
import routes.request.RequestHead;

/**
 * Hands requests of ordinary routes on the door's port to Camel's stock handlers. The door's own parser has read and
 * checked the head, so the same connection can carry inference requests as well; the stock handlers are added to a
 * connection's pipeline when its first such request comes.
 *
 * <p><b>Threading:</b> event-loop confined; Camel's handler runs where its consumer is configured to run.
 */
final class StockRequests {

    private final ChannelHandlerContext ctx;
    private @Nullable RequestHead head;
    private @Nullable ChunkedBody chunked;
    private long left;

    private StockRequests(ChannelHandlerContext ctx) {
        this.ctx = ctx;
    }

    /** Whether an ordinary consumer on this port serves the path. */
    static boolean match(DoorPort port, RequestHead head) {
        for (NettyHttpConsumer consumer : port.others()) {
            String path = head.path();
            String consumerPath = consumer.getConfiguration().getPath();
            boolean prefix = consumer.getConfiguration().isMatchOnUriPrefix();
            if (RestConsumerContextPathMatcher.matchPath(path, consumerPath, prefix)
                    || matchTemplate(path, consumerPath)) {
                return true;
            }
        }
        return false;
    }

    /** Whether the path fits a template such as {@code /orders/{id}}. */
    private static boolean matchTemplate(String path, String template) {
        if (template.indexOf('{') < 0) {
            return false;
        }
        String[] segments = path.split("/", -1);
        String[] wanted = template.split("/", -1);
        if (segments.length != wanted.length) {
            return false;
        }
        for (int i = 0; i < segments.length; i++) {
            if (!wanted[i].startsWith("{") && !wanted[i].equals(segments[i])) {
                return false;
            }
        }
        return true;
    }

    /** @param done told when an answer has been written, and whether the connection may go on */
    static StockRequests attach(ChannelHandlerContext ctx, DoorPort port, Consumer<Boolean> done) {
        StockRequests bridge = new StockRequests(ctx);
        NettyHttpConsumer any = port.others().get(0);
        ChannelPipeline pipeline = ctx.pipeline();
        pipeline.addLast("encoder", bridge.new Encoder());
        pipeline.addLast("answers", bridge.new AnswerWatch(done));
        pipeline.addLast(
                "aggregator", new HttpObjectAggregator(any.getConfiguration().getChunkedMaxContentLength()));
        pipeline.addLast("leavers", new Leavers());
        pipeline.addLast("outbound-streamer", new HttpOutboundStreamHandler());
        ChannelHandler handler = port.stock().getChannelHandler();
        if (any.getConfiguration().isUsingExecutorService()) {
            pipeline.addLast(any.getEndpoint().getComponent().getExecutorService(), "handler", handler);
        } else {
            pipeline.addLast("handler", handler);
        }
        return bridge;
    }

    void begin(RequestHead request) {
        head = request;
        left = Math.max(0, request.contentLength());
        chunked = request.chunked() ? new ChunkedBody() : null;
        HttpHeaders headers =
                DefaultHttpHeadersFactory.headersFactory().withValidation(false).newHeaders();
        request.forEach(headers::add);
        HttpVersion version = request.http10() ? HttpVersion.HTTP_1_0 : HttpVersion.HTTP_1_1;
        ctx.fireChannelRead(new DefaultHttpRequest(
                version, HttpMethod.valueOf(request.methodName()), request.rawTarget(), headers));
        if (chunked == null && left == 0) {
            ctx.fireChannelRead(LastHttpContent.EMPTY_LAST_CONTENT);
        }
    }

    /**
     * Passes on what belongs to the body.
     *
     * @return whether the body is complete
     */
    boolean feed(ByteBuf in) throws GatewayException {
        boolean complete;
        ChunkedBody coding = chunked;
        if (coding != null) {
            complete = coding.feed(
                    in,
                    (source, index, length) ->
                            ctx.fireChannelRead(new DefaultHttpContent(source.retainedSlice(index, length))));
        } else {
            int length = (int) Math.min(left, in.readableBytes());
            left -= length;
            ctx.fireChannelRead(new DefaultHttpContent(in.readRetainedSlice(length)));
            complete = left == 0;
        }
        if (complete) {
            ctx.fireChannelRead(LastHttpContent.EMPTY_LAST_CONTENT);
        }
        return complete;
    }

    /** Keeps a client that leaves in the middle of a body out of Camel's log. */
    private static final class Leavers extends ChannelInboundHandlerAdapter {
        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            if (!(cause instanceof PrematureChannelClosureException)) {
                context.fireExceptionCaught(cause);
            }
        }
    }

    /** Leaves the body of an answer to HEAD out. */
    private final class Encoder extends HttpResponseEncoder {
        @Override
        protected boolean isContentAlwaysEmpty(HttpResponse answer) {
            RequestHead answeredTo = head;
            return answeredTo != null && answeredTo.method() == RequestHead.Method.HEAD
                    || super.isContentAlwaysEmpty(answer);
        }
    }

    /** Sees the end of each stock answer pass. */
    private final class AnswerWatch extends ChannelOutboundHandlerAdapter {
        private final Consumer<Boolean> done;
        private boolean interim;

        AnswerWatch(Consumer<Boolean> done) {
            this.done = done;
        }

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) throws Exception {
            if (message instanceof HttpResponse response) {
                interim = response.status().codeClass() == HttpStatusClass.INFORMATIONAL;
            }
            boolean last = message instanceof LastHttpContent && !interim;
            super.write(context, message, promise);
            if (last) {
                RequestHead answeredTo = head;
                boolean reuse = answeredTo != null && answeredTo.keepAlive();
                context.executor().execute(() -> {
                    ctx.flush();
                    done.accept(reuse);
                });
            }
        }
    }
}
