package routes.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import routes.config.Settings;
import routes.fixture.DnsServer;
import routes.net.EventLoops;
import routes.replica.Replica;
import routes.replica.ReplicaAddress;
import routes.replica.ReplicaGroup;
import routes.replica.ReplicaOptions;
import routes.replica.Replicas;

/** Names that are followed: where they lead, when they move, and what happens while nobody knows. */
class NameWatchTest {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Replicas replicas = new Replicas();
    private final Map<String, String> properties = new HashMap<>();
    private EventLoops loops;
    private DnsServer server;
    private NameWatch watch;

    @TempDir
    Path folder;

    @BeforeEach
    void start() throws Exception {
        server = DnsServer.start();
        loops = new EventLoops(1, false);
        properties.put("gateway.dns.servers", server.address());
        properties.put("gateway.dns.min-ttl", "20ms");
        Files.writeString(hosts(), "127.0.0.1 localhost\n");
    }

    @AfterEach
    void stop() {
        if (watch != null) {
            watch.close();
        }
        loops.close();
        server.close();
    }

    private Path hosts() {
        return folder.resolve("hosts");
    }

    private Settings settings() {
        return new Settings(key -> Optional.ofNullable(properties.get(key)));
    }

    private ReplicaGroup follow(String address, ReplicaGroup.Mode mode) {
        if (watch == null) {
            watch = new NameWatch(loops, settings(), new HostsFile(hosts()));
            replicas.listen(watch);
        }
        return replicas.group(ReplicaAddress.parse(address), ReplicaOptions.slots(4), mode);
    }

    private ReplicaGroup one(String address) {
        return follow(address, ReplicaGroup.Mode.ONE);
    }

    private ReplicaGroup all(String address) {
        return follow(address, ReplicaGroup.Mode.ALL);
    }

