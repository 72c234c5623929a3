package routes.model;

import java.util.Set;
import org.apache.camel.Processor;
import org.apache.camel.ShutdownRunningTask;
import org.apache.camel.spi.ShutdownAware;
import org.apache.camel.support.DefaultConsumer;
import routes.queue.Pool;
import routes.request.InferenceRequest;
import routes.request.Timeouts;

/** The beginning of a model's route: in the directory while the route runs. */
final class ModelConsumer extends DefaultConsumer implements ShutdownAware {

    private final ModelEndpoint endpoint;
    private final Pool pool;
    private final Timeouts timeouts;
    private final boolean saltsTenants;
    private final Pool.Bounds bounds;

    ModelConsumer(ModelEndpoint endpoint, Processor processor, Pool pool) {
        super(endpoint, processor);
        this.endpoint = endpoint;
        this.pool = pool;
        this.timeouts = endpoint.timeouts();
        this.saltsTenants = endpoint.saltsTenants();
        this.bounds = endpoint.queueBounds();
    }

    /** The model's pool; the same as that of an older or newer route of the model. */
    Pool pool() {
        return pool;
    }

    /** What its requests are served by and how; called when they come here. */
    void takes(InferenceRequest request) {
        request.servedBy(pool);
        request.timeouts(timeouts);
        request.saltTenant(saltsTenants);
    }

    /** Name of the model that serves when this one can't; empty for none. */
    String fallback() {
        return endpoint.getFallback();
    }

    /** The model's own name. */
    String name() {
        return endpoint.getName();
    }

    Set<String> names() {
        return endpoint.names();
    }

    @Override
    protected void doStart() throws Exception {
        super.doStart();
        pool.bounds(bounds);
        endpoint.directory().add(this);
    }

    @Override
    protected void doStop() throws Exception {
        endpoint.directory().remove(this);
        super.doStop();
    }

    /** Serves what is on its way while the routes before it drain. */
    @Override
    public boolean deferShutdown(ShutdownRunningTask task) {
        return true;
    }

    @Override
    public int getPendingExchangesSize() {
        return 0;
    }

    @Override
    public void prepareShutdown(boolean suspendOnly, boolean forced) {}
}
