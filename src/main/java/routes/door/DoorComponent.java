package routes.door;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.camel.component.netty.http.HttpServerBootstrapFactory;
import org.apache.camel.component.netty.http.NettyHttpComponent;
import org.apache.camel.component.netty.http.NettyHttpConsumer;

/**
 * netty-http with ports that can hold a front door. A port without one behaves as Camel's own.
 *
 * <p>Camel's component fixes the server's pipeline in code and ignores {@code serverInitializerFactory}; this subclass is
 * bound in the registry under the component's name.
 */
public final class DoorComponent extends NettyHttpComponent {

    private final Map<String, DoorPort> ports = new ConcurrentHashMap<>();
    private final Door door;

    public DoorComponent(Door door) {
        this.door = door;
    }

    @Override
    protected HttpServerBootstrapFactory getOrCreateHttpNettyServerBootstrapFactory(NettyHttpConsumer consumer) {
        if (consumer.getConfiguration().isSsl()) {
            return super.getOrCreateHttpNettyServerBootstrapFactory(consumer);
        }
        return ports.computeIfAbsent(consumer.getConfiguration().getAddress(), address -> {
            DoorPort port = new DoorPort(
                    door, getMultiplexChannelHandler(consumer.getConfiguration().getPort()));
            port.init(getCamelContext(), consumer.getConfiguration(), port.initializer());
            return port;
        });
    }
}
