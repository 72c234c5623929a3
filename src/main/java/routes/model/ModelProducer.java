package routes.model;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.camel.AsyncCallback;
import org.apache.camel.Exchange;
import org.apache.camel.support.DefaultAsyncProducer;
import org.jspecify.annotations.Nullable;
import routes.error.ErrorBody;
import routes.error.ErrorCode;
import routes.error.FailedStep;
import routes.error.GatewayException;
import routes.request.Api;
import routes.request.ApiKey;
import routes.request.InferenceRequest;

/**
 * Sends a request to the route of its model, or answers what models there are. A model that doesn't exist and one that the
 * key may not use get the same answer.
 *
 * <p><b>Threading:</b> returns to the request's event loop wherever it was called; never blocks.
 */
final class ModelProducer extends DefaultAsyncProducer {

    /** Nobody could take the request: another model may. */
    private static final Set<ErrorCode> FOR_FALLBACK =
            EnumSet.of(ErrorCode.NO_REPLICA, ErrorCode.QUEUE_FULL, ErrorCode.UPSTREAM_CONNECT_FAILED);

    /** A fallback may have a fallback; a circle of them ends. */
    private static final int MOST_FALLBACKS = 4;

    private final ModelEndpoint endpoint;
    private @Nullable StoredResponses responses;

    ModelProducer(ModelEndpoint endpoint) {
        super(endpoint);
        this.endpoint = endpoint;
    }

    @Override
    protected void doStart() throws Exception {
        super.doStart();
        responses = endpoint.directory().responses();
    }

    @Override
    public boolean process(Exchange exchange, AsyncCallback callback) {
        InferenceRequest request = exchange.getMessage().getBody(InferenceRequest.class);
        if (request == null) {
            callback.done(true);
            return true;
        }
        if (!request.loop().inEventLoop()) {
            request.loop().execute(() -> dispatch(exchange, request, doneSync -> callback.done(false)));
            return false;
        }
        return dispatch(exchange, request, callback);
    }

    private boolean dispatch(Exchange exchange, InferenceRequest request, AsyncCallback callback) {
        if (request.isFinished()) {
            callback.done(true);
            return true;
        }
        boolean any = endpoint.getName().equals("*");
        if (request.target().isAboutStoredResponse()) {
            ModelConsumer only = any ? null : endpoint.directory().find(endpoint.getName());
            return responses().ask(exchange, request, only, callback);
        }
        if (request.target().body() == Api.Body.NONE) {
            list(request);
            callback.done(true);
            return true;
        }
        String asked = any ? request.getModel() : endpoint.getName();
        ModelConsumer consumer = asked == null ? null : endpoint.directory().find(asked);
        if (asked == null || consumer == null || any && !allowed(request.caller(), asked, consumer.name())) {
            exchange.setException(unknown(asked == null ? "" : asked));
            callback.done(true);
            return true;
        }
        AsyncCallback after = callback;
        try {
            if (request.target() == Api.RESPONSES) {
                after = responses().begin(request, consumer.name(), callback);
            }
            reserve(request, consumer.name());
        } catch (GatewayException refused) {
            exchange.setException(refused);
            callback.done(true);
            return true;
        }
        return serve(exchange, request, consumer, after, 0);
    }

    private StoredResponses responses() {
        StoredResponses started = responses;
        if (started == null) {
            throw new IllegalStateException("not started");
        }
        return started;
    }

    private boolean serve(
            Exchange exchange,
            InferenceRequest request,
            ModelConsumer consumer,
            AsyncCallback callback,
            int fallbacks) {
        consumer.takes(request);
        if (consumer.fallback().isEmpty()) {
            return consumer.getAsyncProcessor().process(exchange, callback);
        }
        Runnable served = () -> served(exchange, request, consumer, callback, fallbacks);
        consumer.getAsyncProcessor().process(exchange, doneSync -> {
            if (request.loop().inEventLoop()) {
                served.run();
            } else {
                request.loop().execute(served);
            }
        });
        return false;
    }

