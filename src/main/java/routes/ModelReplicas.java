package routes;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.camel.CamelContext;
import org.apache.camel.Endpoint;
import org.apache.camel.EndpointAware;
import org.apache.camel.Navigate;
import org.apache.camel.Route;
import org.apache.camel.spi.InterceptSendToEndpoint;
import routes.model.ModelEndpoint;
import routes.replica.Replica;
import routes.replica.ReplicaTarget;

/**
 * Which replicas the running route of each model leads to, through whatever steps and other routes. For health checks and
 * consoles: a request never asks. Left out are models whose routes have no {@code vllm:} that can be found without a request,
 * such as those that send to an address from a header.
 *
 * <p><b>Threading:</b> any thread, none of an event loop.
 */
final class ModelReplicas implements Supplier<Map<String, List<Replica>>> {

    private final CamelContext context;

    ModelReplicas(CamelContext context) {
        this.context = context;
    }

    @Override
    public Map<String, List<Replica>> get() {
        Map<String, List<Replica>> byModel = new LinkedHashMap<>();
        for (Route route : context.getRoutes()) {
            if (route.getEndpoint() instanceof ModelEndpoint model && !byModel.containsKey(model.getName())) {
                Set<ReplicaTarget> targets = new LinkedHashSet<>();
                follow(model, targets, new LinkedHashSet<>());
                if (!targets.isEmpty()) {
                    byModel.put(
                            model.getName(),
                            targets.stream()
                                    .flatMap(target -> target.replicas().stream())
                                    .distinct()
                                    .toList());
                }
            }
        }
        return byModel;
    }

    /** Where an endpoint leads: to its replicas, or to the routes that begin there. */
    private void follow(Endpoint endpoint, Set<ReplicaTarget> targets, Set<Route> seen) {
        if (endpoint instanceof InterceptSendToEndpoint wrapped) {
            follow(wrapped.getOriginalEndpoint(), targets, seen);
        } else if (endpoint instanceof ReplicaTarget target) {
            targets.add(target);
        } else {
            for (Route route : context.getRoutes()) {
                if (begins(route, endpoint) && isRunning(route) && seen.add(route)) {
                    follow(route.navigate(), targets, seen);
                }
            }
        }
    }

    private void follow(Object step, Set<ReplicaTarget> targets, Set<Route> seen) {
        if (step instanceof EndpointAware aware && aware.getEndpoint() != null) {
            follow(aware.getEndpoint(), targets, seen);
        } else if (step instanceof Navigate<?> navigate && navigate.hasNext()) {
            navigate.next().forEach(next -> follow(next, targets, seen));
        }
    }

    private static boolean begins(Route route, Endpoint endpoint) {
        Endpoint from = route.getEndpoint();
        return from == endpoint
                || from instanceof ModelEndpoint one
                        && endpoint instanceof ModelEndpoint other
                        && one.getName().equals(other.getName());
    }

    private boolean isRunning(Route route) {
        return context.getRouteController().getRouteStatus(route.getRouteId()).isStarted();
    }
}
