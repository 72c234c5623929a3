package routes.health;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class SlowStartTest {

    @Test
    void aTenthIsThereAtOnceAndAllAtTheEnd() {
        assertThat(SlowStart.slots(256, 0, 1000)).isEqualTo(25);
        assertThat(SlowStart.slots(256, 500, 1000)).isEqualTo(25 + 115);
        assertThat(SlowStart.slots(256, 1000, 1000)).isEqualTo(256);
    }

    @Test
    void thereIsAlwaysOne() {
        assertThat(SlowStart.slots(1, 0, 1000)).isEqualTo(1);
        assertThat(SlowStart.slots(4, 0, 1000)).isEqualTo(1);
    }

    @Test
    void noTimeMeansAllAtOnce() {
        assertThat(SlowStart.slots(256, 0, 0)).isEqualTo(256);
    }

    @Property
    void slotsOnlyGrow(
            @ForAll @IntRange(min = 1, max = 100_000) int all,
            @ForAll @LongRange(min = 0, max = 10_000) long earlier,
            @ForAll @LongRange(min = 0, max = 10_000) long more) {
        int before = SlowStart.slots(all, earlier, 9_000);
        assertThat(SlowStart.slots(all, earlier + more, 9_000)).isBetween(before, all);
    }
}
