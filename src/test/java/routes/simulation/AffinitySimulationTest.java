package routes.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** The claims of the affinity rule in little: two seeds, some workloads. {@link AffinitySimulationSoakTest} tries all. */
class AffinitySimulationTest extends AffinityClaims {

    private static final Trials TRIALS = new Trials(2, 900);

    AffinitySimulationTest() {
        super(TRIALS, Workload.MIXED, Workload.TENANTS, Workload.RAG, Workload.AGENTS);
    }

    @AfterAll
    static void forget() {
        TRIALS.forget();
    }

    @Test
    void aSeedGivesTheSameRunAgain() {
        Fleet.Setup setup = new Fleet.Setup(Workload.CHURN, Trials.LOAD, 2, 3, 100);
        assertThat(Fleet.run(setup, Rule.NESTED)).isEqualTo(Fleet.run(setup, Rule.NESTED));
    }

    @Test
    void theConversationsHaveThePublishedStatistics() {
        MooncakeTrace trace = new MooncakeTrace(1);
        LongMap seen = new LongMap();
        LongMap lastMillis = new LongMap();
        double[] gaps = new double[MooncakeTrace.REQUESTS];
        int followUps = 0;
        double tokens = 0;
        double answers = 0;
        double cached = 0;
        for (MooncakeTrace.Entry entry : trace.entries) {
            Chain prompt = entry.prompt();
            tokens += prompt.tokens();
            answers += entry.answerTokens();
            for (int i = 0; i < prompt.segments; i++) {
                cached += seen.get(prompt.ids[i], 0) * prompt.blocks[i] * Chain.BLOCK_TOKENS;
                seen.put(prompt.ids[i], 1);
            }
            long before = lastMillis.get(prompt.firstId(), -1);
            long now = Math.round(entry.at() * 1000);
            if (before >= 0) {
                gaps[followUps++] = (now - before) / 1e3;
            }
            lastMillis.put(prompt.firstId(), now);
        }
        Arrays.sort(gaps, 0, followUps);
        assertThat(trace.entries).hasSize(12_031);
        assertThat(tokens / MooncakeTrace.REQUESTS).isCloseTo(12_035, within(250.0));
        assertThat(answers / MooncakeTrace.REQUESTS).isCloseTo(343, within(7.0));
        assertThat(cached / tokens).isCloseTo(0.374, within(0.015));
        assertThat(gaps[followUps / 2]).isCloseTo(123, within(6.0));
    }
}
