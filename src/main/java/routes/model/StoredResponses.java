package routes.model;

import java.util.Iterator;
import java.util.List;
import org.apache.camel.AsyncCallback;
import org.apache.camel.Exchange;
import org.jspecify.annotations.Nullable;
import routes.error.ErrorBody;
import routes.error.ErrorCode;
import routes.error.FailedStep;
import routes.error.GatewayException;
import routes.model.ResponseMemory.Known;
import routes.request.ApiKey;
import routes.request.InferenceRequest;
import routes.request.Prompt;
import routes.request.StoredResponse;

/**
 * Responses that replicas keep: remembers who made which, and sends what is asked of one to the replica that keeps it. One
 * that isn't known is asked for at the replicas of the models that the key may use. A response that is known is its
 * tenant's; to others it isn't there.
 *
 * <p><b>Threading:</b> the request's event loop.
 */
final class StoredResponses {

    private final ModelComponent directory;
    private final ResponseMemory memory;

    StoredResponses(ModelComponent directory, ResponseMemory memory) {
        this.directory = directory;
        this.memory = memory;
    }

    /**
     * A new response is to be made by a model: where it goes on from another one, by the replica that keeps that.
     *
     * @return the callback to go on with
     */
    AsyncCallback begin(InferenceRequest request, String model, AsyncCallback callback) throws GatewayException {
        Prompt prompt = request.prompt();
        ApiKey key = request.caller();
        if (prompt == null || key == null) {
            return callback;
        }
        String previous = prompt.previousResponseId();
        Known known = previous == null ? null : memory.find(previous);
        if (previous != null && known != null) {
            if (!known.tenant().equals(key.tenant())) {
                throw StoredResponse.notFound(ErrorBody.excerpt(previous), "previous_response_id");
            }
            if (known.model().equals(model)) {
                request.mustGoTo(known.replica());
            }
        }
        if (!prompt.store()) {
            return callback;
        }
        Making making = new Making(request, key.tenant(), prompt.background());
        request.facts().onResponseId(making::named);
        return prompt.background() ? doneSync -> making.over(callback, doneSync) : callback;
    }

    /** A response in the making. */
    private final class Making {
        private final InferenceRequest request;
        private final String tenant;
        private final boolean background;
        private String id = "";

        Making(InferenceRequest request, String tenant, boolean background) {
            this.request = request;
            this.tenant = tenant;
            this.background = background;
        }

        void named(String name) {
            id = name;
            String model = request.getPool();
            if (model != null && request.getReplica() != null) {
                memory.remember(id, new Known(model, request.getReplica(), tenant), background);
            }
        }

        void over(AsyncCallback callback, boolean doneSync) {
            if (request.facts().usageFinal()) {
                memory.takeUsage(id);
            }
            callback.done(doneSync);
        }
    }

    // ---- what is asked of one that is there

    /** @param only the one model to ask; null for all */
    boolean ask(Exchange exchange, InferenceRequest request, @Nullable ModelConsumer only, AsyncCallback callback) {
        StoredResponse asked = request.storedResponse();
        ApiKey key = request.caller();
        if (asked == null || key == null) {
            exchange.setException(new GatewayException(ErrorCode.RESPONSE_NOT_FOUND));
            callback.done(true);
            return true;
        }
        Known known = memory.find(asked.id());
        if (known == null) {
            request.facts().ignoreUsage();
            List<ModelConsumer> models = only != null
                    ? List.of(only)
                    : directory.consumers().stream()
                            .filter(each -> mayUse(key, each))
                            .toList();
            new Search(exchange, request, asked, models, callback).next();
            return false;
        }
        ModelConsumer consumer = directory.find(known.model());
        boolean visible = known.tenant().equals(key.tenant()) && consumer != null && mayUse(key, consumer);
        if (consumer == null || !visible) {
            exchange.setException(StoredResponse.notFound(asked.id(), null));
            callback.done(true);
            return true;
        }
        request.mustGoTo(known.replica());
        consumer.takes(request);
        if (!memory.takeUsage(asked.id())) {
            request.facts().ignoreUsage();
            return consumer.getAsyncProcessor().process(exchange, callback);
        }
        return consumer.getAsyncProcessor().process(exchange, doneSync -> {
            if (!request.facts().usageFinal()) {
                memory.owesUsage(asked.id());
            }
            callback.done(doneSync);
        });
    }

    private static boolean mayUse(ApiKey key, ModelConsumer consumer) {
        return consumer.names().stream().anyMatch(key::mayUse);
    }

    /** A search for a response through models, one after another. */
    private static final class Search {
        private final Exchange exchange;
        private final InferenceRequest request;
        private final StoredResponse asked;
        private final Iterator<ModelConsumer> left;
        private final AsyncCallback callback;
        private boolean missedSome;

        Search(
                Exchange exchange,
                InferenceRequest request,
                StoredResponse asked,
                List<ModelConsumer> models,
                AsyncCallback callback) {
            this.exchange = exchange;
            this.request = request;
            this.asked = asked;
            this.left = models.iterator();
            this.callback = callback;
        }

        void next() {
            if (request.isFinished()) {
                callback.done(false);
                return;
            }
            if (!left.hasNext() || request.getAttempts() >= StoredResponse.MOST_ASKED) {
                exchange.setException(
                        missedSome
                                ? new GatewayException(ErrorCode.RESPONSE_UNAVAILABLE)
                                : StoredResponse.notFound(asked.id(), null));
                callback.done(false);
                return;
            }
            ModelConsumer consumer = left.next();
            consumer.takes(request);
            consumer.getAsyncProcessor().process(exchange, doneSync -> {
                if (request.loop().inEventLoop()) {
                    answered();
                } else {
                    request.loop().execute(this::answered);
                }
            });
        }

        private static boolean isUnknown(ErrorCode code) {
            return code == ErrorCode.RESPONSE_NOT_FOUND
                    || code == ErrorCode.RESPONSE_UNAVAILABLE
                    || code == ErrorCode.NO_REPLICA;
        }

        private void answered() {
            GatewayException error = exchange.getException() instanceof GatewayException e ? e : null;
            if (error == null || !isUnknown(error.code()) || request.isFinished() || request.isAnswering()) {
                callback.done(false);
                return;
            }
            missedSome |= error.code() != ErrorCode.RESPONSE_NOT_FOUND;
            FailedStep.forgive(exchange);
            next();
        }
    }
}
