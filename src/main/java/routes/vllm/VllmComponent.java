package routes.vllm;

import io.netty.util.concurrent.EventExecutor;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.camel.CamelContext;
import org.apache.camel.Endpoint;
import org.apache.camel.spi.annotations.Component;
import org.apache.camel.support.CamelContextHelper;
import org.apache.camel.support.DefaultComponent;
import org.apache.camel.util.PropertiesHelper;
import org.jspecify.annotations.Nullable;
import routes.net.EventLoops;
import routes.replica.Replica;
import routes.replica.Replicas;

/** Makes {@code vllm:} endpoints; replicas and event loops are the gateway's own, found in the registry. */
@Component("vllm")
public final class VllmComponent extends DefaultComponent {

    private static final long FILE_CHECK_SECONDS = 2;

    private @Nullable UpstreamSettings settings;
    private @Nullable EventLoops loops;
    private @Nullable ScheduledExecutorService files;

    @Override
    protected Endpoint createEndpoint(String uri, String remaining, Map<String, Object> parameters) throws Exception {
        VllmEndpoint endpoint = new VllmEndpoint(uri, this);
        endpoint.setAddress(remaining);
        endpoint.setHeaders(PropertiesHelper.extractProperties(parameters, "header."));
        setProperties(endpoint, parameters);
        return endpoint;
    }

    @Override
    protected void doInit() throws Exception {
        super.doInit();
        settings = find(UpstreamSettings.class);
        EventLoops found = find(EventLoops.class);
        loops = found;
        replicas().listen(new Replicas.Listener() {
            @Override
            public void removed(Replica replica) {
                drop(found, replica);
            }
        });
    }

    private static void drop(EventLoops loops, Replica replica) {
        for (EventExecutor loop : loops.group()) {
            if (!loop.isShuttingDown()) {
                loop.execute(() -> UpstreamPool.drop(replica));
            }
        }
    }

    /** Runs something that may block every few seconds, until it is cancelled. */
    synchronized ScheduledFuture<?> repeat(Runnable action) {
        ScheduledExecutorService executor = files;
        if (executor == null) {
            executor =
                    getCamelContext().getExecutorServiceManager().newSingleThreadScheduledExecutor(this, "vllm-files");
            files = executor;
        }
        return executor.scheduleWithFixedDelay(action, FILE_CHECK_SECONDS, FILE_CHECK_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    protected synchronized void doShutdown() throws Exception {
        ScheduledExecutorService executor = files;
        if (executor != null) {
            getCamelContext().getExecutorServiceManager().shutdownNow(executor);
            files = null;
        }
        super.doShutdown();
    }

    UpstreamSettings settings() {
        UpstreamSettings found = settings;
        return found == null ? find(UpstreamSettings.class) : found;
    }

    EventLoops loops() {
        EventLoops found = loops;
        return found == null ? find(EventLoops.class) : found;
    }

    Replicas replicas() {
        return find(Replicas.class);
    }

    private <T> T find(Class<T> type) {
        CamelContext context = getCamelContext();
        T found = CamelContextHelper.findSingleByType(context, type);
        if (found == null) {
            throw new IllegalStateException("vllm: no " + type.getSimpleName()
                    + " in the registry (expected: the gateway's configuration class, routes.GatewayConfiguration)");
        }
        return found;
    }
}
