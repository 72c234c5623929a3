package routes.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import routes.model.ResponseMemory.Known;
import routes.replica.Replica;
import routes.replica.ReplicaAddress;
import routes.replica.Replicas;

class ResponseMemoryTest {

    private static final Replica REPLICA = new Replicas().replica(ReplicaAddress.parse("http://127.0.0.1:9001"), 8);
    private static final Known ONE = new Known("m1", REPLICA, "one");

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
    private final ResponseMemory memory = new ResponseMemory(3, 10, now::get);

    @Test
    void knowsWhatItWasTold() {
        memory.remember("a", ONE, false);
        assertThat(memory.find("a")).isEqualTo(ONE);
        assertThat(memory.find("b")).isNull();
    }

    @Test
    void forgetsTheOldestBeyondItsSize() {
        for (String id : new String[] {"a", "b", "c", "d"}) {
            memory.remember(id, ONE, false);
        }
        assertThat(memory.find("a")).isNull();
        assertThat(memory.find("b")).isNotNull();
        assertThat(memory.size()).isEqualTo(3);
    }

    @Test
    void forgetsWhatIsTooOld() {
        memory.remember("a", ONE, false);
        now.addAndGet(10);
        assertThat(memory.find("a")).isNotNull();
        now.incrementAndGet();
        assertThat(memory.find("a")).isNull();
        memory.remember("b", ONE, false);
        assertThat(memory.size()).isEqualTo(1);
    }

    @Test
    void anIdStaysItsFirstOwners() {
        memory.remember("a", ONE, false);
        memory.remember("a", new Known("m2", REPLICA, "two"), false);
        assertThat(memory.find("a")).isEqualTo(ONE);
    }

    @Test
    void usageIsToldOnce() {
        memory.remember("a", ONE, true);
        assertThat(memory.takeUsage("a")).isTrue();
        assertThat(memory.takeUsage("a")).isFalse();
        memory.owesUsage("a");
        assertThat(memory.takeUsage("a")).isTrue();
        memory.remember("b", ONE, false);
        assertThat(memory.takeUsage("b")).isFalse();
        assertThat(memory.takeUsage("unknown")).isFalse();
    }
}
