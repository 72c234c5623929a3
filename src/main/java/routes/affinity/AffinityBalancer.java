package routes.affinity;

import java.util.ArrayList;
import java.util.List;
import org.apache.camel.AsyncCallback;
import org.apache.camel.AsyncProcessor;
import org.apache.camel.Endpoint;
import org.apache.camel.EndpointAware;
import org.apache.camel.Exchange;
import org.apache.camel.ExchangePropertyKey;
import org.apache.camel.Navigate;
import org.apache.camel.Processor;
import org.apache.camel.processor.loadbalancer.LoadBalancerSupport;
import org.apache.camel.spi.InterceptSendToEndpoint;
import org.jspecify.annotations.Nullable;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.replica.Replica;
import routes.replica.ReplicaTarget;
import routes.request.InferenceRequest;

/**
 * The load balancer {@code affinity}: chooses a replica for each attempt, takes its slot, and tries again elsewhere as long
 * as no byte of an answer has gone to the client.
 *
 * <p><b>Threading:</b> works on the request's event loop and returns to it. <b>Ownership:</b> the slot belongs to the
 * request's lease. <b>Failure:</b> ends the exchange with the error of the last attempt, or with
 * {@link ErrorCode#NO_CAPACITY} or {@link ErrorCode#NO_REPLICA} when there was nobody to try.
 */
public final class AffinityBalancer extends LoadBalancerSupport {

    private static final int LARGEST_POOL = 64;

    private final int maxAttempts;
    private AsyncProcessor[] senders = new AsyncProcessor[0];
    private Replica[] pool = new Replica[0];

    /** @param maxAttempts most tries of one request, the first included */
    public AffinityBalancer(int maxAttempts) {
        this.maxAttempts = maxAttempts;
    }

    @Override
    protected void doStart() throws Exception {
        super.doStart();
        List<Replica> replicas = new ArrayList<>();
        AsyncProcessor[] children = doGetProcessors();
        for (AsyncProcessor child : children) {
            Endpoint endpoint = endpointOf(child);
            if (!(endpoint instanceof ReplicaTarget target)) {
                throw new IllegalArgumentException(
                        "affinity in route " + getRouteId() + ": " + (endpoint == null ? child : endpoint)
                                + " (expected: steps 'to: vllm:http://host:port' only)");
            }
            replicas.add(target.replica());
        }
        if (replicas.isEmpty() || replicas.size() > LARGEST_POOL) {
            throw new IllegalArgumentException("affinity in route " + getRouteId() + ": " + replicas.size()
                    + " replicas (expected: 1 to " + LARGEST_POOL + ")");
        }
        senders = children.clone();
        pool = replicas.toArray(new Replica[0]);
    }

    @Override
    public boolean process(Exchange exchange, AsyncCallback callback) {
        InferenceRequest request = exchange.getMessage().getBody(InferenceRequest.class);
        if (request == null) {
            exchange.setException(new IllegalArgumentException("affinity balances inference requests only"));
            callback.done(true);
            return true;
        }
        if (request.loop().inEventLoop()) {
            attempt(exchange, request, callback, 0);
        } else {
            request.loop().execute(() -> attempt(exchange, request, callback, 0));
        }
        return false;
    }

    private void attempt(Exchange exchange, InferenceRequest request, AsyncCallback callback, long tried) {
        if (request.isFinished()) {
            exchange.setRouteStop(true);
            callback.done(false);
            return;
        }
        int chosen = chooseAndTake(request, tried);
        if (chosen < 0) {
            exchange.setException(new GatewayException(
                    chosen == Rendezvous.NONE_FREE ? ErrorCode.NO_CAPACITY : ErrorCode.NO_REPLICA));
            callback.done(false);
            return;
        }
        senders[chosen].process(exchange, doneSync -> attempted(exchange, request, callback, tried | 1L << chosen));
    }

    /** Chooses again when another event loop took the slot in between. */
    private int chooseAndTake(InferenceRequest request, long tried) {
        while (true) {
            int chosen = Rendezvous.choose(request.affinityKey(), pool, tried);
            if (chosen < 0) {
                return chosen;
            }
            if (request.lease().tryTakeSlot(pool[chosen])) {
                request.chosen(pool[chosen], why(request, chosen));
                return chosen;
            }
        }
    }

    private String why(InferenceRequest request, int chosen) {
        if (pool.length == 1) {
            return "only_one";
        }
        return Rendezvous.home(request.affinityKey(), pool) == chosen ? "home" : "spill";
    }

    private void attempted(Exchange exchange, InferenceRequest request, AsyncCallback callback, long tried) {
        boolean again = exchange.getException() instanceof GatewayException error
                && retryable(error.code())
                && !request.isFinished()
                && !request.isAnswering()
                && request.countedAttempts() < maxAttempts
                && Rendezvous.choose(request.affinityKey(), pool, tried) >= 0;
        request.lease().giveBackSlot();
        if (!again) {
            callback.done(false);
            return;
        }
        exchange.setException(null);
        exchange.removeProperty(ExchangePropertyKey.EXCEPTION_CAUGHT);
        exchange.getExchangeExtension().setRedeliveryExhausted(false);
        attempt(exchange, request, callback, tried);
    }

    private static boolean retryable(ErrorCode code) {
        return code == ErrorCode.UPSTREAM_CONNECT_FAILED || code == ErrorCode.UPSTREAM_RESET;
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
