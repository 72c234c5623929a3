package routes.vllm;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.ssl.SslHandler;
import io.netty.resolver.NoopAddressResolverGroup;
import io.netty.util.concurrent.FastThreadLocal;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import routes.error.ErrorCode;
import routes.net.EventLoops;
import routes.net.ReadBuffers;
import routes.net.TimerWheel;
import routes.net.Tls;
import routes.replica.Replica;

/**
 * The connections of one event loop to one replica: the idle ones, last used first, and how to make more. One that is too
 * old, or whose address is not the replica's any more, is not used again.
 *
 * <p><b>Threading:</b> event-loop confined.
 */
final class UpstreamPool {

    private static final Logger LOG = LoggerFactory.getLogger(UpstreamPool.class);
    private static final int FIRST_READ = 4096;

    /** Netty gathers no more into one write than twice the socket's buffer: a head and its prompt should leave together. */
    private static final int SEND_BUFFER = 262_144;

    private static final long WARN_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final WriteBufferWaterMark WATER_MARKS = new WriteBufferWaterMark(65_536, 262_144);
    private static final FastThreadLocal<Map<Replica, UpstreamPool>> POOLS = new FastThreadLocal<>() {
        @Override
        protected Map<Replica, UpstreamPool> initialValue() {
            return new HashMap<>();
        }
    };

    private final Replica replica;
    private final UpstreamSettings settings;
    private final TimerWheel timers;
    private final Bootstrap bootstrap;
    private final ArrayDeque<UpstreamConnection> idle = new ArrayDeque<>();
    private long warnFromNanos = System.nanoTime();
    private boolean dropped;

    private UpstreamPool(EventLoop loop, Replica replica, UpstreamSettings settings, EventLoops loops) {
        this.replica = replica;
        this.settings = settings;
        this.timers = TimerWheel.of(loop);
        this.bootstrap = new Bootstrap()
                .group(loop)
                .channel(loops.socketChannel())
                .resolver(NoopAddressResolverGroup.INSTANCE)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.SO_KEEPALIVE, true)
                .option(ChannelOption.SO_SNDBUF, SEND_BUFFER)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, settings.connectMillis())
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARKS)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.config().setRecvByteBufAllocator(new ReadBuffers(FIRST_READ));
                        if (replica.address().isSecure()) {
                            channel.pipeline().addLast("tls", tls(channel));
                        }
                        channel.pipeline().addLast("upstream", new UpstreamConnection(UpstreamPool.this));
                    }
                });
    }

    private SslHandler tls(Channel channel) {
        SslHandler handler = Tls.handler(
                channel,
                replica.options().trustStore(),
                replica.configured().serverName(),
                replica.address().port());
        handler.setHandshakeTimeoutMillis(settings.connectMillis());
        return handler;
    }

    /** The pool of this event loop for a replica of the endpoint. */
    static UpstreamPool of(EventLoop loop, VllmEndpoint endpoint, Replica replica) {
        Map<Replica, UpstreamPool> pools = POOLS.get();
        UpstreamPool pool = pools.get(replica);
        if (pool == null) {
            VllmComponent component = endpoint.component();
            pool = new UpstreamPool(loop, replica, component.settings(), component.loops());
            pools.put(replica, pool);
        }
        return pool;
    }

    /** Closes what this event loop has idle to a replica that is gone; what is busy closes after its answer. */
    static void drop(Replica replica) {
        UpstreamPool pool = POOLS.get().remove(replica);
        if (pool != null) {
            pool.dropped = true;
            for (UpstreamConnection each = pool.idle.pollFirst(); each != null; each = pool.idle.pollFirst()) {
                each.close();
            }
        }
    }

    Replica replica() {
        return replica;
    }

    UpstreamSettings settings() {
        return settings;
    }

    TimerWheel timers() {
        return timers;
    }

    /** Whether a warning about the replica may be logged now; true once in a while only. */
    boolean mayWarn() {
        long now = System.nanoTime();
        if (now - warnFromNanos < 0) {
            return false;
        }
        warnFromNanos = now + WARN_INTERVAL_NANOS;
        return true;
    }

    /** Sends the call over an idle connection, or over a new one. */
    void send(Call call) {
        UpstreamConnection pooled = poll();
        if (pooled == null) {
            connect(call);
            return;
        }
        call.request().attemptBegins(replica);
        call.request().connected(0);
        pooled.send(call, true);
    }

    /** Sends the call over a new connection, whatever is idle. */
    void connect(Call call) {
        InetSocketAddress address = replica.socketAddress();
        call.request().attemptBegins(replica);
        call.request().connected(-1);
        if (address == null) {
            call.failed(ErrorCode.UPSTREAM_CONNECT_FAILED);
            return;
        }
        call.request().pending(call::over);
        bootstrap.connect(address).addListener(new Opening(call, address));
    }

    /** The innermost cause knows what was wrong with a certificate. */
    private static String reason(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.getMessage() == null ? cause.toString() : cause.getMessage();
    }

    void giveBack(UpstreamConnection connection) {
        long now = System.nanoTime();
        long left = Math.min(settings.reuse().idleNanos(), connection.expiresNanos() - now);
        if (dropped || left <= 0 || !connection.leadsTo(replica.socketAddress())) {
            connection.close();
        } else {
            idle.addFirst(connection);
            connection.idle(now + left);
        }
    }

    void remove(UpstreamConnection connection) {
        idle.remove(connection);
    }

    private @Nullable UpstreamConnection poll() {
        for (UpstreamConnection connection = idle.pollFirst(); connection != null; connection = idle.pollFirst()) {
            if (connection.wake()) {
                if (connection.leadsTo(replica.socketAddress())) {
                    return connection;
                }
                connection.close();
            }
        }
        return null;
    }

    /** A connection that is being made for a call. */
    private final class Opening implements ChannelFutureListener {

        private final Call call;
        private final InetSocketAddress address;
        private final long beganNanos = System.nanoTime();

        Opening(Call call, InetSocketAddress address) {
            this.call = call;
            this.address = address;
        }

        @Override
        public void operationComplete(ChannelFuture opened) {
            Channel channel = opened.channel();
            SslHandler tls = opened.isSuccess() ? channel.pipeline().get(SslHandler.class) : null;
            if (tls == null) {
                done(channel, opened.cause());
            } else {
                tls.handshakeFuture().addListener(shaken -> secured(channel, shaken.cause()));
            }
        }

        private void secured(Channel channel, @Nullable Throwable failure) {
            if (failure != null) {
                channel.close();
                if (mayWarn()) {
                    LOG.warn("No TLS connection to replica {}: {}", replica, reason(failure));
                }
            }
            done(channel, failure);
        }

        private void done(Channel channel, @Nullable Throwable failure) {
            if (failure != null) {
                replica.countError();
                call.failed(ErrorCode.UPSTREAM_CONNECT_FAILED);
                return;
            }
            UpstreamConnection connection = channel.pipeline().get(UpstreamConnection.class);
            long now = System.nanoTime();
            connection.established(address, now + settings.reuse().ageNanos());
            if (call.isOver()) {
                giveBack(connection);
                return;
            }
            call.request().connected(now - beganNanos);
            connection.send(call, false);
        }
    }
}
