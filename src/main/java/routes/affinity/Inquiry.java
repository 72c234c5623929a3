package routes.affinity;

import org.apache.camel.AsyncCallback;
import org.apache.camel.Exchange;
import org.jspecify.annotations.Nullable;
import routes.error.ErrorCode;
import routes.error.FailedStep;
import routes.error.GatewayException;
import routes.replica.Replica;
import routes.request.InferenceRequest;
import routes.request.StoredResponse;

/**
 * A question about a response that a replica keeps: goes to the replica that made it, or to one replica after another until
 * one knows it. Takes no slots and waits in no queue, so that a full replica can still be told to stop.
 *
 * <p><b>Threading:</b> event-loop confined, on the request's loop. <b>Failure:</b> {@link ErrorCode#RESPONSE_NOT_FOUND} when
 * nobody knows it; {@link ErrorCode#RESPONSE_UNAVAILABLE} when one that may know it could not be asked.
 */
final class Inquiry implements InferenceRequest.Retries, AsyncCallback {

    private final Fleet fleet;
    private final Exchange exchange;
    private final InferenceRequest request;
    private final AsyncCallback callback;
    private final @Nullable Replica maker;
    private int next;
    private boolean missedSome;

    Inquiry(Fleet fleet, Exchange exchange, InferenceRequest request, AsyncCallback callback) {
        this.fleet = fleet;
        this.exchange = exchange;
        this.request = request;
        this.callback = callback;
        this.maker = request.mustGoTo();
    }

    void begin() {
        if (request.loop().inEventLoop()) {
            askNext();
        } else {
            request.loop().execute(this::askNext);
        }
    }

    private void askNext() {
        if (request.isFinished()) {
            exchange.setRouteStop(true);
            end();
            return;
        }
        int chosen = maker == null ? nextUp() : fleet.indexOf(maker);
        if (chosen < 0 || !fleet.replicas()[chosen].isUp()) {
            missedSome |= maker != null;
            fail();
            return;
        }
        Replica replica = fleet.replicas()[chosen];
        request.mustGoTo(replica);
        request.chosen(replica, "stored");
        request.retries(this);
        fleet.sender(chosen).process(exchange, this);
    }

    /** The next one that can be asked; -1 for none, and when enough have been asked. */
    private int nextUp() {
        if (request.getAttempts() >= StoredResponse.MOST_ASKED) {
            return -1;
        }
        while (next < fleet.replicas().length) {
            int candidate = next++;
            if (fleet.replicas()[candidate].isUp()) {
                return candidate;
            }
            missedSome = true;
        }
        return -1;
    }

    /** Of those that are asked around, who doesn't know the id or the API is passed over; so is one in trouble. */
    @Override
    public boolean insteadOf(int status, int retryAfterSeconds) {
        if (maker != null) {
            return false;
        }
        boolean unknown = status == 404 || status == 405 || status == 501;
        boolean inTrouble = !unknown && (status == 429 || status >= 500);
        missedSome |= inTrouble;
        return unknown || inTrouble;
    }

    @Override
    public void answered() {}

    @Override
    public void firstToken() {}

    @Override
    public void done(boolean doneSync) {
        request.retries(null);
        GatewayException error = exchange.getException() instanceof GatewayException e ? e : null;
        if (error == null || request.isFinished() || request.isAnswering()) {
            end();
            return;
        }
        missedSome |= error.code() != ErrorCode.UPSTREAM_ERROR;
        FailedStep.forgive(exchange);
        if (maker != null) {
            fail();
        } else {
            askNext();
        }
    }

    private void fail() {
        StoredResponse asked = request.storedResponse();
        exchange.setException(
                missedSome || asked == null
                        ? new GatewayException(ErrorCode.RESPONSE_UNAVAILABLE)
                        : StoredResponse.notFound(asked.id(), null));
        end();
    }

    private void end() {
        request.mustGoTo(maker);
        callback.done(false);
    }
}
