package routes.replica;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import routes.replica.Replica.Fitness;
import routes.replica.ReplicaGroup.Member;
import routes.replica.ReplicaGroup.Mode;

class ReplicasTest {

    private final List<Replica> freed = new ArrayList<>();
    private final List<String> events = new ArrayList<>();
    private final Replicas replicas = new Replicas(freed::add);

    private static Member member(String address) {
        try {
            return new Member(new InetSocketAddress(
                    InetAddress.getByAddress(NetUtil.createByteArrayFromIpAddressString(address)), 8000));
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Member leaving(String address) {
        return new Member(member(address).address(), true);
    }

    private ReplicaGroup group(String address, Mode mode) {
        return replicas.group(ReplicaAddress.parse(address), ReplicaOptions.slots(4), mode);
    }

    private static List<String> names(ReplicaGroup group) {
        return group.replicas().stream().map(Replica::toString).toList();
    }

    private void recordEvents() {
        replicas.listen(new Replicas.Listener() {
            @Override
            public void added(Replica replica) {
                events.add("+" + replica);
            }

            @Override
            public void removed(Replica replica) {
                events.add("-" + replica);
            }

            @Override
            public void changed(ReplicaGroup group) {
                events.add("~" + group);
            }
        });
    }

    // ---- addresses

    @ParameterizedTest
    @CsvSource({
        "http://gpu-1:8000, http://gpu-1:8000, gpu-1:8000",
        "http://gpu-1, http://gpu-1:80, gpu-1",
        "https://api.example.com, https://api.example.com:443, api.example.com",
        "https://api.example.com/openai/, https://api.example.com:443/openai, api.example.com",
        "https://api.example.com:8443, https://api.example.com:8443, api.example.com:8443",
        "http://[::1]:8000, http://[::1]:8000, [::1]:8000",
        "http://gpu_1:8000, http://gpu_1:8000, gpu_1:8000",
        "http://gpu-1.:8000, http://gpu-1.:8000, gpu-1:8000",
        "GPU-1:8000, http://gpu-1:8000, gpu-1:8000"
    })
    void anAddressHasOneSpelling(String text, String identity, String authority) {
        ReplicaAddress address = ReplicaAddress.parse(text);
        assertThat(address).hasToString(identity);
        assertThat(address.authority()).isEqualTo(authority);
    }

    @Test
    void aClusterAddressNamesAService() {
        ReplicaAddress address = ReplicaAddress.parse("k8s://models/vllm-llama:8000");
        assertThat(address.isDirect()).isFalse();
        assertThat(address.host()).isEqualTo("vllm-llama.models");
        assertThat(address.port()).isEqualTo(8000);
        assertThat(address.at(member("10.0.0.1").address())).hasToString("http://10.0.0.1:8000");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ftp://gpu-1",
                "http://user@gpu-1",
                "http://gpu-1:0",
                "http://gpu-1?x=1",
                "k8s://models/vllm",
                "k8s://models/a/b:1",
                "k8s://models/vllm:http"
            })
    void anAddressThatMakesNoSenseIsRefusedByName(String text) {
        assertThatThrownBy(() -> ReplicaAddress.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(text)
                .hasMessageContaining("expected");
    }

    // ---- identity

    @Test
    void whoNamesTheSameServerSharesIt() {
        Replica one = replicas.replica(ReplicaAddress.parse("http://127.0.0.1:8000"), 4);
        assertThat(replicas.replica(ReplicaAddress.parse("http://127.0.0.1:8000/"), 4))
                .isSameAs(one);
        assertThatThrownBy(() -> replicas.replica(ReplicaAddress.parse("http://127.0.0.1:8000"), 5))
                .hasMessageContaining("slots")
                .hasMessageContaining("4");
    }

    @Test
    void aNameIsDownUntilItIsFound() {
        ReplicaGroup group = group("http://gpu-1:8000", Mode.ONE);
        Replica replica = group.replicas().get(0);
        assertThat(replica.fitness()).isEqualTo(Fitness.NONE);
        group.members(List.of(member("10.0.0.2"), member("10.0.0.1")));
        assertThat(replica.fitness()).isEqualTo(Fitness.FIT);
        assertThat(replica.socketAddress()).isEqualTo(member("10.0.0.2").address());
        assertThat(replica).hasToString("http://gpu-1:8000");
    }

    @Test
    void aNameKeepsItsAddressAsLongAsItLeadsThere() {
        ReplicaGroup group = group("http://gpu-1:8000", Mode.ONE);
        Replica replica = group.replicas().get(0);
        group.members(List.of(member("10.0.0.2")));
        group.members(List.of(member("10.0.0.1"), member("10.0.0.2")));
        assertThat(replica.socketAddress()).isEqualTo(member("10.0.0.2").address());
        group.members(List.of(member("10.0.0.1")));
        assertThat(replica.socketAddress()).isEqualTo(member("10.0.0.1").address());
    }

    @Test
    void everyAddressOfANameMayBeAReplica() {
        recordEvents();
        ReplicaGroup group = group("https://gpus:8000/base", Mode.ALL);
        assertThat(group.replicas()).isEmpty();
        group.members(List.of(member("10.0.0.1"), member("10.0.0.2"), member("10.0.0.1")));
        assertThat(names(group)).containsExactly("https://10.0.0.1:8000/base", "https://10.0.0.2:8000/base");
        assertThat(group.replicas().get(0).configured().host()).isEqualTo("gpus");
        group.members(List.of(member("10.0.0.2"), member("10.0.0.3")));
        assertThat(names(group)).containsExactly("https://10.0.0.2:8000/base", "https://10.0.0.3:8000/base");
        assertThat(events)
                .containsExactly(
                        "+https://10.0.0.1:8000/base",
                        "+https://10.0.0.2:8000/base",
                        "~https://gpus:8000/base",
                        "+https://10.0.0.3:8000/base",
                        "~https://gpus:8000/base",
                        "-https://10.0.0.1:8000/base");
    }

    @Test
    void whatDidNotChangeIsNotAnEvent() {
        ReplicaGroup group = group("http://gpus:8000", Mode.ALL);
        group.members(List.of(member("10.0.0.1")));
        List<Replica> before = group.replicas();
        recordEvents();
        events.clear();
        group.members(List.of(member("10.0.0.1")));
        assertThat(events).isEmpty();
        assertThat(group.replicas()).isSameAs(before);
    }

    @Test
    void oneThatIsAboutToStopGetsNothingNew() {
        ReplicaGroup group = group("http://gpus:8000", Mode.ALL);
        group.members(List.of(member("10.0.0.1"), leaving("10.0.0.2")));
        assertThat(group.replicas().get(0).fitness()).isEqualTo(Fitness.FIT);
        assertThat(group.replicas().get(1).fitness()).isEqualTo(Fitness.NONE);
        group.members(List.of(member("10.0.0.1"), member("10.0.0.2")));
        assertThat(group.replicas().get(1).fitness()).isEqualTo(Fitness.FIT);
    }

    @Test
    void oneThatComesBackWhileItsRequestsRunStillHasThem() {
        ReplicaGroup group = group("http://gpus:8000", Mode.ALL);
        group.members(List.of(member("10.0.0.1"), member("10.0.0.2")));
        Replica busy = group.replicas().get(0);
        Replica quiet = group.replicas().get(1);
        assertThat(busy.tryAcquire(1)).isTrue();
        group.members(List.of());
        assertThat(replicas.all()).isEmpty();
        group.members(List.of(member("10.0.0.1"), member("10.0.0.2")));
        assertThat(group.replicas().get(0)).isSameAs(busy);
        assertThat(group.replicas().get(1)).isNotSameAs(quiet);
    }

    @Test
    void whoListensLateHearsOfAll() {
        group("http://127.0.0.1:8000", Mode.ONE);
        recordEvents();
        assertThat(events).containsExactly("+http://127.0.0.1:8000");
    }

    // ---- whether it may be chosen, and how much room there is

    @Test
    void onlyProbesAreFinal() {
        Replica replica = replicas.replica(ReplicaAddress.parse("http://127.0.0.1:8000"), 4);
        replica.suspect(true);
        assertThat(replica.fitness()).isEqualTo(Fitness.LAST_CHOICE);
        replica.up(false);
        assertThat(replica.fitness()).isEqualTo(Fitness.NONE);
        replica.up(true);
        replica.suspect(false);
        assertThat(replica.fitness()).isEqualTo(Fitness.FIT);
    }

    @Test
    void aRestIsOverByItself() {
        Replica replica = replicas.replica(ReplicaAddress.parse("http://127.0.0.1:8000"), 4);
        replica.rest(System.nanoTime() + TimeUnit.HOURS.toNanos(1));
        assertThat(replica.fitness()).isEqualTo(Fitness.LAST_CHOICE);
        replica.rested();
        assertThat(replica.fitness()).as("still resting").isEqualTo(Fitness.LAST_CHOICE);
        replica.rest(System.nanoTime() - 1);
        assertThat(replica.fitness()).isEqualTo(Fitness.FIT);
    }

    @Test
    void othersRequestsTakeRoom() {
        Replica replica = replicas.replica(ReplicaAddress.parse("http://127.0.0.1:8000"), 4);
        replica.foreign(3, 0);
        assertThat(replica.tryAcquire(1)).isTrue();
        assertThat(replica.hasFree(1)).isFalse();
        assertThat(replica.tryAcquire(1)).isFalse();
        replica.foreign(0, 0);
        assertThat(replica.tryAcquire(3)).isTrue();
    }

    @Test
    void aReplicaThatHasJustComeBackGetsFewer() {
        Replica replica = replicas.replica(ReplicaAddress.parse("http://127.0.0.1:8000"), 4);
        replica.limit(1);
        assertThat(replica.tryAcquire(1)).isTrue();
        assertThat(replica.tryAcquire(1)).isFalse();
        replica.limit(0);
        replica.release(1);
        assertThat(replica.tryAcquire(1)).as("never less than one").isTrue();
        replica.limit(9);
        assertThat(replica.tryAcquire(4)).as("never more than there are").isFalse();
        assertThat(replica.tryAcquire(3)).isTrue();
    }

    @Test
    void thePeakIsTheMostAtOnce() {
        Replica replica = replicas.replica(ReplicaAddress.parse("http://127.0.0.1:8000"), 4);
        replica.tryAcquire(3);
        replica.release(3);
        replica.beginPeak();
        assertThat(replica.peak()).isZero();
        replica.tryAcquire(2);
        replica.release(2);
        assertThat(replica.peak()).isEqualTo(2);
    }

    @Test
    void whoWaitsHearsOfEveryChange() {
        Replica replica = replicas.replica(ReplicaAddress.parse("http://127.0.0.1:8000"), 4);
        replica.up(false);
        assertThat(freed).as("nobody waits").isEmpty();
        replica.wanted(1);
        replica.up(true);
        replica.foreign(1, 0);
        replica.limit(2);
        replica.suspect(true);
        assertThat(freed).hasSize(4).containsOnly(replica);
    }
}
