package routes.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import routes.fixture.FakeCluster;
import routes.net.EventLoops;
import routes.replica.Replica;
import routes.replica.ReplicaAddress;
import routes.replica.ReplicaGroup;
import routes.replica.ReplicaOptions;
import routes.replica.Replicas;

/** Services of a cluster that are followed: pods come, go, and stop in peace. */
class KubernetesWatchTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final String SERVICE = "k8s://ml/vllm:8000";

    private final Replicas replicas = new Replicas();
    private FakeCluster cluster;
    private EventLoops loops;
    private KubernetesWatch watch;

    @BeforeEach
    void start() {
        cluster = FakeCluster.start();
        loops = new EventLoops(1, false);
        watch = new KubernetesWatch(loops);
        replicas.listen(watch);
    }

    @AfterEach
    void stop() {
        watch.close();
        loops.close();
        cluster.close();
    }

    private ReplicaGroup follow(String address) throws InterruptedException {
        ReplicaGroup group =
                replicas.group(ReplicaAddress.parse(address), ReplicaOptions.slots(4), ReplicaGroup.Mode.ALL);
        assertThat(group.await(PATIENCE)).isTrue();
        return group;
    }

    private static List<String> names(ReplicaGroup group) {
        return group.replicas().stream().map(Replica::toString).toList();
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline).as("time left").isNegative();
            Thread.yield();
        }
    }

    private static void awaitNames(ReplicaGroup group, String... names) {
        await(() -> names(group).equals(List.of(names)));
    }

    @Test
    void podsThatAreReadyAreReplicas() throws Exception {
        cluster.slice("ml", "vllm", "vllm-a", 8000, FakeCluster.ready("10.0.0.2"), FakeCluster.unready("10.0.0.3"))
                .slice("ml", "vllm", "vllm-b", 8000, FakeCluster.ready("10.0.0.1"))
                .slice("ml", "other", "other-a", 8000, FakeCluster.ready("10.0.1.1"))
                .slice("else", "vllm", "vllm-c", 8000, FakeCluster.ready("10.0.2.1"));
        ReplicaGroup group = follow(SERVICE);
        assertThat(names(group)).containsExactly("http://10.0.0.1:8000", "http://10.0.0.2:8000");
        assertThat(group.replicas()).allMatch(Replica::isUp);
    }

    @Test
    void podsComeAndGo() throws Exception {
        cluster.slice("ml", "vllm", "vllm-a", 8000, FakeCluster.ready("10.0.0.1"));
        ReplicaGroup group = follow(SERVICE);
        Replica first = group.replicas().get(0);
        cluster.slice("ml", "vllm", "vllm-a", 8000, FakeCluster.ready("10.0.0.1"), FakeCluster.ready("10.0.0.2"));
        awaitNames(group, "http://10.0.0.1:8000", "http://10.0.0.2:8000");
        assertThat(group.replicas().get(0)).isSameAs(first);
        cluster.slice("ml", "vllm", "vllm-a", 8000, FakeCluster.unready("10.0.0.1"), FakeCluster.ready("10.0.0.2"));
        awaitNames(group, "http://10.0.0.2:8000");
        cluster.slice("ml", "vllm", "vllm-b", 8000, FakeCluster.ready("10.0.0.3"));
        awaitNames(group, "http://10.0.0.2:8000", "http://10.0.0.3:8000");
        cluster.withoutSlice("ml", "vllm-a");
        awaitNames(group, "http://10.0.0.3:8000");
        cluster.withoutSlice("ml", "vllm-b");
        awaitNames(group);
    }

    @Test
    void aPodThatStopsTakesNoNewRequests() throws Exception {
        cluster.slice("ml", "vllm", "vllm-a", 8000, FakeCluster.ready("10.0.0.1"), FakeCluster.ready("10.0.0.2"));
        ReplicaGroup group = follow(SERVICE);
        Replica stopping = group.replicas().get(0);
        cluster.slice("ml", "vllm", "vllm-a", 8000, FakeCluster.terminating("10.0.0.1"), FakeCluster.ready("10.0.0.2"));
        await(() -> !stopping.isUp());
        assertThat(group.replicas()).contains(stopping).hasSize(2);
        assertThat(group.replicas().get(1).isUp()).isTrue();
    }

    @Test
    void aServiceWithoutPodsIsKnownToHaveNone() throws Exception {
        ReplicaGroup group = follow("k8s://ml/empty:8000");
        assertThat(group.replicas()).isEmpty();
        cluster.slice("ml", "empty", "empty-a", 8000, FakeCluster.ready("10.0.0.1"));
        awaitNames(group, "http://10.0.0.1:8000");
    }

    @Test
    void aClusterThatDoesNotAnswerChangesNothing() throws Exception {
        cluster.slice("ml", "vllm", "vllm-a", 8000, FakeCluster.ready("10.0.0.1"));
        ReplicaGroup group = follow(SERVICE);
        cluster.goDown();
        assertThat(names(group)).containsExactly("http://10.0.0.1:8000");
        assertThat(group.replicas()).allMatch(Replica::isUp);
        cluster.comeBack();
        cluster.awaitWatch();
        assertThat(names(group)).containsExactly("http://10.0.0.1:8000");
        cluster.slice("ml", "vllm", "vllm-b", 8000, FakeCluster.ready("10.0.0.2"));
        awaitNames(group, "http://10.0.0.1:8000", "http://10.0.0.2:8000");
    }

    @Test
    void aClusterThatDoesNotAnswerAtFirstIsAskedAgain() throws Exception {
        cluster.goDown();
        ReplicaGroup group =
                replicas.group(ReplicaAddress.parse(SERVICE), ReplicaOptions.slots(4), ReplicaGroup.Mode.ALL);
        assertThat(group.await(Duration.ofMillis(200))).isFalse();
        assertThat(group.replicas()).isEmpty();
        cluster.comeBack();
        cluster.slice("ml", "vllm", "vllm-a", 8000, FakeCluster.ready("10.0.0.1"));
        awaitNames(group, "http://10.0.0.1:8000");
    }

    @Test
    void aServiceIsNotOneReplica() {
        ReplicaAddress address = ReplicaAddress.parse(SERVICE);
        ReplicaOptions options = ReplicaOptions.slots(4);
        assertThatThrownBy(() -> replicas.group(address, options, ReplicaGroup.Mode.ONE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected: resolve=all");
    }

    @Test
    void withoutTheClientTheStartSaysWhatIsMissing() throws Exception {
        List<URL> path = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            if (!entry.contains("fabric8")) {
                path.add(Path.of(entry).toUri().toURL());
            }
        }
        try (URLClassLoader bare = new URLClassLoader(path.toArray(new URL[0]), ClassLoader.getPlatformClassLoader())) {
            Class<?> program = bare.loadClass(WithoutClient.class.getName());
            assertThatThrownBy(() -> program.getMethod("run").invoke(null))
                    .isInstanceOf(InvocationTargetException.class)
                    .cause()
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("k8s://vllm.ml:8000")
                    .hasMessageContaining("expected: one built with -Pkubernetes");
        }
    }

    /** What the last test runs in a class loader that has no client. */
    public static final class WithoutClient {

        private WithoutClient() {}

        public static void run() {
            Replicas registry = new Replicas();
            try (EventLoops ownLoops = new EventLoops(1, false);
                    KubernetesWatch bare = new KubernetesWatch(ownLoops)) {
                registry.listen(bare);
                // these need none
                registry.replica(ReplicaAddress.parse("http://10.0.0.1:8000"), 4);
                registry.replica(ReplicaAddress.parse("http://gpu.test:8000"), 4);
                registry.group(ReplicaAddress.parse(SERVICE), ReplicaOptions.slots(4), ReplicaGroup.Mode.ALL);
            }
        }
    }
}