    private static String where(ReplicaGroup group) {
        InetSocketAddress address = group.replicas().get(0).socketAddress();
        return address == null ? "nowhere" : address.getAddress().getHostAddress() + ":" + address.getPort();
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

    private static void awaitMembers(ReplicaGroup group) throws InterruptedException {
        assertThat(group.await(PATIENCE)).isTrue();
    }

    @Test
    void aNameIsLookedUpAtOnceAndLeadsToItsPort() throws Exception {
        server.answers("gpu.test", 60, "10.0.0.1");
        ReplicaGroup group = one("http://gpu.test:8000");
        awaitMembers(group);
        assertThat(where(group)).isEqualTo("10.0.0.1:8000");
        assertThat(group.replicas().get(0).isUp()).isTrue();
    }

    @Test
    void aNameThatMovesIsFollowedOnceItsTimeToLiveHasPassed() throws Exception {
        server.answers("gpu.test", 1, "10.0.0.1");
        ReplicaGroup group = one("http://gpu.test:8000");
        awaitMembers(group);
        server.answers("gpu.test", 1, "10.0.0.2");
        await(() -> where(group).equals("10.0.0.2:8000"));
    }

    @Test
    void anAliasIsFollowedToo() throws Exception {
        server.aliases("gpu.test", "node-1.test", 0, "10.0.0.1").answers("node-1.test", 0, "10.0.0.1");
        ReplicaGroup group = one("http://gpu.test:8000");
        awaitMembers(group);
        assertThat(where(group)).isEqualTo("10.0.0.1:8000");
        server.aliases("gpu.test", "node-2.test", 0, "10.0.0.2").answers("node-2.test", 0, "10.0.0.2");
        await(() -> where(group).equals("10.0.0.2:8000"));
    }

    @Test
    void theNameServerIsNotAskedBeforeThat() throws Exception {
        server.answers("gpu.test", 60, "10.0.0.1").answers("other.test", 0, "10.0.0.9");
        awaitMembers(one("http://gpu.test:8000"));
        awaitMembers(one("http://gpu.test:8001"));
        one("http://other.test:8000");
        server.awaitMoreQueries(5);
        assertThat(server.queries())
                .filteredOn(query -> query.name().equals("gpu.test"))
                .hasSize(1);
    }

    @Test
    void aLongTimeToLiveEndsAtTheMaximum() throws Exception {
        properties.put("gateway.dns.max-ttl", "1s");
        server.answers("gpu.test", 3600, "10.0.0.1");
        ReplicaGroup group = one("http://gpu.test:8000");
        awaitMembers(group);
        server.answers("gpu.test", 3600, "10.0.0.2");
        await(() -> where(group).equals("10.0.0.2:8000"));
    }

    @Test
    void anAddressIsKeptWhileTheNameStillHasIt() throws Exception {
        server.answers("gpu.test", 0, "10.0.0.5");
        ReplicaGroup group = one("http://gpu.test:8000");
        awaitMembers(group);
        server.answers("gpu.test", 0, "10.0.0.1", "10.0.0.5");
        server.awaitMoreQueries(3);
        assertThat(where(group)).isEqualTo("10.0.0.5:8000");
    }

    @Test
    void eachAddressOfANameCanBeAReplica() throws Exception {
        server.answers("gpu.test", 0, "10.0.0.20", "10.0.0.3", "10.0.0.20");
        ReplicaGroup group = all("http://gpu.test:8000/base");
        awaitMembers(group);
        assertThat(names(group)).containsExactly("http://10.0.0.3:8000/base", "http://10.0.0.20:8000/base");
        Replica stays = group.replicas().get(0);

        server.answers("gpu.test", 0, "10.0.0.3", "10.0.0.4");
        await(() -> names(group).contains("http://10.0.0.4:8000/base"));
        assertThat(names(group)).containsExactly("http://10.0.0.3:8000/base", "http://10.0.0.4:8000/base");
        assertThat(group.replicas().get(0)).isSameAs(stays);
    }

    @ParameterizedTest
    @ValueSource(strings = {"fails", "silent", "forgets", "empties"})
    void aFailureKeepsTheLastAnswer(String how) throws Exception {
        server.answers("gpu.test", 0, "10.0.0.1", "10.0.0.2");
        ReplicaGroup group = all("http://gpu.test:8000");
        awaitMembers(group);
        switch (how) {
            case "fails" -> server.fails();
            case "silent" -> server.silent();
            case "forgets" -> server.forgets("gpu.test");
            default -> server.answers("gpu.test", 0);
        }
        server.awaitMoreQueries(2);
        assertThat(names(group)).containsExactly("http://10.0.0.1:8000", "http://10.0.0.2:8000");
        assertThat(group.replicas()).allMatch(Replica::isUp);

        server.well().answers("gpu.test", 0, "10.0.0.7");
        await(() -> names(group).equals(List.of("http://10.0.0.7:8000")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"fails", "silent", "forgets"})
    void aNameThatCannotBeFoundAtFirstIsFoundLater(String how) throws Exception {
        server.answers("gpu.test", 0, "10.0.0.1");
        switch (how) {
            case "fails" -> server.fails();
            case "silent" -> server.silent();
            default -> server.forgets("gpu.test");
        }
        ReplicaGroup group = one("http://gpu.test:8000");
        server.awaitMoreQueries(2);
        assertThat(group.replicas().get(0).isUp()).isFalse();
        assertThat(group.await(Duration.ZERO)).isFalse();

        server.well().answers("gpu.test", 0, "10.0.0.1");
        await(() -> group.replicas().get(0).isUp());
        assertThat(where(group)).isEqualTo("10.0.0.1:8000");
    }

    @Test
    void aServerWithAddressesOfBothFamiliesIsOneServer() throws Exception {
        server.answers("gpu.test", 60, "fd00::1", "10.0.0.1");
        ReplicaGroup group = all("http://gpu.test:8000");
        awaitMembers(group);
        assertThat(names(group)).containsExactly("http://10.0.0.1:8000");
    }

    @Test
    void ipv6IsUsedWhereThereIsNothingElse() throws Exception {
        server.answers("gpu.test", 60, "fd00::2", "fd00::1");
        ReplicaGroup group = all("http://gpu.test:8000");
        awaitMembers(group);
        assertThat(names(group)).containsExactly("http://[fd00::1]:8000", "http://[fd00::2]:8000");
        ReplicaGroup single = one("http://gpu.test:8000");
        awaitMembers(single);
        assertThat(where(single)).isEqualTo("fd00:0:0:0:0:0:0:1:8000");
    }

    @Test
    void aTrailingDotMeansTheNameAsItStands() throws Exception {
        server.answers("gpu.test", 60, "10.0.0.1");
        Files.writeString(hosts(), "10.0.0.2 box\n");
        ReplicaGroup group = one("http://gpu.test.:8000");
        ReplicaGroup local = one("http://box.:8000");
        awaitMembers(group);
        awaitMembers(local);
        assertThat(where(group)).isEqualTo("10.0.0.1:8000");
        assertThat(where(local)).isEqualTo("10.0.0.2:8000");
    }

    @Test
    void theHostsFileComesFirstAndIsReadAgainWhenItChanges() throws Exception {
        Files.writeString(hosts(), "10.0.0.1 Gpu gpu.test\nfd00::1 gpu\n10.0.0.2 gpu\n");
        ReplicaGroup group = all("http://gpu:8000");
        awaitMembers(group);
        assertThat(names(group)).containsExactly("http://10.0.0.1:8000", "http://10.0.0.2:8000");
        assertThat(server.queries()).isEmpty();

        Path next = Files.writeString(folder.resolve("next"), "10.0.0.3 gpu\n");
        Files.move(next, hosts(), java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        await(() -> names(group).equals(List.of("http://10.0.0.3:8000")));
    }

    @Test
    void localhostNeedsNoHostsFile() throws Exception {
        Files.delete(hosts());
        ReplicaGroup group = one("http://localhost:8000");
        awaitMembers(group);
        assertThat(where(group)).isEqualTo("127.0.0.1:8000");
    }

    @Test
    void literalAddressesAndServicesOfAClusterAreLeftAlone() throws Exception {
        server.answers("gpu.test", 60, "10.0.0.1");
        one("http://10.1.1.1:8000");
        one("http://[::1]:8000");
        ReplicaGroup cluster = all("k8s://ml/vllm:8000");
        awaitMembers(one("http://gpu.test:8000"));
        assertThat(server.queries()).extracting(DnsServer.Query::name).containsOnly("gpu.test");
        assertThat(cluster.await(Duration.ZERO)).isFalse();
    }

    @Test
    void whatCannotBeUsedIsAFailureAndNotTheEnd() throws Exception {
        replicas.replica(ReplicaAddress.parse("http://10.0.0.2:8000"), 99);
        server.answers("gpu.test", 0, "10.0.0.1");
        ReplicaGroup group = all("http://gpu.test:8000");
        awaitMembers(group);
        // another route says that this server has other slots
        server.answers("gpu.test", 0, "10.0.0.2");
        server.awaitMoreQueries(3);
        assertThat(names(group)).containsExactly("http://10.0.0.1:8000");
        server.answers("gpu.test", 0, "10.0.0.3");
        await(() -> names(group).equals(List.of("http://10.0.0.3:8000")));
    }

    @Test
    void afterCloseNothingIsLookedUp() throws Exception {
        server.answers("gpu.test", 0, "10.0.0.1");
        awaitMembers(one("http://gpu.test:8000"));
        server.awaitMoreQueries(1);
        BlockingQueue<Integer> counts = new LinkedBlockingQueue<>();
        loops.watch()
                .submit(() -> {
                    watch.close();
                    return counts.add(server.queries().size());
                })
                .sync();
        loops.watch().schedule(() -> counts.add(server.queries().size()), 100, TimeUnit.MILLISECONDS);
        int before = counts.take();
        // one may have been on its way
        assertThat(counts.take()).isLessThanOrEqualTo(before + 1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"dns.example", "10.0.0.2:0", "10.0.0.2:70000", "[10.0.0.2]:53", "::1:", "10.0.0.2:53:1", "[::1"})
    void nameServersAreAddresses(String wrong) {
        properties.put("gateway.dns.servers", "10.0.0.1, " + wrong);
        assertThatThrownBy(() -> new NameWatch(loops, settings()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("gateway.dns.servers")
                .hasMessageContaining(wrong)
                .hasMessageContaining("expected: addresses such as");
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.0.0.2", "10.0.0.2:5353", "::1", "[::1]", "[::1]:5353", "10.0.0.2, 10.0.0.3:54"})
    void nameServersMayHaveAPort(String right) {
        properties.put("gateway.dns.servers", right);
        watch = new NameWatch(loops, settings());
        assertThat(watch).isNotNull();
    }

    @Test
    void theShortestTimeIsNotLongerThanTheLongest() {
        properties.put("gateway.dns.min-ttl", "31s");
        assertThatThrownBy(() -> new NameWatch(loops, settings()))
                .hasMessageContaining("gateway.dns.min-ttl: '31s' (expected: at most gateway.dns.max-ttl");
    }
}