    /** The model's route is done with the request; where nobody could serve it, the fallback may. */
    private void served(
            Exchange exchange,
            InferenceRequest request,
            ModelConsumer consumer,
            AsyncCallback callback,
            int fallbacks) {
        boolean unserved = exchange.getException() instanceof GatewayException error
                && FOR_FALLBACK.contains(error.code())
                && !request.isFinished()
                && !request.isAnswering()
                // no other model keeps the response that this one goes on from
                && request.mustGoTo() == null;
        ModelConsumer next =
                unserved && fallbacks < MOST_FALLBACKS ? endpoint.directory().find(consumer.fallback()) : null;
        if (next == null || next == consumer) {
            callback.done(false);
            return;
        }
        request.fallsBackFrom(consumer.pool());
        FailedStep.forgive(exchange);
        try {
            // at the prices of the model that serves it
            request.lease().grant().refund();
            take(request, next.name());
        } catch (GatewayException refused) {
            exchange.setException(refused);
            callback.done(false);
            return;
        }
        serve(exchange, request, next, callback, fallbacks + 1);
    }

    /** Takes all that the request needs of its key's quota, once, however many models its route sends it to. */
    private static void reserve(InferenceRequest request, String model) throws GatewayException {
        if (request.pool() == null) {
            take(request, model);
        }
    }

    private static void take(InferenceRequest request, String model) throws GatewayException {
        ApiKey key = request.caller();
        if (key != null) {
            request.lease().reserved(key.quota().reserve(model, request.answers(), request.promptTokensEstimate()));
        }
    }

    private void list(InferenceRequest request) {
        if (request.target() == Api.MODEL) {
            String id = decode(request.head().path().substring(Api.MODEL.path().length()));
            ModelConsumer consumer = endpoint.directory().find(id);
            if (consumer == null || !allowed(request.caller(), id, consumer.name())) {
                request.fail(unknown(id));
                return;
            }
            StringBuilder json = new StringBuilder();
            describe(json, id);
            answer(request, json);
            return;
        }
        StringBuilder json = new StringBuilder("{\"object\":\"list\",\"data\":[");
        boolean first = true;
        for (String name : endpoint.directory().names()) {
            ModelConsumer consumer = endpoint.directory().find(name);
            if (consumer != null && allowed(request.caller(), name, consumer.name())) {
                if (!first) {
                    json.append(',');
                }
                first = false;
                describe(json, name);
            }
        }
        answer(request, json.append("]}"));
    }

    private static void answer(InferenceRequest request, StringBuilder json) {
        request.client().answer(200, "application/json", json.toString().getBytes(StandardCharsets.UTF_8), List.of());
        request.answered(200);
    }

    private static void describe(StringBuilder json, String id) {
        json.append("{\"id\":\"");
        JsonStringEncoder.getInstance().quoteAsString(id, json);
        json.append("\",\"object\":\"model\",\"created\":0,\"owned_by\":\"dromedary\"}");
    }

    /** A key that names an alias may use it, and so may one that names the model itself. */
    private static boolean allowed(@Nullable ApiKey key, String asked, String name) {
        return key != null && (key.mayUse(name) || key.mayUse(asked));
    }

    private static GatewayException unknown(String model) {
        return new GatewayException(
                ErrorCode.MODEL_NOT_FOUND,
                "The model '" + ErrorBody.excerpt(model) + "' does not exist or you do not have access to it.",
                "model");
    }

    /** Percent-decodes as UTF-8; the path was checked when it was read. */
    private static String decode(String text) {
        if (text.indexOf('%') < 0) {
            return text;
        }
        byte[] out = new byte[text.length()];
        int length = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '%') {
                out[length++] = (byte) Integer.parseInt(text, i + 1, i + 3, 16);
                i += 2;
            } else {
                out[length++] = (byte) c;
            }
        }
        return new String(out, 0, length, StandardCharsets.UTF_8);
    }
}
