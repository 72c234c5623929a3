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
import routes.net.TimerWheel;
import routes.queue.Pool;
import routes.queue.Queue;
import routes.queue.Waiter;
import routes.replica.Replica;
import routes.replica.ReplicaTarget;
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

    private static final int LARGEST_POOL = 64;
    private static final int LONGEST_RETRY_AFTER = 60;

    private final Queue queue;
    private final int maxAttempts;
    private AsyncProcessor[] senders = new AsyncProcessor[0];
    private Replica[] replicas = new Replica[0];
    private List<Replica> candidates = List.of();

    /** @param maxAttempts most tries of one request, the first included */
    public AffinityBalancer(Queue queue, int maxAttempts) {
        this.queue = queue;
        this.maxAttempts = maxAttempts;
    }

    @Override
    protected void doStart() throws Exception {
        super.doStart();
        List<Replica> found = new ArrayList<>();
        AsyncProcessor[] children = doGetProcessors();
        for (AsyncProcessor child : children) {
            Endpoint endpoint = endpointOf(child);
            if (!(endpoint instanceof ReplicaTarget target)) {
                throw new IllegalArgumentException(
                        "affinity in route " + getRouteId() + ": " + (endpoint == null ? child : endpoint)
                                + " (expected: steps 'to: vllm:http://host:port' only)");
            }
            found.add(target.replica());
        }
        if (found.isEmpty() || found.size() > LARGEST_POOL) {
            throw new IllegalArgumentException("affinity in route " + getRouteId() + ": " + found.size()
                    + " replicas (expected: 1 to " + LARGEST_POOL + ")");
        }
        senders = children.clone();
        replicas = found.toArray(new Replica[0]);
        candidates = List.copyOf(found);
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
        int chosen = takeFree(request, tried);
        if (chosen == Queue.WAIT) {
            new Waiting(exchange, request, callback, tried).enter();
        } else {
            go(exchange, request, callback, tried, chosen);
        }
    }

    /** Takes slots that nobody waits for; chooses again when another event loop took them in between. */
    private int takeFree(InferenceRequest request, long tried) {
        while (true) {
            int chosen = Rendezvous.choose(request.affinityKey(), replicas, tried, request.answers());
            if (chosen < 0) {
                return chosen;
            }
            if (replicas[chosen].isWanted()) {
                return Queue.WAIT;
            }
            if (request.lease().tryTakeSlots(replicas[chosen], request.answers())) {
                return chosen;
            }
        }
    }

    private void go(Exchange exchange, InferenceRequest request, AsyncCallback callback, long tried, int chosen) {
        if (chosen < 0) {
            exchange.setException(refusal(request, chosen));
            callback.done(false);
            return;
        }
        request.chosen(replicas[chosen], why(request, chosen));
        senders[chosen].process(exchange, doneSync -> attempted(exchange, request, callback, tried | 1L << chosen));
    }

    private static GatewayException refusal(InferenceRequest request, int answer) {
        if (answer == Queue.FULL) {
            return overloaded(ErrorCode.QUEUE_FULL, request);
        }
        return new GatewayException(ErrorCode.NO_REPLICA);
    }

    /** Tells the client how long the queue is now. */
    private static GatewayException overloaded(ErrorCode code, InferenceRequest request) {
        Pool pool = request.pool();
        double seconds = pool == null ? 0 : Math.ceil(pool.estimatedWaitSeconds());
        int retryAfter = (int) Math.max(code.retryAfterSeconds(), Math.min(LONGEST_RETRY_AFTER, seconds));
        return new GatewayException(code, code.text(), null, retryAfter);
    }

    private String why(InferenceRequest request, int chosen) {
        if (replicas.length == 1) {
            return "only_one";
        }
        return Rendezvous.home(request.affinityKey(), replicas) == chosen ? "home" : "spill";
    }

    private void attempted(Exchange exchange, InferenceRequest request, AsyncCallback callback, long tried) {
        boolean again = exchange.getException() instanceof GatewayException error
                && retryable(error.code())
                && !request.isFinished()
                && !request.isAnswering()
                && request.countedAttempts() < maxAttempts
                && Rendezvous.choose(request.affinityKey(), replicas, tried, request.answers()) != Queue.NOBODY;
        request.lease().giveBackSlots();
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

    /**
     * A request that waits for slots.
     *
     * <p><b>Threading:</b> confined to the request's loop, but for {@link #choose}, which only reads.
     */
    private final class Waiting extends Waiter {

        private final Exchange exchange;
        private final InferenceRequest request;
        private final AsyncCallback callback;
        private final long tried;
        private final Limit limit = new Limit();

        Waiting(Exchange exchange, InferenceRequest request, AsyncCallback callback, long tried) {
            super(
                    new Wish(candidates, request.answers(), request.getBodyBytes(), tried != 0),
                    request.claim(),
                    request.loop());
            this.exchange = exchange;
            this.request = request;
            this.callback = callback;
            this.tried = tried;
        }

        void enter() {
            Pool pool = request.pool() == null ? queue.pool(getRouteId()) : request.pool();
            request.lease().queues(queue, this);
            int answer = queue.enter(pool, this);
            if (answer != Queue.WAIT) {
                granted(answer);
                return;
            }
            long now = System.nanoTime();
            request.waitBegins(now);
            request.pending(this::requestEnded);
            TimerWheel.of(request.loop())
                    .arm(limit, now + pool.bounds().timeout().toNanos());
        }

        @Override
        protected int choose(int slots) {
            return Rendezvous.choose(request.affinityKey(), replicas, tried, slots);
        }

        @Override
        protected void granted(int candidate) {
            stopWaiting();
            if (candidate >= 0) {
                request.lease().adoptSlots(replicas[candidate], request.answers());
            }
            go(exchange, request, callback, tried, candidate);
        }

        private void requestEnded() {
            queue.leave(this);
            stopWaiting();
            exchange.setRouteStop(true);
            callback.done(false);
        }

        private void stopWaiting() {
            request.pending(null);
            request.waitEnds(System.nanoTime());
            TimerWheel.of(request.loop()).cancel(limit);
        }

        /** The longest time that this request may wait. */
        private final class Limit extends TimerWheel.Entry {
            @Override
            protected void expired(long nowNanos) {
                queue.leave(Waiting.this);
                stopWaiting();
                exchange.setException(overloaded(ErrorCode.QUEUE_TIMEOUT, request));
                callback.done(false);
            }
        }
    }
}
