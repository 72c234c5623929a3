package routes.health;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import routes.health.Verdict.Change;

class VerdictTest {

    private final Verdict verdict = new Verdict(3, 2);

    @Test
    void theFirstHitDecidesAtOnce() {
        assertThat(verdict.hit()).isEqualTo(Change.UP);
        assertThat(verdict.hit()).isEqualTo(Change.NONE);
    }

    @Test
    void theFirstMissDecidesAtOnceAndWhatFollowsIsNoReturn() {
        assertThat(verdict.miss()).isEqualTo(Change.DOWN);
        assertThat(verdict.hit()).isEqualTo(Change.NONE);
        assertThat(verdict.hit()).isEqualTo(Change.UP);
    }

    @Test
    void missesInARowTakeItOutAndHitsInARowBringItBack() {
        verdict.hit();
        assertThat(verdict.miss()).isEqualTo(Change.NONE);
        assertThat(verdict.miss()).isEqualTo(Change.NONE);
        assertThat(verdict.miss()).isEqualTo(Change.DOWN);
        assertThat(verdict.miss()).isEqualTo(Change.NONE);
        assertThat(verdict.hit()).isEqualTo(Change.NONE);
        assertThat(verdict.hit()).isEqualTo(Change.BACK);
    }

    @Test
    void aHitInBetweenForgivesTheMisses() {
        verdict.hit();
        for (int i = 0; i < 10; i++) {
            assertThat(verdict.miss()).isEqualTo(Change.NONE);
            assertThat(verdict.miss()).isEqualTo(Change.NONE);
            assertThat(verdict.hit()).isEqualTo(Change.NONE);
        }
    }

    @Test
    void aMissInBetweenForgetsTheHits() {
        verdict.miss();
        for (int i = 0; i < 10; i++) {
            assertThat(verdict.hit()).isEqualTo(Change.NONE);
            assertThat(verdict.miss()).isEqualTo(Change.NONE);
        }
    }

    @Property
    void upAndDownTakeTurns(
            @ForAll boolean[] answers,
            @ForAll @IntRange(min = 1, max = 4) int misses,
            @ForAll @IntRange(min = 1, max = 4) int hits) {
        Verdict any = new Verdict(misses, hits);
        Change last = Change.NONE;
        for (boolean answer : answers) {
            Change change = answer ? any.hit() : any.miss();
            if (change == Change.NONE) {
                assertThat(last).as("the first answer decides").isNotEqualTo(Change.NONE);
                continue;
            }
            assertThat(change == Change.DOWN).as("%s after %s", change, last).isEqualTo(!answer);
            assertThat(last != Change.NONE && (last == Change.DOWN) == (change == Change.DOWN))
                    .as("%s after %s", change, last)
                    .isFalse();
            last = change;
        }
    }
}
