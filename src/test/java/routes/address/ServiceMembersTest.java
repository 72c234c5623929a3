package routes.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.Endpoint;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointPortBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSliceBuilder;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import routes.replica.ReplicaGroup.Member;

/** Endpoint slices as Kubernetes writes them, and the replicas that they mean. */
class ServiceMembersTest {

    private static final Supplier<Service> NOT_ASKED = () -> {
        throw new AssertionError("the service need not be asked for");
    };

    private static Endpoint endpoint(String address, Boolean ready, Boolean serving, Boolean terminating) {
        return new EndpointBuilder()
                .withAddresses(address)
                .withNewConditions(ready, serving, terminating)
                .build();
    }

    private static Endpoint ready(String address) {
        return endpoint(address, true, true, false);
    }

    private static EndpointSliceBuilder slice(Endpoint... endpoints) {
        return new EndpointSliceBuilder().withAddressType("IPv4").withEndpoints(endpoints);
    }

    private static EndpointSlice slice(int port, Endpoint... endpoints) {
        return slice(endpoints).addNewPort(null, "http", port, "TCP").build();
    }

    private static List<String> read(int port, Supplier<Service> service, EndpointSlice... slices) {
        return new ServiceMembers(port, service)
                .of(List.of(slices)).stream().map(ServiceMembersTest::text).toList();
    }

    private static String text(Member member) {
        String address = member.address().getAddress().getHostAddress() + ":"
                + member.address().getPort();
        return member.leaving() ? address + " leaving" : address;
    }

    @ParameterizedTest
    @CsvSource({
        "true, true, false, serves",
        ", , , serves",
        "true, , , serves",
        "false, true, true, leaves",
        // a service that publishes addresses of pods that aren't ready
        "true, true, true, leaves",
        "true, false, false, absent",
        "false, false, false, absent",
        "false, , , absent",
        "false, false, true, absent",
        "false, true, false, absent"
    })
    void conditionsSayWhoServes(Boolean ready, Boolean serving, Boolean terminating, String expected) {
        List<String> found = read(8000, NOT_ASKED, slice(8000, endpoint("10.0.0.1", ready, serving, terminating)));
        assertThat(found)
                .isEqualTo(
                        switch (expected) {
                            case "serves" -> List.of("10.0.0.1:8000");
                            case "leaves" -> List.of("10.0.0.1:8000 leaving");
                            default -> List.of();
                        });
    }

    @Test
    void nothingSaidMeansReady() {
        Endpoint silent = new EndpointBuilder().withAddresses("10.0.0.1").build();
        assertThat(read(8000, NOT_ASKED, slice(8000, silent))).containsExactly("10.0.0.1:8000");
    }

    @Test
    void allSlicesCountAndEachPodOnce() {
        EndpointSlice one = slice(8000, ready("10.0.0.20"), endpoint("10.0.0.3", false, true, true));
        EndpointSlice two = slice(8000, ready("10.0.0.3"), ready("10.0.0.1"));
        assertThat(read(8000, NOT_ASKED, one, two)).containsExactly("10.0.0.1:8000", "10.0.0.3:8000", "10.0.0.20:8000");
    }

    @Test
    void aPodWithAddressesOfBothFamiliesIsOneReplica() {
        assertThat(read(8000, NOT_ASKED, slice(8000, ready("fd00::1")), slice(8000, ready("10.0.0.1"))))
                .containsExactly("10.0.0.1:8000");
        assertThat(read(8000, NOT_ASKED, slice(8000, ready("fd00::1")))).containsExactly("fd00:0:0:0:0:0:0:1:8000");
    }

    @Test
    void namesInsteadOfAddressesAreLeftOut() {
        assertThat(read(8000, NOT_ASKED, slice(8000, ready("gpu.example"), ready("10.0.0.1"))))
                .containsExactly("10.0.0.1:8000");
    }

    @Test
    void theOnlyPortIsTheRightOneWhateverTheServiceCallsIt() {
        assertThat(read(80, NOT_ASKED, slice(8000, ready("10.0.0.1")))).containsExactly("10.0.0.1:8000");
    }

    @Test
    void aServiceWithoutPortsLeavesTheChoice() {
        assertThat(read(8000, NOT_ASKED, slice(ready("10.0.0.1")).build())).containsExactly("10.0.0.1:8000");
        EndpointSlice every = slice(ready("10.0.0.1"))
                .addToPorts(new EndpointPortBuilder().withName("").build())
                .build();
        assertThat(read(8000, NOT_ASKED, every)).containsExactly("10.0.0.1:8000");
    }

    @Test
    void amongSeveralPortsThatOfThePodsIsTaken() {
        EndpointSlice two = slice(ready("10.0.0.1"))
                .addNewPort(null, "metrics", 9090, "TCP")
                .addNewPort(null, "http", 8000, "TCP")
                .build();
        assertThat(read(8000, NOT_ASKED, two)).containsExactly("10.0.0.1:8000");
    }

    @Test
    void orTheOneThatTheServiceNames() {
        Service service = new ServiceBuilder()
                .withNewSpec()
                .addNewPort()
                .withName("metrics")
                .withPort(90)
                .endPort()
                .addNewPort()
                .withName("http")
                .withPort(80)
                .endPort()
                .endSpec()
                .build();
        EndpointSlice old = slice(ready("10.0.0.1"))
                .addNewPort(null, "metrics", 9090, "TCP")
                .addNewPort(null, "http", 8000, "TCP")
                .build();
        EndpointSlice renewed = slice(ready("10.0.0.2"))
                .addNewPort(null, "http", 8100, "TCP")
                .addNewPort(null, "metrics", 9090, "TCP")
                .build();
        assertThat(read(80, () -> service, old, renewed)).containsExactly("10.0.0.1:8000", "10.0.0.2:8100");
        assertThatThrownBy(() -> read(81, () -> service, old))
                .hasMessage(
                        "no port 81 (expected: one of the service's ports or of its pods': metrics 9090, http 8000)");
    }

    @Test
    void aSliceWithoutPodsNeedsNoPort() {
        EndpointSlice two = slice(endpoint("10.0.0.1", false, false, false))
                .addNewPort(null, "metrics", 9090, "TCP")
                .addNewPort(null, "http", 8000, "TCP")
                .build();
        assertThat(read(81, NOT_ASKED, two)).isEmpty();
    }
}
