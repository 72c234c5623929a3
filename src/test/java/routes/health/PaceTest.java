package routes.health;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PaceTest {

    @Test
    void intervalsVaryByATenth() {
        assertThat(Pace.delay(1000, 0, 0)).isEqualTo(900);
        assertThat(Pace.delay(1000, 0, 0.5)).isEqualTo(1000);
        assertThat(Pace.delay(1000, 0, 1)).isEqualTo(1100);
    }

    @Test
    void anIntervalBeginsWithTheWork() {
        assertThat(Pace.delay(1000, 300, 0.5)).isEqualTo(700);
    }

    @Test
    void thereIsAPauseAfterWorkThatTookLonger() {
        assertThat(Pace.delay(1000, 5000, 0.5)).isEqualTo(100);
    }
}
