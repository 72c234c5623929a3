package routes.journey;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.camel.Exchange;
import org.apache.camel.Processor;
import routes.request.InferenceRequest;

/**
 * Steps of one's own at the places of a route, each doing for a request what its test said for the request's id, or
 * nothing; remembers where each ran.
 */
final class OwnSteps {

    private final Map<String, Processor> behaviours = new ConcurrentHashMap<>();
    private final Map<String, String> threads = new ConcurrentHashMap<>();

    /** The step at this place, to be bound for a route. */
    Processor at(String place) {
        return exchange -> run(place, exchange);
    }

    /** What the step at this place does for the request with this id. */
    OwnSteps when(String requestId, String place, Processor behaviour) {
        behaviours.put(place + ' ' + requestId, behaviour);
        return this;
    }

    /** Name of the thread that ran the step for this request; null when it didn't. */
    String thread(String requestId, String place) {
        return threads.get(place + ' ' + requestId);
    }

    private void run(String place, Exchange exchange) throws Exception {
        if (exchange.getMessage().getBody() instanceof InferenceRequest request) {
            String key = place + ' ' + request.getRequestId();
            threads.put(key, Thread.currentThread().getName());
            Processor behaviour = behaviours.get(key);
            if (behaviour != null) {
                behaviour.process(exchange);
            }
        }
    }
}
