package routes.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ReadyWhenTest {

    @Test
    void everyPolicyHasAWordInTheConfiguration() {
        assertThat(ReadyWhen.of("listening")).isEqualTo(ReadyWhen.LISTENING);
        assertThat(ReadyWhen.of("any-pool")).isEqualTo(ReadyWhen.ANY_POOL);
        assertThat(ReadyWhen.of("all-pools")).isEqualTo(ReadyWhen.ALL_POOLS);
    }

    @Test
    void anotherWordIsRefusedWithThoseThatThereAre() {
        assertThatThrownBy(() -> ReadyWhen.of("always"))
                .hasMessage("gateway.ready-when: 'always' (expected: listening, any-pool or all-pools)");
    }
}
