package routes.affinity;

import java.util.ArrayList;
import java.util.List;
import org.apache.camel.AsyncCallback;
import org.apache.camel.AsyncProcessor;
import org.apache.camel.Endpoint;
import org.apache.camel.EndpointAware;
import org.apache.camel.Exchange;
import org.apache.camel.Navigate;
import org.apache.camel.Processor;
import org.apache.camel.processor.loadbalancer.LoadBalancerSupport;
import org.apache.camel.spi.InterceptSendToEndpoint;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import routes.error.ErrorCode;
import routes.queue.Candidates;
import routes.queue.Pool;
import routes.queue.Queue;
import routes.replica.Replica;
import routes.replica.ReplicaGroup;
import routes.replica.ReplicaTarget;
import routes.replica.Replicas;
import routes.request.InferenceRequest;

/**
 * The load balancer {@code affinity}: chooses a replica for each attempt, takes its slots or waits for them in the queue of
 * the request's pool, and tries again elsewhere as long as no byte of an answer has gone to the client.
 *
 * <p><b>Threading:</b> works on the request's event loop and returns to it. <b>Ownership:</b> slots and the place in the
 * queue belong to the request's lease. <b>Failure:</b> ends the exchange with the error of the last attempt, or with
 * {@link ErrorCode#QUEUE_FULL}, {@link ErrorCode#QUEUE_TIMEOUT} or {@link ErrorCode#NO_REPLICA} when there was nobody to try.
 */
public final class AffinityBalancer extends LoadBalancerSupport {

    private static final Logger LOG = LoggerFactory.getLogger(AffinityBalancer.class);
    private static final int LARGEST_POOL = 64;

    /** What all balancers of a gateway share. */
    public record Shared(Queue queue, Replicas replicas, Breakers breakers, RetryPolicy retries) {}

    private final Shared shared;
    private final RetryBudget budget;
    private final Candidates candidates = new Candidates(List.of());
    private final Replicas.Listener members = new Replicas.Listener() {
        @Override
        public void changed(ReplicaGroup group) {
            renew();
        }
    };
    private AsyncProcessor[] children = new AsyncProcessor[0];
    private ReplicaTarget[] targets = new ReplicaTarget[0];
    private volatile Fleet fleet;

    public AffinityBalancer(Shared shared) {
        this.shared = shared;
        this.budget = shared.retries().newBudget();
        this.fleet = new Fleet(List.of(), List.of(), shared.breakers());
    }

    @Override
    protected void doStart() throws Exception {
        super.doStart();
        children = doGetProcessors().clone();
        targets = new ReplicaTarget[children.length];
        for (int i = 0; i < children.length; i++) {
            Endpoint endpoint = endpointOf(children[i]);
            if (!(endpoint instanceof ReplicaTarget target)) {
                throw new IllegalArgumentException(
                        "affinity in route " + getRouteId() + ": " + (endpoint == null ? children[i] : endpoint)
                                + " (expected: steps 'to: vllm:http://host:port' only)");
            }
            targets[i] = target;
        }
        if (targets.length == 0 || targets.length > LARGEST_POOL) {
            throw new IllegalArgumentException("affinity in route " + getRouteId() + ": " + targets.length
                    + " replicas (expected: 1 to " + LARGEST_POOL + ")");
        }
        renew();
        shared.replicas().listen(members);
    }

    @Override
    protected void doStop() throws Exception {
        shared.replicas().unlisten(members);
        super.doStop();
    }

    /** Looks which replicas there are; those who wait see the new ones. */
    private synchronized void renew() {
        List<Replica> replicas = new ArrayList<>();
        List<AsyncProcessor> senders = new ArrayList<>();
        for (int i = 0; i < targets.length; i++) {
            for (Replica replica : targets[i].replicas()) {
                if (replicas.size() < LARGEST_POOL && !replicas.contains(replica)) {
                    replicas.add(replica);
                    senders.add(children[i]);
                } else if (!replicas.contains(replica)) {
                    LOG.warn("Route {}: {} is not used: {} replicas at most", getRouteId(), replica, LARGEST_POOL);
                }
            }
        }
        if (!replicas.isEmpty() && replicas.equals(candidates.now())) {
            return;
        }
        fleet = new Fleet(replicas, senders, shared.breakers());
        shared.queue().change(candidates, replicas);
    }

    @Override
    public boolean process(Exchange exchange, AsyncCallback callback) {
        InferenceRequest request = exchange.getMessage().getBody(InferenceRequest.class);
        if (request == null) {
            exchange.setException(new IllegalArgumentException("affinity balances inference requests only"));
            callback.done(true);
            return true;
        }
        Attempts attempts = new Attempts(this, exchange, request, callback);
        if (request.loop().inEventLoop()) {
            attempts.begin();
        } else {
            request.loop().execute(attempts::begin);
        }
        return false;
    }

    // ---- for attempts

    Queue queue() {
        return shared.queue();
    }

    RetryPolicy retries() {
        return shared.retries();
    }

    RetryBudget budget() {
        return budget;
    }

    Candidates candidates() {
        return candidates;
    }

    Fleet fleet() {
        return fleet;
    }

    /** The pool of the model that serves the request, or one of the route's own where no model does. */
    Pool poolOf(InferenceRequest request) {
        Pool pool = request.pool();
        return pool == null ? shared.queue().pool(getRouteId()) : pool;
    }

    private static @Nullable Endpoint endpointOf(Processor processor) {
        if (processor instanceof EndpointAware aware) {
            Endpoint endpoint = aware.getEndpoint();
            return endpoint instanceof InterceptSendToEndpoint wrapped ? wrapped.getOriginalEndpoint() : endpoint;
        }
        if (processor instanceof Navigate<?> navigate && navigate.hasNext()) {
            for (Object next : navigate.next()) {
                Endpoint found = endpointOf((Processor) next);
                if (found != null) {
                    return found;
                }
            }
        }
        return null;
    }
}
