package routes.health;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.resolver.NoopAddressResolverGroup;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import routes.net.Tls;
import routes.replica.Replica;

/**
 * Sends {@code GET}s for one path of one replica, one at a time, over a connection of its own that is kept in between. When
 * the replica has closed a kept connection meanwhile, the {@code GET} goes over a new one, and nobody notices.
 *
 * <p><b>Threading:</b> confined to its event loop. <b>Failure:</b> every {@link #get} ends within the time-out, by exactly one
 * call of {@link Reader#ends} or {@link Reader#fails}, unless the reader wanted no more or the client was closed.
 */
final class GetClient implements AutoCloseable {

    /** vLLM closes connections that are idle for 5 s: longer pauses are not worth keeping one. */
    private static final Duration LONGEST_IDLE = Duration.ofSeconds(4);

    private static final String INVALID = "its answer is not HTTP";
    private static final String CLOSED = "it closed the connection";

    /** Takes an answer as it comes. */
    interface Reader {

        void begins(int status);

        /**
         * A part of the body. Borrows; do not retain.
         *
         * @return whether more is wanted; if not, the connection is closed and nothing more is called
         */
        boolean part(ByteBuf bytes);

        void ends();

        /** @param why for the log */
        void fails(String why);
    }

    private final Replica replica;
    private final EventLoop loop;
    private final Duration timeout;
    private final String path;
    private final Bootstrap bootstrap;
    private @Nullable Connection kept;
    private @Nullable Get current;

    GetClient(Replica replica, String path, EventLoop loop, Duration timeout) {
        this.replica = replica;
        this.loop = loop;
        this.timeout = timeout;
        this.path = replica.configured().basePath() + path;
        this.bootstrap = new Bootstrap()
                .group(loop)
                .channel(NioSocketChannel.class)
                .resolver(NoopAddressResolverGroup.INSTANCE)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) timeout.toMillis())
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        if (replica.configured().isSecure()) {
                            channel.pipeline()
                                    .addLast(Tls.handler(
                                            channel,
                                            replica.options().trustStore(),
                                            replica.configured().serverName(),
                                            replica.configured().port()));
                        }
                        channel.pipeline().addLast(new HttpClientCodec(), new Connection(channel));
                    }
                });
    }

    /**
     * Asks once.
     *
     * @param to where the replica is now
     * @param pause until the next time, about; a connection that would be idle too long is not kept
     */
    void get(InetSocketAddress to, Duration pause, Reader reader) {
        if (current != null) {
            throw new IllegalStateException("the last answer is still to come");
        }
        Get get = new Get(reader, pause.compareTo(LONGEST_IDLE) <= 0);
        current = get;
        Connection connection = kept;
        kept = null;
        if (connection != null && connection.leadsTo(to)) {
            connection.send(get, true);
            return;
        }
        if (connection != null) {
            connection.channel.close();
        }
        connect(to, get);
    }

    private void connect(InetSocketAddress to, Get get) {
        ChannelFuture connecting = bootstrap.connect(to);
        get.channel = connecting.channel();
        connecting.addListener((ChannelFuture done) -> {
            if (get != current) {
                done.channel().close();
            } else if (done.isSuccess()) {
                done.channel().pipeline().get(Connection.class).send(get, false);
            } else {
                get.fails(reason(done.cause()));
            }
        });
    }

    /** Breaks off what is under way, without a call to its reader. */
    @Override
    public void close() {
        if (current != null) {
            current.over();
        }
        if (kept != null) {
            kept.channel.close();
            kept = null;
        }
    }

    private FullHttpRequest request(boolean keep) {
        FullHttpRequest request =
                new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, path, Unpooled.EMPTY_BUFFER);
        request.headers()
                .set(HttpHeaderNames.HOST, replica.configured().authority())
                .set(HttpHeaderNames.USER_AGENT, "dromedary")
                .set(HttpHeaderNames.ACCEPT, "*/*")
                .set(HttpHeaderNames.ACCEPT_ENCODING, HttpHeaderValues.IDENTITY);
        if (!keep) {
            request.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        }
        return request;
    }

    private static String reason(Throwable cause) {
        if (cause instanceof ConnectException) {
            return "it can't be connected to";
        }
        Throwable root = cause.getCause() instanceof SSLException tls ? tls : cause;
        return root instanceof SSLException ? "TLS: " + root.getMessage() : CLOSED;
    }

    /** A question and who waits for its answer. */
    private final class Get {

        private final Reader reader;
        private final boolean keep;
        private final Future<?> limit;
        private @Nullable Channel channel;

        Get(Reader reader, boolean keep) {
            this.reader = reader;
            this.keep = keep;
            this.limit = loop.schedule(
                    () -> fails("no answer within " + timeout.toMillis() + " ms"),
                    timeout.toNanos(),
                    TimeUnit.NANOSECONDS);
        }

        void fails(String why) {
            over();
            reader.fails(why);
        }

        /** Nothing more comes of it. */
        void over() {
            release();
            if (channel != null && channel.isOpen()) {
                channel.close();
            }
        }

        /** The answer is complete; its connection lives on. */
        void release() {
            limit.cancel(false);
            if (current == this) {
                current = null;
            }
        }
    }

    private final class Connection extends ChannelInboundHandlerAdapter {

        private final Channel channel;
        private @Nullable Get get;
        private boolean wasKept;
        private boolean answering;
        private boolean interim;
        private boolean reusable;

        Connection(Channel channel) {
            this.channel = channel;
        }

        boolean leadsTo(InetSocketAddress to) {
            return channel.isActive() && to.equals(channel.remoteAddress());
        }

        void send(Get next, boolean again) {
            get = next;
            next.channel = channel;
            wasKept = again;
            answering = false;
            channel.writeAndFlush(request(next.keep)).addListener(done -> {
                if (!done.isSuccess()) {
                    lost(reason(done.cause()));
                }
            });
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            try {
                Get asked = get;
                if (asked == null || asked != current) {
                    context.close();
                } else if (message instanceof HttpObject part
                        && part.decoderResult().isSuccess()) {
                    read(asked, part);
                } else {
                    get = null;
                    asked.fails(INVALID);
                }
            } finally {
                ReferenceCountUtil.release(message);
            }
        }

        private void read(Get asked, HttpObject message) {
            if (message instanceof HttpResponse response) {
                int status = response.status().code();
                answering = true;
                interim = response.status().codeClass() == HttpStatusClass.INFORMATIONAL;
                reusable = asked.keep && HttpUtil.isKeepAlive(response);
                if (!interim) {
                    asked.reader.begins(status);
                }
            }
            if (message instanceof HttpContent content && !interim) {
                if (content.content().isReadable() && !asked.reader.part(content.content())) {
                    get = null;
                    asked.over();
                } else if (message instanceof LastHttpContent) {
                    complete(asked);
                }
            }
        }

        private void complete(Get asked) {
            get = null;
            asked.release();
            if (reusable && channel.isActive()) {
                kept = this;
            } else {
                channel.close();
            }
            asked.reader.ends();
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            lost(answering ? "it closed the connection within its answer" : CLOSED);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            lost(reason(cause));
            context.close();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event instanceof SslHandshakeCompletionEvent handshake && !handshake.isSuccess()) {
                lost(reason(handshake.cause()));
            }
        }

        private void lost(String why) {
            if (kept == this) {
                kept = null;
            }
            Get asked = get;
            get = null;
            if (asked == null || asked != current) {
                return;
            }
            InetSocketAddress to = replica.socketAddress();
            if (wasKept && !answering && to != null) {
                channel.close();
                connect(to, asked);
            } else {
                asked.fails(why);
            }
        }
    }
}
