package routes;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.camel.CamelContext;
import org.apache.camel.Endpoint;
import org.apache.camel.EndpointAware;
import org.apache.camel.Navigate;
import org.apache.camel.Route;
import org.apache.camel.component.direct.DirectEndpoint;
import org.apache.camel.component.netty.http.NettyHttpEndpoint;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.impl.DefaultModelReifierFactory;
import org.apache.camel.model.Model;
import org.apache.camel.model.ProcessorDefinitionHelper;
import org.apache.camel.model.RouteDefinition;
import org.apache.camel.model.ToDefinition;
import org.apache.camel.spi.InterceptSendToEndpoint;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import routes.affinity.AffinityBalancer;
import routes.command.Plan;
import routes.door.Door;
import routes.model.ModelEndpoint;
import routes.vllm.VllmEndpoint;

/** Builds the routes of a context that never starts, one by one, and looks at what they lead to. */
final class RoutesRehearsal {

    private static final Logger LOG = LoggerFactory.getLogger(RoutesRehearsal.class);

    /** What could be built. */
    record Built(String door, List<String> routes, List<Plan.Model> models) {}

    private final DefaultCamelContext context;
    private final List<String> problems;
    /** In the order of the files. */
    private final Map<Route, RouteDefinition> routes = new LinkedHashMap<>();

    private int unbuilt;

    /** @param context that has read its routes and is not initialised yet */
    RoutesRehearsal(DefaultCamelContext context, List<String> problems) {
        this.context = context;
        this.problems = problems;
    }

    Built build() throws Exception {
        Model model = context.getCamelContextExtension().getContextPlugin(Model.class);
        List<RouteDefinition> definitions = List.copyOf(model.getRouteDefinitions());
        model.removeRouteDefinitions(definitions);
        context.init();
        model.setModelReifierFactory(new DefaultModelReifierFactory() {
            @Override
            public Route createRoute(CamelContext camel, Object definition) {
                Route route = super.createRoute(camel, definition);
                routes.put(route, (RouteDefinition) definition);
                return route;
            }
        });
        Set<String> ids = new HashSet<>();
        for (RouteDefinition each : definitions) {
            if (each.hasCustomIdAssigned() && !ids.add(each.getRouteId())) {
                problem(each, "route " + each.getRouteId() + ": a second one with this id (expected: each its own)");
            }
            build(each);
        }
        String door = door();
        if (door.isEmpty() && unbuilt == 0) {
            problems.add("no front door (expected: a route from netty-http with serverInitializerFactory: \"#door\")");
        }
        List<Plan.Model> models = models();
        targets();
        return new Built(door, routes.keySet().stream().map(Route::getRouteId).toList(), models);
    }

    private void build(RouteDefinition definition) {
        int before = routes.size();
        try {
            context.startRouteDefinitions(List.of(definition));
            if (routes.size() > before) {
                look(definition);
            }
        } catch (Exception e) {
            unbuilt++;
            LOG.debug("Route {} can't be built", definition.getRouteId(), e);
            if (!endpoints(definition)) {
                problem(definition, StartFailure.describe(e));
            }
        }
    }

    /** Tries each endpoint of a route that failed: there may be several that are wrong. @return whether one is */
    private boolean endpoints(RouteDefinition definition) {
        int before = problems.size();
        for (ToDefinition to :
                ProcessorDefinitionHelper.filterTypeInOutputs(definition.getOutputs(), ToDefinition.class)) {
            try {
                context.getEndpoint(to.getUri());
            } catch (RuntimeException e) {
                problems.add(
                        place(to.getLocation(), to.getLineNumber()) + inRoute(definition, StartFailure.describe(e)));
            }
        }
        return problems.size() > before;
    }

    /** What a start would look at before the route runs. */
    private void look(RouteDefinition definition) {
        Route route = List.copyOf(routes.keySet()).get(routes.size() - 1);
        try {
            if (route.getEndpoint() instanceof ModelEndpoint || route.getEndpoint() instanceof VllmEndpoint) {
                route.getEndpoint().createConsumer(exchange -> {});
            }
        } catch (Exception e) {
            problem(definition, inRoute(definition, StartFailure.describe(e)));
        }
        List<Object> steps = new ArrayList<>();
        collect(route.navigate(), steps);
        for (Object step : steps) {
            if (step instanceof AffinityBalancer balancer) {
                try {
                    balancer.setRouteId(route.getRouteId());
                    balancer.prepare();
                } catch (RuntimeException e) {
                    problem(definition, inRoute(definition, StartFailure.describe(e)));
                }
            }
        }
    }

    private String door() {
        for (Route route : routes.keySet()) {
            if (route.getEndpoint() instanceof NettyHttpEndpoint http
                    && http.getConfiguration().getServerInitializerFactory() instanceof Door) {
                return "http://" + http.getConfiguration().getHost() + ":"
                        + http.getConfiguration().getPort();
            }
        }
        return "";
    }

    // ---- models

