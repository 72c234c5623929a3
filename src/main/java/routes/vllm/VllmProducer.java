package routes.vllm;

import io.netty.buffer.Unpooled;
import org.apache.camel.AsyncCallback;
import org.apache.camel.Exchange;
import org.apache.camel.support.DefaultAsyncProducer;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.replica.Replica;
import routes.request.CacheSalt;
import routes.request.Edits;
import routes.request.InferenceRequest;
import routes.request.Prompt;

/**
 * Begins one attempt: the request goes to this endpoint's replica, and the exchange goes on when the answer is complete,
 * has broken off, or could not begin.
 *
 * <p><b>Threading:</b> returns to the request's event loop wherever it was called. <b>Failure:</b> before the first byte of
 * an answer an exception on the exchange, so that a balancer may try elsewhere; after it the request's outcome.
 */
final class VllmProducer extends DefaultAsyncProducer {

    private final VllmEndpoint endpoint;

    VllmProducer(VllmEndpoint endpoint) {
        super(endpoint);
        this.endpoint = endpoint;
    }

    @Override
    public boolean process(Exchange exchange, AsyncCallback callback) {
        if (!(exchange.getMessage().getBody() instanceof InferenceRequest request)) {
            exchange.setException(new IllegalArgumentException("vllm: sends inference requests only"));
            callback.done(true);
            return true;
        }
        if (request.loop().inEventLoop()) {
            begin(exchange, request, callback);
        } else {
            request.loop().execute(() -> begin(exchange, request, callback));
        }
        return false;
    }

    private void begin(Exchange exchange, InferenceRequest request, AsyncCallback callback) {
        Prompt prompt = request.prompt();
        if (request.isFinished()) {
            callback.done(false);
        } else if (request.storedResponse() != null) {
            sendWithoutBody(exchange, request, callback);
        } else if (prompt == null || request.body() == null) {
            exchange.setException(
                    new IllegalStateException("vllm: the request has no prompt (expected: the step 'prompt' before)"));
            callback.done(false);
        } else {
            send(exchange, request, callback, prompt);
        }
    }

    /** What a replica keeps is told, or ended, whatever else it does: that takes no slot. */
    private void sendWithoutBody(Exchange exchange, InferenceRequest request, AsyncCallback callback) {
        Replica replica = endpoint.replicaFor(request);
        if (replica == null) {
            exchange.setException(new GatewayException(ErrorCode.NO_REPLICA));
            callback.done(false);
            return;
        }
        request.body(Unpooled.EMPTY_BUFFER);
        Call call = new Call(request, endpoint, Edits.none(), exchange, callback);
        UpstreamPool.of(request.loop(), endpoint, replica).send(call);
    }

    private void send(Exchange exchange, InferenceRequest request, AsyncCallback callback, Prompt prompt) {
        Replica replica = endpoint.replicaFor(request);
        if (replica == null) {
            exchange.setException(new GatewayException(ErrorCode.NO_REPLICA));
            callback.done(false);
        } else if (!request.lease().holdsSlotsOf(replica)
                && (replica.isWanted() || !request.lease().tryTakeSlots(replica, request.answers()))) {
            exchange.setException(new GatewayException(
                    ErrorCode.QUEUE_FULL, "The replica is busy, and this route has no queue; try again soon."));
            callback.done(false);
        } else {
            String model = endpoint.getModel() == null ? request.getPool() : endpoint.getModel();
            CacheSalt salt = request.target().knowsCacheSalt() ? request.cacheSalt() : null;
            Edits edits = Edits.of(prompt, request.target().streamUsage(), model, salt);
            Call call = new Call(request, endpoint, edits, exchange, callback);
            UpstreamPool.of(request.loop(), endpoint, replica).send(call);
        }
    }
}
