package routes.vllm;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.concurrent.FastThreadLocal;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import routes.error.ErrorCode;
import routes.net.EventLoops;
import routes.net.ReadBuffers;
import routes.net.TimerWheel;
import routes.replica.Replica;

/**
 * The connections of one event loop to one replica: the idle ones, last used first, and how to make more.
 *
 * <p><b>Threading:</b> event-loop confined.
 */
final class UpstreamPool {

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

    private UpstreamPool(EventLoop loop, Replica replica, UpstreamSettings settings, EventLoops loops) {
        this.replica = replica;
        this.settings = settings;
        this.timers = TimerWheel.of(loop);
        this.bootstrap = new Bootstrap()
                .group(loop)
                .channel(loops.socketChannel())
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.SO_KEEPALIVE, true)
                .option(ChannelOption.SO_SNDBUF, SEND_BUFFER)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, settings.connectMillis())
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARKS)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.config().setRecvByteBufAllocator(new ReadBuffers(FIRST_READ));
                        channel.pipeline().addLast("upstream", new UpstreamConnection(UpstreamPool.this));
                    }
                });
    }

    /** The pool of this event loop for the endpoint's replica. */
    static UpstreamPool of(EventLoop loop, VllmEndpoint endpoint) {
        Map<Replica, UpstreamPool> pools = POOLS.get();
        UpstreamPool pool = pools.get(endpoint.replica());
        if (pool == null) {
            VllmComponent component = endpoint.component();
            pool = new UpstreamPool(loop, endpoint.replica(), component.settings(), component.loops());
            pools.put(endpoint.replica(), pool);
        }
        return pool;
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
        if (address == null) {
            call.failed(ErrorCode.UPSTREAM_CONNECT_FAILED);
            return;
        }
        long began = System.nanoTime();
        call.request().pending(call::over);
        bootstrap.connect(address).addListener((ChannelFuture done) -> connected(call, done, began));
    }

    private void connected(Call call, ChannelFuture done, long began) {
        if (!done.isSuccess()) {
            replica.countError();
            call.failed(ErrorCode.UPSTREAM_CONNECT_FAILED);
            return;
        }
        UpstreamConnection connection = done.channel().pipeline().get(UpstreamConnection.class);
        if (call.isOver()) {
            giveBack(connection);
            return;
        }
        call.request().connected(System.nanoTime() - began);
        connection.send(call, false);
    }

    void giveBack(UpstreamConnection connection) {
        idle.addFirst(connection);
        connection.idle(System.nanoTime() + settings.poolIdleNanos());
    }

    void remove(UpstreamConnection connection) {
        idle.remove(connection);
    }

    private @Nullable UpstreamConnection poll() {
        for (UpstreamConnection connection = idle.pollFirst(); connection != null; connection = idle.pollFirst()) {
            if (connection.wake()) {
                return connection;
            }
        }
        return null;
    }
}
