package routes.door;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.camel.component.netty.NettyConsumer;
import org.apache.camel.component.netty.ServerInitializerFactory;
import org.jspecify.annotations.Nullable;
import routes.config.Settings;
import routes.net.EventLoops;
import routes.request.BodyBudget;
import routes.request.InferenceRequest;

/**
 * What makes a netty-http route the front door: {@code serverInitializerFactory: "#door"}. Holds what all its connections
 * share.
 *
 * <p><b>Threading:</b> any thread.
 */
public final class Door extends ServerInitializerFactory {

    private final EventLoops loops;
    private final DoorLimits limits;
    private final @Nullable Cors cors;
    private final BodyBudget budget;
    private final Consumer<InferenceRequest> onFinish;
    private final @Nullable Consumer<InferenceRequest> onBegin;
    private final AtomicInteger inFlight = new AtomicInteger();
    private final Set<Http1Connection> connections = ConcurrentHashMap.newKeySet();
    private volatile boolean draining;
    private volatile String listening = "";

    /**
     * @param onFinish told of each request that ends, on its event loop
     * @param onBegin told of each request whose head is complete, on its event loop; null for nobody
     */
    public Door(
            EventLoops loops,
            Settings settings,
            BodyBudget budget,
            Consumer<InferenceRequest> onFinish,
            @Nullable Consumer<InferenceRequest> onBegin) {
        this.loops = loops;
        this.limits = DoorLimits.of(settings);
        this.cors = Cors.of(settings);
        this.budget = budget;
        this.onFinish = onFinish;
        this.onBegin = onBegin;
    }

    EventLoops loops() {
        return loops;
    }

    DoorLimits limits() {
        return limits;
    }

    /** Null where it is off. */
    @Nullable
    Cors cors() {
        return cors;
    }

    BodyBudget budget() {
        return budget;
    }

    void opened(Http1Connection connection) {
        connections.add(connection);
    }

    void closed(Http1Connection connection) {
        connections.remove(connection);
    }

    void begun(InferenceRequest request) {
        inFlight.incrementAndGet();
        Consumer<InferenceRequest> listener = onBegin;
        if (listener != null) {
            listener.accept(request);
        }
    }

    void finished(InferenceRequest request) {
        inFlight.decrementAndGet();
        onFinish.accept(request);
    }

    void listeningOn(String url) {
        listening = url;
    }

    /** Where clients connect, such as {@code http://127.0.0.1:8080}; empty before the port is bound. */
    public String listening() {
        return listening;
    }

    /** Inference requests between their head and their end. */
    public int inFlight() {
        return inFlight.get();
    }

    /** Open connections of clients. */
    public int connections() {
        return connections.size();
    }

    /** From now on new requests are refused; those in flight go on. */
    public void drain() {
        draining = true;
    }

    /** Ends every request that is still in flight. */
    public void breakOff() {
        connections.forEach(Http1Connection::breakOff);
    }

    public boolean isDraining() {
        return draining;
    }

    /** Camel asks for a factory for each consumer; the port's own pipeline serves them all. */
    @Override
    public ServerInitializerFactory createPipelineFactory(NettyConsumer consumer) {
        return this;
    }

    @Override
    protected void initChannel(io.netty.channel.Channel channel) {
        throw new IllegalStateException("the door's pipeline is made by its port");
    }
}
