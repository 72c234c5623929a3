package routes.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class RelayPlanTest {

    @Test
    void refusesWhatCanNotBeRelayed() {
        assertThatThrownBy(() -> new RelayPlan(Framing.LENGTH, -1, Framing.LENGTH, Content.JSON, false))
                .hasMessageContaining("length: -1");
        assertThatThrownBy(() -> new RelayPlan(Framing.CHUNKED, 5, Framing.CHUNKED, Content.JSON, false))
                .hasMessageContaining("length: 5");
        assertThatThrownBy(() -> new RelayPlan(Framing.CHUNKED, -1, Framing.LENGTH, Content.JSON, false))
                .hasMessageContaining("client: LENGTH");
        assertThatThrownBy(() -> new RelayPlan(Framing.LENGTH, 5, Framing.LENGTH, Content.SSE, true))
                .hasMessageContaining("client: LENGTH");
        assertThatThrownBy(() -> new RelayPlan(Framing.CHUNKED, -1, Framing.CHUNKED, Content.JSON, true))
                .hasMessageContaining("content: JSON");
    }

    @Test
    void contentIsKnownByMediaTypeInAnyCase() {
        assertThat(Content.of("text/event-stream; charset=utf-8")).isEqualTo(Content.SSE);
        assertThat(Content.of(" TEXT/EVENT-STREAM")).isEqualTo(Content.SSE);
        assertThat(Content.of("application/json;charset=utf-8")).isEqualTo(Content.JSON);
        assertThat(Content.of("application/jsonl")).isEqualTo(Content.OPAQUE);
        assertThat(Content.of("audio/wav")).isEqualTo(Content.OPAQUE);
        assertThat(Content.of(null)).isEqualTo(Content.OPAQUE);
    }
}