    private List<Plan.Model> models() {
        Map<String, ModelEndpoint> owners = new HashMap<>();
        List<Plan.Model> models = new ArrayList<>();
        routes.forEach((route, definition) -> {
            if (route.getEndpoint() instanceof ModelEndpoint model) {
                for (String name : model.names()) {
                    ModelEndpoint owner = owners.putIfAbsent(name, model);
                    if (owner != null) {
                        problem(
                                definition,
                                inRoute(
                                        definition,
                                        "the name '" + name + "' is that of model " + owner.getName()
                                                + " already (expected: each name once)"));
                    }
                }
                Set<String> aliases = new TreeSet<>(model.names());
                aliases.remove(model.getName());
                models.add(new Plan.Model(
                        model.getName(),
                        new TreeSet<>(aliases),
                        route.getRouteId(),
                        model.getFallback(),
                        servers(route)));
            }
        });
        fallbacks(owners);
        return models;
    }

    private void fallbacks(Map<String, ModelEndpoint> owners) {
        routes.forEach((route, definition) -> {
            if (route.getEndpoint() instanceof ModelEndpoint model
                    && !model.getFallback().isEmpty()) {
                Set<ModelEndpoint> seen = new LinkedHashSet<>();
                ModelEndpoint at = model;
                while (at != null && !at.getFallback().isEmpty() && seen.add(at)) {
                    at = owners.get(at.getFallback());
                }
                if (!owners.containsKey(model.getFallback())) {
                    problem(
                            definition,
                            inRoute(
                                    definition,
                                    "fallback: no route serves '" + model.getFallback()
                                            + "' (expected: the name of another model)"));
                } else if (model.equals(at)) {
                    problem(
                            definition,
                            inRoute(
                                    definition,
                                    "fallback: '" + model.getFallback()
                                            + "' leads back to this model (expected: no circle)"));
                }
            }
        });
    }

    /** Where steps lead within the gateway must be there. */
    private void targets() {
        if (unbuilt > 0) {
            return;
        }
        Set<String> names = new HashSet<>();
        Set<Endpoint> begins = new HashSet<>();
        for (Route route : routes.keySet()) {
            begins.add(route.getEndpoint());
            if (route.getEndpoint() instanceof ModelEndpoint model) {
                names.addAll(model.names());
            }
        }
        routes.forEach((route, definition) -> {
            for (Endpoint endpoint : endpointsOf(route)) {
                if (endpoint instanceof ModelEndpoint model
                        && !model.getName().equals("*")
                        && !names.contains(model.getName())) {
                    problem(
                            definition,
                            inRoute(
                                    definition,
                                    "to: model:" + model.getName() + ": no route serves it (expected: *, or"
                                            + " a model's name)"));
                } else if (endpoint instanceof DirectEndpoint && !begins.contains(endpoint)) {
                    problem(
                            definition,
                            inRoute(definition, "to: " + endpoint + ": no route begins there (expected: one from it)"));
                }
            }
        });
    }

    /** What a model's route leads to, through other routes too. */
    private List<Plan.Server> servers(Route first) {
        Set<Plan.Server> servers = new LinkedHashSet<>();
        Set<Route> seen = new LinkedHashSet<>(List.of(first));
        List<Route> open = new ArrayList<>(List.of(first));
        while (!open.isEmpty()) {
            for (Endpoint endpoint : endpointsOf(open.remove(0))) {
                if (endpoint instanceof VllmEndpoint vllm) {
                    servers.add(new Plan.Server(vllm.server(), vllm.getSlots(), vllm.isMany()));
                }
                routes.keySet().stream()
                        .filter(route -> route.getEndpoint() == endpoint && seen.add(route))
                        .forEach(open::add);
            }
        }
        return List.copyOf(servers);
    }

    private static List<Endpoint> endpointsOf(Route route) {
        List<Object> steps = new ArrayList<>();
        collect(route.navigate(), steps);
        List<Endpoint> endpoints = new ArrayList<>();
        for (Object step : steps) {
            Endpoint endpoint = step instanceof EndpointAware aware ? aware.getEndpoint() : null;
            if (endpoint != null) {
                endpoints.add(
                        endpoint instanceof InterceptSendToEndpoint wrapped ? wrapped.getOriginalEndpoint() : endpoint);
            }
        }
        return endpoints;
    }

    private static void collect(@Nullable Object step, List<Object> into) {
        if (step == null) {
            return;
        }
        into.add(step);
        if (step instanceof Navigate<?> navigate && navigate.hasNext()) {
            navigate.next().forEach(next -> collect(next, into));
        }
    }

    // ---- words

    private void problem(RouteDefinition definition, String text) {
        problems.add(place(definition.getLocation(), definition.getLineNumber()) + text);
    }

    private static String inRoute(RouteDefinition definition, String text) {
        String route = "route " + definition.getRouteId();
        return text.contains(route) ? text : route + ": " + text;
    }

    private static String place(@Nullable String location, int line) {
        if (location == null || location.isEmpty()) {
            return "";
        }
        String file = location.startsWith("file:") ? location.substring("file:".length()) : location;
        return line > 0 ? file + ":" + line + ": " : file + ": ";
    }
}
