package routes.affinity;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import routes.replica.Replica;
import routes.replica.ReplicaAddress;
import routes.replica.Replicas;
import routes.request.PrefixLevels;

class FirstFreeTest {

    private static final int SLOTS = 2;
    private static final long ALL = -1;

    private final Choice choice = new Choice();
    private final Replica[] pool = pool(3);
    private Strategy rule = new FirstFree(FirstFree.Order.RENDEZVOUS);
    private long now;

    private static Replica[] pool(int size) {
        Replicas registry = new Replicas();
        Replica[] pool = new Replica[size];
        for (int i = 0; i < size; i++) {
            pool[i] = registry.replica(ReplicaAddress.parse("http://127.0.0.1:" + (8000 + i)), SLOTS);
        }
        return pool;
    }

    private static PrefixLevels key(long key) {
        return PrefixLevels.of(1, new int[] {100}, new long[] {key}, 120, 0);
    }

    private int choose(PrefixLevels levels) {
        return rule.choose(levels, pool, ALL, 1, now++, choice);
    }

    private void fill(int index) {
        assertThat(pool[index].tryAcquire(SLOTS)).isTrue();
    }

    @Test
    void aKeyHasOneHome() {
        int home = choose(key(42));
        assertThat(choose(key(42))).isEqualTo(home);
        assertThat(choice.why()).isEqualTo(Choice.Why.HOME);
        assertThat(choice.home()).isEqualTo(home);
    }

    @Test
    void aFullHomeIsLeftAndReturnedTo() {
        int home = choose(key(42));
        fill(home);
        assertThat(choose(key(42))).isNotEqualTo(home).isNotNegative();
        assertThat(choice.why()).isEqualTo(Choice.Why.SPILL_FULL);
        assertThat(choice.home()).isEqualTo(home);
        pool[home].release(SLOTS);
        assertThat(choose(key(42))).isEqualTo(home);
    }

    @Test
    void whenAllAreFullItNamesTheHomeAndHowLongItTakes() {
        int home = choose(key(42));
        for (int i = 0; i < pool.length; i++) {
            fill(i);
        }
        assertThat(choose(key(42))).isEqualTo(home);
        assertThat(choice.waitNanos()).isPositive();
    }

    @Test
    void onlyCandidatesAreChosen() {
        int home = choose(key(42));
        int next = rule.choose(key(42), pool, ~(1L << home), 1, now, choice);
        assertThat(next).isNotEqualTo(home).isNotNegative();
        assertThat(choice.why()).isEqualTo(Choice.Why.HOME_UNAVAILABLE);
        int last = rule.choose(key(42), pool, ~(1L << home | 1L << next), 1, now, choice);
        assertThat(last).isNotIn(home, next, Strategy.NOBODY);
        assertThat(choice.why()).isEqualTo(Choice.Why.ONLY_ONE);
        assertThat(rule.choose(key(42), pool, 0, 1, now, choice)).isEqualTo(Strategy.NOBODY);
        assertThat(rule.choose(key(42), new Replica[0], ALL, 1, now, choice)).isEqualTo(Strategy.NOBODY);
    }

    @Test
    void promptsWithoutAPrefixAreSpread() {
        int[] counts = new int[3];
        for (int i = 0; i < 3000; i++) {
            counts[choose(PrefixLevels.NONE)]++;
        }
        assertThat(Arrays.stream(counts).min().orElseThrow()).isGreaterThan(850);
        assertThat(choice.why()).isEqualTo(Choice.Why.NO_PREFIX);
    }

    @Test
    void roundRobinTakesOneAfterTheOtherAndLeavesOutWhoIsFull() {
        rule = new FirstFree(FirstFree.Order.ROUND_ROBIN);
        assertThat(sent(6)).containsExactly(0, 1, 2, 0, 1, 2);
        fill(1);
        assertThat(sent(3)).containsExactly(0, 2, 2);
        assertThat(choice.why()).isEqualTo(Choice.Why.BALANCED);
        assertThat(choose(key(1))).as("choosing alone changes nothing").isEqualTo(choose(key(1)));
    }

    private int[] sent(int count) {
        int[] sent = new int[count];
        Arrays.setAll(sent, i -> {
            int chosen = choose(key(7));
            rule.dispatched(key(7), pool[chosen], choice, now);
            choice.ended(now);
            return chosen;
        });
        return sent;
    }

    @Test
    void leastLoadedCountsTheRequestsOfOthersAndSpreadsTies() {
        rule = new FirstFree(FirstFree.Order.LEAST_LOADED);
        assertThat(pool[0].tryAcquire(1)).isTrue();
        pool[1].foreign(1, 0);
        assertThat(choose(key(1))).isEqualTo(2);
        assertThat(pool[2].tryAcquire(1)).isTrue();
        int[] counts = new int[3];
        for (int i = 0; i < 3000; i++) {
            counts[choose(key(1))]++;
        }
        assertThat(Arrays.stream(counts).min().orElseThrow()).isGreaterThan(850);
    }

    @Property(tries = 50)
    void oneThatLeavesMovesItsOwnKeysOnly(@ForAll @IntRange(min = 2, max = 12) int size, @ForAll long seed) {
        Replica[] all = pool(size);
        int gone = Math.floorMod(seed, size);
        Random keys = new Random(seed);
        for (int i = 0; i < 200; i++) {
            PrefixLevels key = key(keys.nextLong());
            int before = rule.choose(key, all, ALL, 1, now, choice);
            int after = rule.choose(key, all, ~(1L << gone), 1, now, choice);
            assertThat(after).isNotEqualTo(gone);
            if (before != gone) {
                assertThat(after).isEqualTo(before);
            }
        }
    }
}
