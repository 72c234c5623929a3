package routes.model;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import org.apache.camel.Endpoint;
import org.apache.camel.spi.annotations.Component;
import org.apache.camel.support.CamelContextHelper;
import org.apache.camel.support.DefaultComponent;
import org.jspecify.annotations.Nullable;
import routes.config.Setting;
import routes.config.Settings;
import routes.queue.Queue;

/**
 * The directory of served models: the newest running consumer of a name wins, older ones finish what they have.
 *
 * <p><b>Threading:</b> look-ups read one immutable snapshot; changes replace it under the component's monitor.
 */
@Component("model")
public final class ModelComponent extends DefaultComponent {

    private volatile Map<String, List<ModelConsumer>> directory = Map.of();
    private @Nullable StoredResponses responses;

    @Override
    protected Endpoint createEndpoint(String uri, String remaining, Map<String, Object> parameters) throws Exception {
        ModelEndpoint endpoint = new ModelEndpoint(uri, this);
        endpoint.setName(remaining);
        setProperties(endpoint, parameters);
        return endpoint;
    }

    Queue queue() {
        Queue queue = CamelContextHelper.findSingleByType(getCamelContext(), Queue.class);
        if (queue == null) {
            throw new IllegalStateException(
                    "model: no Queue in the registry (expected: the gateway's configuration class,"
                            + " routes.GatewayConfiguration)");
        }
        return queue;
    }

    Settings settings() {
        Settings settings = CamelContextHelper.findSingleByType(getCamelContext(), Settings.class);
        if (settings == null) {
            throw new IllegalStateException("model: no Settings in the registry (expected: the gateway's configuration"
                    + " class, routes.GatewayConfiguration)");
        }
        return settings;
    }

    /** What is known of the responses that replicas keep: outlives routes. */
    synchronized StoredResponses responses() {
        StoredResponses known = responses;
        if (known == null) {
            Settings settings = settings();
            known = new StoredResponses(
                    this,
                    new ResponseMemory(
                            settings.integer(Setting.RESPONSES_REMEMBERED),
                            settings.duration(Setting.RESPONSES_REMEMBERED_FOR).toNanos(),
                            System::nanoTime));
            responses = known;
        }
        return known;
    }

    synchronized void add(ModelConsumer consumer) {
        Map<String, List<ModelConsumer>> next = new LinkedHashMap<>(directory);
        for (String name : consumer.names()) {
            List<ModelConsumer> serving = new ArrayList<>(next.getOrDefault(name, List.of()));
            serving.add(0, consumer);
            next.put(name, List.copyOf(serving));
        }
        directory = next;
    }

    synchronized void remove(ModelConsumer consumer) {
        Map<String, List<ModelConsumer>> next = new LinkedHashMap<>();
        directory.forEach((name, serving) -> {
            List<ModelConsumer> left =
                    serving.stream().filter(other -> other != consumer).toList();
            if (!left.isEmpty()) {
                next.put(name, left);
            }
        });
        directory = next;
    }

    /** The route that serves a model, by its name or an alias; exact, nothing trimmed or folded. */
    @Nullable
    ModelConsumer find(String name) {
        List<ModelConsumer> serving = directory.get(name);
        return serving == null ? null : serving.get(0);
    }

    /** The routes that serve models, each once. */
    List<ModelConsumer> consumers() {
        return directory.values().stream()
                .map(serving -> serving.get(0))
                .distinct()
                .toList();
    }

    /** Every name and alias, in order. */
    SortedSet<String> names() {
        return new TreeSet<>(directory.keySet());
    }
}
