package routes.affinity;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import routes.queue.Queue;
import routes.replica.Replica;
import routes.replica.ReplicaAddress;
import routes.replica.Replicas;

class RendezvousTest {

    private static final int SLOTS = 2;
    private Replica[] pool = pool(3);

    private static Replica[] pool(int size) {
        Replicas registry = new Replicas();
        Replica[] pool = new Replica[size];
        for (int i = 0; i < size; i++) {
            pool[i] = registry.replica(ReplicaAddress.parse("http://127.0.0.1:" + (8000 + i)), SLOTS);
        }
        return pool;
    }

    @BeforeEach
    void fresh() {
        pool = pool(3);
    }

    private int choose(long key) {
        return Rendezvous.choose(key, pool, 0, 1);
    }

    @Test
    void aKeyHasOneHome() {
        int home = choose(42);
        assertThat(choose(42)).isEqualTo(home);
        assertThat(Rendezvous.home(42, pool)).isEqualTo(home);
    }

    @Test
    void aFullHomeIsLeftAndReturnedTo() {
        int home = choose(42);
        pool[home].tryAcquire(SLOTS);
        assertThat(choose(42)).isNotEqualTo(home).isNotNegative();
        pool[home].release(SLOTS);
        assertThat(choose(42)).isEqualTo(home);
    }

    @Test
    void whenAllAreFullItWaits() {
        for (Replica each : pool) {
            each.tryAcquire(SLOTS);
        }
        assertThat(choose(42)).isEqualTo(Queue.WAIT);
    }

    @Test
    void whenNobodyIsUpThereIsNobody() {
        for (Replica each : pool) {
            each.up(false);
        }
        assertThat(choose(42)).isEqualTo(Queue.NOBODY);
    }

    @Test
    void oneThatIsDownOrTriedIsNoChoice() {
        int home = choose(42);
        pool[home].up(false);
        int next = choose(42);
        assertThat(next).isNotEqualTo(home);
        assertThat(Rendezvous.choose(42, pool, 1L << next, 1))
                .isNotEqualTo(home)
                .isNotEqualTo(next)
                .isNotNegative();
    }

    @Test
    void oneThatFailedLatelyIsTheLastChoice() {
        int home = choose(42);
        pool[home].suspect(true);
        int next = choose(42);
        assertThat(next).isNotEqualTo(home);
        for (int i = 0; i < pool.length; i++) {
            pool[i].suspect(true);
        }
        assertThat(choose(42)).as("all failed: as if none had").isEqualTo(home);
    }

    @Test
    void whoIsFitIsWaitedForRatherThanLeftForOneThatFailed() {
        pool[0].suspect(true);
        pool[1].tryAcquire(SLOTS);
        pool[2].tryAcquire(SLOTS);
        assertThat(choose(42)).isEqualTo(Queue.WAIT);
        pool[1].up(false);
        pool[2].up(false);
        assertThat(choose(42)).isZero();
    }

    @Property(tries = 50)
    void oneThatLeavesMovesItsOwnKeysOnly(@ForAll @IntRange(min = 2, max = 12) int size, @ForAll long seed) {
        Replica[] all = pool(size);
        int gone = Math.floorMod(seed, size);
        for (long key = seed; key < seed + 200; key++) {
            long spread = key * 0x9e3779b97f4a7c15L;
            int before = Rendezvous.choose(spread, all, 0, 1);
            int after = Rendezvous.choose(spread, all, 1L << gone, 1);
            assertThat(after).isNotEqualTo(gone);
            if (before != gone) {
                assertThat(after).isEqualTo(before);
            }
        }
    }
}
