package routes.demo;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A running stand-in for a vLLM server: same API, no model. The counters tell what it has done so far.
 *
 * <p><b>Threading</b>: one daemon thread of its own; all methods may be called from anywhere.
 */
public final class DemoReplica implements AutoCloseable {

    private static final int MAX_BODY_BYTES = 64 << 20;
    private static final int MAX_HEAD_BYTES = 64 << 10;

    private final Engine engine;
    private final EventLoopGroup loop;
    private final Channel channel;

    private DemoReplica(Engine engine, EventLoopGroup loop, Channel channel) {
        this.engine = engine;
        this.loop = loop;
        this.channel = channel;
    }

    /**
     * Starts to listen.
     *
     * @throws IOException when the address can not be listened on
     */
    public static DemoReplica start(DemoOptions options) throws IOException {
        Engine engine = new Engine(options);
        DemoRoutes routes = new DemoRoutes(engine);
        boolean epoll = Epoll.isAvailable();
        DefaultThreadFactory threads = new DefaultThreadFactory(options.name(), true);
        EventLoopGroup loop = epoll ? new EpollEventLoopGroup(1, threads) : new NioEventLoopGroup(1, threads);
        Class<? extends ServerChannel> type = epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
        ChannelFuture bound = new ServerBootstrap()
                .group(loop)
                .channel(type)
                .option(ChannelOption.SO_REUSEADDR, true)
                .option(ChannelOption.SO_BACKLOG, 1024)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel child) {
                        connect(child, options, routes);
                    }
                })
                .bind(options.host(), options.port())
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
            Throwable cause = bound.cause();
            throw new IOException(
                    "cannot listen on " + options.host() + ":" + options.port() + ": " + cause.getMessage(), cause);
        }
        return new DemoReplica(engine, loop, bound.channel());
    }

    /** Starts a replica and waits until it is stopped from outside; {@code --help} lists the options. */
    public static void main(String[] args) throws InterruptedException {
        List<String> arguments = List.of(args);
        if (DemoArguments.asksForHelp(arguments)) {
            System.out.print(DemoArguments.HELP);
            return;
        }
        try {
            DemoReplica replica = start(DemoArguments.parse(arguments));
            Runtime.getRuntime().addShutdownHook(new Thread(replica::close, "demo-shutdown"));
            System.out.println("demo replica listening on " + replica.url());
            replica.channel.closeFuture().await();
        } catch (IllegalArgumentException | IOException e) {
            System.err.println("demo replica: " + e.getMessage());
            System.exit(2);
        }
    }

    public int port() {
        return ((InetSocketAddress) channel.localAddress()).getPort();
    }

    /** Base URL without a path, for example {@code http://127.0.0.1:9001}. */
    public String url() {
        String host = engine.options.host();
        return "http://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port();
    }

    /** Completions and embeddings asked for, errors included. */
    public long requests() {
        return engine.requests.get();
    }

    public long promptTokens() {
        return engine.promptTokens.get();
    }

    /** Prompt tokens found in the prefix cache. */
    public long cachedTokens() {
        return engine.cachedTokens.get();
    }

    public long completionTokens() {
        return engine.completionTokens.get();
    }

    /** Answers given up because the client went away. */
    public long aborted() {
        return engine.aborted.get();
    }

    /** Sequences that have slots now. */
    public int running() {
        return engine.slots.running();
    }

    /** Sequences that wait for slots now. */
    public int waiting() {
        return engine.slots.waiting();
    }

    /** Stops listening and closes all connections; returns when that is done. */
    @Override
    public void close() {
        channel.close();
        loop.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
    }

    private static void connect(SocketChannel channel, DemoOptions options, DemoRoutes routes) {
        KeepAlive keepAlive = new KeepAlive(options.keepAliveTimeout());
        HttpDecoderConfig limits =
                new HttpDecoderConfig().setMaxInitialLineLength(MAX_HEAD_BYTES).setMaxHeaderSize(MAX_HEAD_BYTES);
        channel.pipeline()
                .addLast(keepAlive)
                .addLast(new HttpServerCodec(limits))
                .addLast(new HttpObjectAggregator(MAX_BODY_BYTES))
                .addLast(new DemoConnection(routes, keepAlive, options.name()));
    }
}
