package routes.net;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.TimeUnit;

/** The gateway's event loops, which accept, read, route and write; epoll where the system has it, else NIO. */
public final class EventLoops implements AutoCloseable {

    private final EventLoopGroup group;
    private final EventLoopGroup watch;
    private final boolean epoll;
    private final int count;

    /**
     * @param count how many; 0 for as many processors as the process may use ({@link Runtime#availableProcessors()} knows
     *     cgroup quotas and CPU sets)
     * @param nativeTransport whether epoll may be used
     */
    public EventLoops(int count, boolean nativeTransport) {
        this.count = count > 0 ? count : Runtime.getRuntime().availableProcessors();
        this.epoll = nativeTransport && Epoll.isAvailable();
        DefaultThreadFactory threads = new DefaultThreadFactory("gateway-loop", true);
        this.group = epoll ? new EpollEventLoopGroup(this.count, threads) : new NioEventLoopGroup(this.count, threads);
        this.watch = new NioEventLoopGroup(1, new DefaultThreadFactory("gateway-watch", true));
    }

    public EventLoopGroup group() {
        return group;
    }

    /** The one loop beside those of the requests: for probes, loads and names (NIO). */
    public EventLoop watch() {
        return watch.next();
    }

    public int count() {
        return count;
    }

    public boolean epoll() {
        return epoll;
    }

    public Class<? extends ServerChannel> serverChannel() {
        return epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
    }

    public Class<? extends SocketChannel> socketChannel() {
        return epoll ? EpollSocketChannel.class : NioSocketChannel.class;
    }

    @Override
    public void close() {
        watch.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly(6, TimeUnit.SECONDS);
    }
}
