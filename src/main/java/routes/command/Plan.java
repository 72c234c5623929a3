package routes.command;

import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * What a configuration would run. Two of them can be compared.
 *
 * @param door where clients would connect, such as {@code http://0.0.0.0:8080}; empty for nowhere
 * @param keys how many keys are enabled
 * @param tenants of these keys
 * @param routes ids of all routes, in the order of the file
 */
public record Plan(String door, int keys, int tenants, List<String> routes, List<Model> models) {

    /**
     * A model and its route.
     *
     * @param aliases its other names, in order
     * @param fallback the model that serves in its place; empty for none
     */
    public record Model(String name, SortedSet<String> aliases, String route, String fallback, List<Server> servers) {}

    /**
     * An address of replicas.
     *
     * @param address as {@code scheme://host:port/base}
     * @param slots most requests at once at each replica
     * @param many whether it stands for as many replicas as its name has addresses
     */
    public record Server(String address, int slots, boolean many) {}

    public Plan {
        routes = List.copyOf(routes);
        models = List.copyOf(models);
    }

    /** Servers that several models share count once. */
    public List<Server> servers() {
        return models.stream()
                .flatMap(model -> model.servers().stream())
                .distinct()
                .toList();
    }

    /** Every name that a client may ask for. */
    public SortedSet<String> names() {
        SortedSet<String> names = new TreeSet<>();
        for (Model model : models) {
            names.add(model.name());
            names.addAll(model.aliases());
        }
        return names;
    }
}
