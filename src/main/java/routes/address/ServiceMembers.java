package routes.address;

import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServicePort;
import io.fabric8.kubernetes.api.model.discovery.v1.Endpoint;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointConditions;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointPort;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import routes.replica.ReplicaGroup.Member;

/**
 * Reads a service's pods out of its endpoint slices: those that serve, and those that still serve while they stop.
 *
 * <p>The port may be that of the pods or that of the service. Only where the slices don't say which it is, the service is
 * asked for.
 *
 * <p>A pod can stand in several slices for a moment, and a pod with addresses of both families is one replica.
 */
final class ServiceMembers {

    /** No port of the pods is the one that was asked for. */
    static final class NoSuchPort extends RuntimeException {

        private static final long serialVersionUID = 1;

        NoSuchPort(String message) {
            super(message);
        }
    }

    private final int port;
    private final Supplier<Service> service;
    private @Nullable Service asked;

    ServiceMembers(int port, Supplier<Service> service) {
        this.port = port;
        this.service = service;
    }

    /** @throws NoSuchPort saying which ports there are */
    List<Member> of(List<EndpointSlice> slices) {
        Map<InetAddress, Member> found = new HashMap<>();
        for (EndpointSlice slice : slices) {
            List<Endpoint> serving = slice.getEndpoints().stream()
                    .filter(endpoint -> isServing(endpoint.getConditions()))
                    .toList();
            if (!serving.isEmpty()) {
                int target = target(slice.getPorts());
                serving.forEach(endpoint -> add(found, endpoint, target));
            }
        }
        return IpAddresses.ofOneFamily(found.keySet()).stream()
                .map(address -> Objects.requireNonNull(found.get(address)))
                .toList();
    }

    /** By the rules of Kubernetes: nothing said means ready, serving as far as ready, and not about to stop. */
    private static boolean isServing(@Nullable EndpointConditions conditions) {
        if (conditions == null) {
            return true;
        }
        boolean stopping = Boolean.TRUE.equals(conditions.getTerminating());
        return conditions.getServing() == null
                ? isReady(conditions)
                : conditions.getServing() && (isReady(conditions) || stopping);
    }

    private static boolean isReady(EndpointConditions conditions) {
        return !Boolean.FALSE.equals(conditions.getReady());
    }

    private static boolean isLeaving(@Nullable EndpointConditions conditions) {
        return conditions != null && (Boolean.TRUE.equals(conditions.getTerminating()) || !isReady(conditions));
    }

    /** The addresses of one endpoint are one pod's: the first will do. */
    private static void add(Map<InetAddress, Member> found, Endpoint endpoint, int target) {
        InetAddress address = endpoint.getAddresses().isEmpty()
                ? null
                : IpAddresses.parse(endpoint.getAddresses().get(0));
        if (address != null) {
            Member member = new Member(new InetSocketAddress(address, target), isLeaving(endpoint.getConditions()));
            found.merge(address, member, (a, b) -> a.leaving() ? b : a);
        }
    }

    private int target(List<EndpointPort> ports) {
        if (ports.isEmpty()) {
            // a headless service need not name ports
            return port;
        }
        for (EndpointPort each : ports) {
            if (each.getPort() == null || each.getPort() == port) {
                return port;
            }
        }
        if (ports.size() == 1) {
            return ports.get(0).getPort();
        }
        String name = nameOfServicePort();
        for (EndpointPort each : ports) {
            if (name != null && name.equals(Objects.requireNonNullElse(each.getName(), ""))) {
                return each.getPort();
            }
        }
        throw new NoSuchPort("no port " + port + " (expected: one of the service's ports or of its pods': "
                + ports.stream()
                        .map(each -> each.getName() + " " + each.getPort())
                        .collect(Collectors.joining(", "))
                + ")");
    }

    private @Nullable String nameOfServicePort() {
        if (asked == null) {
            asked = service.get();
        }
        for (ServicePort each : asked.getSpec().getPorts()) {
            if (each.getPort() == port) {
                return Objects.requireNonNullElse(each.getName(), "");
            }
        }
        return null;
    }
}
