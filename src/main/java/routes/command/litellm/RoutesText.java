package routes.command.litellm;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Writes {@code routes.yaml}: the built-in one without its models and greeting, and a route for each model. */
final class RoutesText {

    private static final int SLOTS = 256;
    private static final String OWN =
            "(?s).*\\n    from:\\s*\\n?\\s*\\{?\\s*uri: model:[^*].*|(?s)- route:\\n    id: hello\\n.*";

    /** What all routes say of a server. */
    private record Server(int slots, boolean vllm) {}

    private final Map<String, List<Deployment>> groups;
    private final Map<String, Set<String>> aliases;
    private final Map<String, String> fallbacks;
    private final String balancer;
    private final Report report;
    private final Map<String, Server> servers = new HashMap<>();
    private final Set<String> ids = new HashSet<>();

    /**
     * @param groups deployments by the names that clients use
     * @param aliases other names of groups
     * @param fallbacks the group that serves in another's place
     * @param balancer such as {@code affinity}
     */
    RoutesText(
            Map<String, List<Deployment>> groups,
            Map<String, Set<String>> aliases,
            Map<String, String> fallbacks,
            String balancer,
            Report report) {
        this.groups = groups;
        this.aliases = aliases;
        this.fallbacks = fallbacks;
        this.balancer = balancer;
        this.report = report;
        groups.values().forEach(group -> group.forEach(this::join));
    }

    int servers() {
        return servers.size();
    }

    private void join(Deployment each) {
        int slots = each.slots() == null ? SLOTS : each.slots();
        Server known = servers.get(each.address());
        if (known != null && known.slots() != slots) {
            report.differs(
                    each.where(),
                    "a server has one number of slots, whatever the model: " + Math.max(slots, known.slots()));
        }
        servers.merge(
                each.address(),
                new Server(slots, each.vllm()),
                (a, b) -> new Server(Math.max(a.slots(), b.slots()), a.vllm() || b.vllm()));
    }

    String text() throws IOException {
        StringBuilder text = new StringBuilder();
        text.append("# Made by 'dromedary import litellm'. The first routes are those that every gateway has.\n");
        for (String item : builtIn().split("(?m)^(?=- )", -1)) {
            if (item.startsWith("- ") && !item.matches(OWN)) {
                text.append('\n')
                        .append(item.replaceAll("(?m)^#.*\\R?", "").stripTrailing())
                        .append('\n');
            }
        }
        groups.forEach((name, deployments) -> text.append('\n').append(route(name, deployments)));
        return text.toString();
    }

    private static String builtIn() throws IOException {
        try (InputStream in = RoutesText.class.getResourceAsStream("/routes.yaml")) {
            if (in == null) {
                throw new IllegalStateException("no routes.yaml on the class path");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private String route(String name, List<Deployment> deployments) {
        List<String> lines = new ArrayList<>();
        lines.add("- route:");
        lines.add("    id: " + id(name));
        lines.add("    errorHandler: { noErrorHandler: {} }");
        lines.add("    from:");
        lines.add("      uri: " + quoted("model:" + name));
        Map<String, String> options = options(name, deployments);
        if (!options.isEmpty()) {
            lines.add("      parameters: " + flow(options));
        }
        lines.add("      steps:");
        lines.add("        - loadBalance:");
        lines.add("            customLoadBalancer: { ref: " + balancer + " }");
        lines.add("            steps:");
        for (Deployment each : merged(deployments)) {
            lines.add("              - to:");
            lines.add("                  uri: " + quoted("vllm:" + each.address()));
            lines.add("                  parameters: " + flow(parameters(each)));
        }
        return String.join("\n", lines) + "\n";
    }

    private String id(String name) {
        String base = "model-" + name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9.-]+", "-");
        String id = base;
        for (int number = 2; !ids.add(id); number++) {
            id = base + "-" + number;
        }
        return id;
    }

    private Map<String, String> options(String name, List<Deployment> deployments) {
        Map<String, String> options = new LinkedHashMap<>();
        Set<String> others = aliases.getOrDefault(name, Set.of());
        if (!others.isEmpty()) {
            options.put("aliases", String.join(",", new TreeSet<>(others)));
        }
        String fallback = fallbacks.get(name);
        if (fallback != null) {
            options.put("fallback", fallback);
        }
        String total = one(deployments, deployment -> deployment.timeouts().total(), "timeout");
        if (total != null) {
            options.put("totalTimeout", total);
            report.differs(
                    name, "timeout bounds streamed answers too, to their last byte (totalTimeout: " + total + ")");
        }
        String stream = one(deployments, deployment -> deployment.timeouts().stream(), "stream_timeout");
        if (stream != null) {
            options.put("headTimeout", stream);
            options.put("stallTimeout", stream);
        }
        return options;
    }

    private @Nullable String one(
            List<Deployment> deployments, Function<Deployment, @Nullable String> option, String key) {
        String first = null;
        for (Deployment each : deployments) {
            String value = option.apply(each);
            if (first != null && value != null && !first.equals(value)) {
                report.differs(each.where(), key + " is the model's here, not a replica's: " + first + " counts");
            }
            first = first == null ? value : first;
        }
        return first;
    }

    /** One server once, with all of its keys. */
    private List<Deployment> merged(List<Deployment> deployments) {
        Map<String, Deployment> byServer = new LinkedHashMap<>();
        for (Deployment each : deployments) {
            Deployment known = byServer.putIfAbsent(each.address(), each);
            if (known == null) {
                continue;
            }
            if (!known.model().equals(each.model()) || !known.headers().equals(each.headers())) {
                report.missing(
                        each.where(),
                        "the same server a second time, with another model or header (expected: one replica for"
                                + " each server; a model of its own)");
                continue;
            }
            List<String> keys = new ArrayList<>(known.keys());
            each.keys().stream().filter(key -> !keys.contains(key)).forEach(keys::add);
            byServer.put(
                    each.address(),
                    new Deployment(
                            known.where(),
                            known.group(),
                            known.address(),
                            known.model(),
                            known.vllm(),
                            known.slots(),
                            keys,
                            known.headers(),
                            known.timeouts(),
                            known.price()));
            report.differs(each.where(), "the same server again: one replica, whose keys take turns");
        }
        return List.copyOf(byServer.values());
    }

    private Map<String, String> parameters(Deployment each) {
        Server server = servers.getOrDefault(each.address(), new Server(SLOTS, false));
        Map<String, String> parameters = new LinkedHashMap<>();
        parameters.put("slots", Integer.toString(server.slots()));
        if (!each.model().equals(each.group())) {
            parameters.put("model", each.model());
        }
        if (!each.keys().isEmpty()) {
            parameters.put("apiKey", raw(String.join(",", each.keys())));
        }
        each.headers().forEach((name, value) -> parameters.put("header." + name, raw(value)));
        if (!server.vllm()) {
            parameters.put("healthPath", "none");
            parameters.put("loadPath", "none");
        }
        return parameters;
    }

    /** As it is: an address would take some of its characters for its own. */
    private static String raw(String value) {
        return value.contains("{{") ? "RAW(" + value + ")" : value;
    }

    private static String flow(Map<String, String> options) {
        return options.entrySet().stream()
                .map(option -> option.getKey() + ": "
                        + (option.getValue().matches("[0-9]+(s|ms)?|none|[a-z-]+")
                                ? option.getValue()
                                : quoted(option.getValue())))
                .collect(Collectors.joining(", ", "{ ", " }"));
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
