package routes.door;

import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import org.apache.camel.Exchange;
import org.apache.camel.ExchangePattern;
import org.apache.camel.Message;
import org.apache.camel.component.netty.http.NettyHttpConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.request.InferenceRequest;

/** Takes one inference request through the door's route, from its head to the route's end. */
final class DoorExchange {

    private static final Logger LOG = LoggerFactory.getLogger(DoorExchange.class);

    private DoorExchange() {}

    static void run(NettyHttpConsumer consumer, InferenceRequest request) {
        Exchange exchange = consumer.createExchange(false);
        exchange.setPattern(ExchangePattern.InOut);
        exchange.getIn().setBody(request);
        try {
            consumer.createUoW(exchange);
        } catch (Exception e) {
            LOG.error("Can't begin an exchange", e);
            request.fail(new GatewayException(ErrorCode.INTERNAL));
            return;
        }
        consumer.getAsyncProcessor().process(exchange, doneSync -> {
            if (request.loop().inEventLoop()) {
                completed(consumer, exchange, request);
            } else {
                request.loop().execute(() -> completed(consumer, exchange, request));
            }
        });
    }

    private static void completed(NettyHttpConsumer consumer, Exchange exchange, InferenceRequest request) {
        try {
            if (!request.isFinished()) {
                conclude(exchange, request);
            } else if (exchange.getException() != null && exchange.getException(GatewayException.class) == null) {
                LOG.warn("{}: a step after the answer failed", request, exchange.getException());
            }
        } catch (RuntimeException e) {
            LOG.error("{}: can't answer", request, e);
            request.fail(new GatewayException(ErrorCode.INTERNAL));
        } finally {
            consumer.doneUoW(exchange);
            consumer.releaseExchange(exchange, false);
        }
    }

    /** The route ended and nobody has answered: an error, or a step that leaves an answer of its own in the message. */
    private static void conclude(Exchange exchange, InferenceRequest request) {
        Exception failure = exchange.getException();
        GatewayException error = exchange.getException(GatewayException.class);
        if (error != null) {
            request.fail(error);
        } else if (exchange.getException(RejectedExecutionException.class) != null) {
            request.fail(new GatewayException(ErrorCode.NO_CAPACITY, "A step of the gateway is busy; try again soon."));
        } else if (failure != null) {
            LOG.error("{}: a step of the route failed", request, failure);
            request.fail(new GatewayException(ErrorCode.INTERNAL));
        } else if (exchange.getMessage().getBody() == request) {
            LOG.error("{}: the route ended without an answer (expected: a step 'to: model:*')", request);
            request.fail(new GatewayException(ErrorCode.INTERNAL));
        } else {
            answer(exchange.getMessage(), request);
        }
    }

    private static void answer(Message message, InferenceRequest request) {
        byte[] body = message.getBody(byte[].class);
        int status = message.getHeader(Exchange.HTTP_RESPONSE_CODE, 200, Integer.class);
        String type = message.getHeader(Exchange.CONTENT_TYPE, "application/json", String.class);
        Object retryAfter = message.getHeader("Retry-After");
        List<Map.Entry<String, String>> headers =
                retryAfter == null ? List.of() : List.of(Map.entry("retry-after", retryAfter.toString()));
        request.client().answer(status, type, body == null ? new byte[0] : body, headers);
        request.answered(status);
    }
}
