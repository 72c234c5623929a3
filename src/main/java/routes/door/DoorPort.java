package routes.door;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.WriteBufferWaterMark;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.camel.CamelContext;
import org.apache.camel.StartupListener;
import org.apache.camel.component.netty.NettyConsumer;
import org.apache.camel.component.netty.NettyServerBootstrapConfiguration;
import org.apache.camel.component.netty.http.HttpServerBootstrapFactory;
import org.apache.camel.component.netty.http.HttpServerConsumerChannelFactory;
import org.apache.camel.component.netty.http.NettyHttpConsumer;
import org.jspecify.annotations.Nullable;
import routes.net.ReadBuffers;

/**
 * One listening port and the consumers on it: the newest front door, and Camel's ordinary ones. It is bound when the Camel
 * context has started all routes, so that no request meets half of them.
 *
 * <p><b>Threading:</b> consumers come and go on any thread; connections read the newest state.
 */
final class DoorPort extends HttpServerBootstrapFactory {

    private static final int FIRST_READ = 2048;
    private static final int BACKLOG = 4096;
    private static final WriteBufferWaterMark WATER_MARKS = new WriteBufferWaterMark(32_768, 65_536);

    private final Door door;
    private final HttpServerConsumerChannelFactory stock;
    private final List<NettyHttpConsumer> doors = new CopyOnWriteArrayList<>();
    private final List<NettyHttpConsumer> others = new CopyOnWriteArrayList<>();
    private @Nullable CamelContext context;
    private @Nullable NettyServerBootstrapConfiguration configuration;
    private volatile @Nullable Channel listener;

    DoorPort(Door door, HttpServerConsumerChannelFactory stock) {
        super(stock, false);
        this.door = door;
        this.stock = stock;
    }

    ChannelInitializer<Channel> initializer() {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                ReadBuffers reads = new ReadBuffers(FIRST_READ);
                channel.config().setRecvByteBufAllocator(reads);
                channel.config().setWriteBufferWaterMark(WATER_MARKS);
                channel.pipeline().addLast("connection", new Http1Connection(DoorPort.this, reads));
            }
        };
    }

    Door door() {
        return door;
    }

    /** The consumer whose route takes inference requests now; null when there is none. */
    @Nullable
    NettyHttpConsumer doorConsumer() {
        List<NettyHttpConsumer> all = doors;
        int size = all.size();
        return size == 0 ? null : all.get(size - 1);
    }

    /** Camel's ordinary consumers on this port. */
    List<NettyHttpConsumer> others() {
        return others;
    }

    /** Camel's own handler, which dispatches to the ordinary consumers. */
    HttpServerConsumerChannelFactory stock() {
        return stock;
    }

    @Override
    public void init(
            CamelContext camelContext,
            NettyServerBootstrapConfiguration bootstrap,
            ChannelInitializer<Channel> pipelineFactory) {
        context = camelContext;
        configuration = bootstrap;
        super.init(camelContext, bootstrap, pipelineFactory);
    }

    @Override
    public void addConsumer(NettyConsumer consumer) {
        NettyHttpConsumer added = (NettyHttpConsumer) consumer;
        if (added.getConfiguration().getServerInitializerFactory() instanceof Door) {
            doors.add(added);
        } else {
            others.add(added);
            stock.addConsumer(added);
        }
    }

    @Override
    public void removeConsumer(NettyConsumer consumer) {
        NettyHttpConsumer removed = (NettyHttpConsumer) consumer;
        if (!doors.remove(removed) && others.remove(removed)) {
            stock.removeConsumer(removed);
        }
    }

    @Override
    protected void startServerBootstrap() throws Exception {
        CamelContext camel = context;
        if (camel == null || camel.getStatus().isStarted()) {
            bind();
            return;
        }
        camel.addStartupListener(new StartupListener() {
            @Override
            public void onCamelContextStarted(CamelContext started, boolean alreadyStarted) {}

            @Override
            public void onCamelContextFullyStarted(CamelContext started, boolean alreadyStarted) throws Exception {
                if (listener == null) {
                    bind();
                }
            }
        });
    }

    private void bind() throws Exception {
        NettyServerBootstrapConfiguration bootstrap = configuration;
        if (bootstrap == null) {
            throw new IllegalStateException("not initialised");
        }
        InetSocketAddress address = new InetSocketAddress(bootstrap.getHost(), bootstrap.getPort());
        try {
            Channel bound = new ServerBootstrap()
                    .group(door.loops().group())
                    .channel(door.loops().serverChannel())
                    .option(ChannelOption.SO_BACKLOG, BACKLOG)
                    .option(ChannelOption.SO_REUSEADDR, true)
                    .childOption(ChannelOption.TCP_NODELAY, true)
                    .childOption(ChannelOption.SO_KEEPALIVE, true)
                    .childHandler(initializer())
                    .bind(address)
                    .sync()
                    .channel();
            listener = bound;
            addChannel(bound);
            if (!doors.isEmpty()) {
                int port = ((InetSocketAddress) bound.localAddress()).getPort();
                door.listeningOn("http://"
                        + (bootstrap.getHost().indexOf(':') >= 0
                                ? "[" + bootstrap.getHost() + "]"
                                : bootstrap.getHost())
                        + ":" + port);
            }
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(
                    "Can't listen on " + bootstrap.getHost() + ":" + bootstrap.getPort() + ": "
                            + (e.getMessage() == null ? e : e.getMessage())
                            + " (expected: an address of this machine and a free port; see gateway.host, gateway.port)",
                    e);
        }
    }

    @Override
    public void stop() {
        if (doors.isEmpty() && others.isEmpty()) {
            super.stop();
        }
    }
}
