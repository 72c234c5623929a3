package routes.affinity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class PrefixTableTest {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final Duration HALF_LIFE = Duration.ofSeconds(300);
    private static final long START = Long.MAX_VALUE - 100 * SECOND;

    private final PrefixTable table = table(1024, 1);
    private long now = START;

    private static PrefixTable table(int prefixes, int gateways) {
        return new PrefixTable(new Tuning.Homes(Duration.ofSeconds(5), HALF_LIFE, prefixes, gateways), START);
    }

    private double count(long hash) {
        return table.count(table.find(hash), now);
    }

    private int homes(long hash) {
        long entry = table.find(hash);
        return PrefixTable.homes(entry, table.count(entry, now) * table.usesPerCount(now));
    }

    @Test
    void aPrefixThatWasNeverUsedIsUnknown() {
        assertThat(table.find(42)).isEqualTo(PrefixTable.NONE);
        assertThat(count(42)).isZero();
        assertThat(homes(42)).isOne();
    }

    @Test
    void everyUseCounts() {
        for (int i = 0; i < 1000; i++) {
            table.used(42, now);
        }
        assertThat(count(42)).isEqualTo(1000);
        assertThat(count(43)).isZero();
    }

    @Test
    void aUseCountsHalfAfterEachHalfLife() {
        table.used(42, now);
        now += HALF_LIFE.toNanos();
        assertThat(count(42)).isCloseTo(0.5, within(0.001));
        table.used(42, now);
        now += 2 * HALF_LIFE.toNanos();
        assertThat(count(42)).isCloseTo(1.5 / 4, within(0.001));
    }

    @Test
    void aClockReadALittleEarlierElsewhereTakesNothingAway() {
        now += 10 * SECOND;
        table.used(42, now);
        now -= SECOND;
        assertThat(count(42)).isEqualTo(1);
        table.used(42, now);
        assertThat(count(42)).isEqualTo(2);
        now = START - SECOND;
        assertThat(table.usesPerCount(now)).isPositive();
    }

    @Test
    void aPrefixOfHashZeroIsOneLikeAnyOther() {
        assertThat(table.find(0)).isEqualTo(PrefixTable.NONE);
        table.used(0, now);
        assertThat(count(0)).isEqualTo(1);
    }

    @Test
    void homesGrowWithUseAndShrinkWithoutIt() {
        now += 10 * HALF_LIFE.toNanos();
        // four a second are twenty within five seconds
        for (int i = 0; i < 4 * 1500; i++) {
            now += SECOND / 4;
            table.used(42, now);
        }
        assertThat(homes(42)).isEqualTo(16);
        now += HALF_LIFE.toNanos();
        assertThat(homes(42)).as("ten uses are not below 0.6 * 16").isEqualTo(16);
        now += HALF_LIFE.toNanos() / 5;
        assertThat(homes(42)).isEqualTo(8);
        now += 10 * HALF_LIFE.toNanos();
        assertThat(homes(42)).isOne();
    }

    @Test
    void gatewaysThatShareTheTrafficCountForEachOther() {
        PrefixTable ofFour = table(1024, 4);
        assertThat(ofFour.usesPerCount(now)).isCloseTo(4 * table.usesPerCount(now), within(1e-9));
    }

    @Test
    void aGatewayThatHasJustStartedCountsEachUseForMore() {
        double steady = table.usesPerCount(START + 20 * HALF_LIFE.toNanos());
        assertThat(steady).isCloseTo(Math.log(2) / 300 * 5, within(1e-6));
        assertThat(table.usesPerCount(START + HALF_LIFE.toNanos())).isCloseTo(2 * steady, within(1e-6));
        assertThat(table.usesPerCount(START)).as("no infinity at the start").isLessThan(16 * steady);
    }

    @Property(tries = 200)
    void homesStayBetweenTheThresholds(
            @ForAll @IntRange(max = 6) int logBefore, @ForAll @DoubleRange(max = 200) double uses) {
        int before = 1 << logBefore;
        int after = PrefixTable.homes(logBefore, uses);
        assertThat(Integer.bitCount(after)).isOne();
        assertThat(after).isBetween(1, 64);
        if (uses >= 0.6 * before && uses < 2 * before) {
            assertThat(after).isEqualTo(before);
        }
        if (after < 64) {
            assertThat(uses).isLessThan(2 * after);
        }
        if (after > 1) {
            assertThat(uses).isGreaterThanOrEqualTo(0.6 * after);
        }
    }

    @Test
    void itHoldsNoMorePrefixesThanItMay() {
        for (long hash = 1; hash <= 10_000; hash++) {
            now += SECOND;
            table.used(hash, now);
        }
        int known = 0;
        for (long hash = 1; hash <= 10_000; hash++) {
            known += table.find(hash) == PrefixTable.NONE ? 0 : 1;
        }
        assertThat(known).isLessThanOrEqualTo(1024).isGreaterThan(1000);
        assertThat(table.capacity()).isEqualTo(1024);
    }

    @Test
    void whatWasUsedLongestAgoIsForgottenFirst() {
        for (long hash = 1; hash <= 5000; hash++) {
            now += SECOND;
            table.used(hash, now);
            table.used(Long.MAX_VALUE, now);
        }
        assertThat(count(Long.MAX_VALUE)).as("used all the time").isGreaterThan(100);
        int recent = 0;
        int old = 0;
        for (long hash = 1; hash <= 500; hash++) {
            old += table.find(hash) == PrefixTable.NONE ? 0 : 1;
            recent += table.find(5001 - hash) == PrefixTable.NONE ? 0 : 1;
        }
        assertThat(old).isZero();
        assertThat(recent).as("of 500, in rows that fill unevenly").isGreaterThan(450);
    }

    @Test
    void readersNeverSeeOnePrefixsCountUnderAnother() throws InterruptedException {
        PrefixTable small = table(64, 1);
        Thread writer = new Thread(() -> {
            for (int i = 0; i < 200_000; i++) {
                // odd hashes crowd each other out, 2 is used three times for each of them
                small.used(2 * (i % 997) + 3L, START);
                small.used(2, START);
                small.used(2, START);
                small.used(2, START);
            }
        });
        writer.start();
        double most = 0;
        while (writer.isAlive()) {
            for (long hash = 3; hash < 2000; hash += 2) {
                most = Math.max(most, small.count(small.find(hash), START));
            }
        }
        writer.join();
        assertThat(most).as("an odd one is used 201 times").isLessThan(202);
        assertThat(small.count(small.find(2), START)).isGreaterThan(1000);
    }
}
