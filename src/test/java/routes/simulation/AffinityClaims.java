package routes.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What is claimed of the rule, at 80 % load of eight replicas behind two gateways where nothing else is said. */
abstract class AffinityClaims {

    private final Trials trials;
    private final List<Workload> workloads;

    /** @param workloads those that are tried */
    AffinityClaims(Trials trials, Workload... workloads) {
        this.trials = trials;
        this.workloads = List.of(workloads);
    }

    final Trials trials() {
        return trials;
    }

    final List<Workload> workloads() {
        return workloads;
    }

    /** Share of the oracle's hits that is enough. */
    private static double enoughHits(Workload workload) {
        return workload == Workload.MOONCAKE ? 0.80 : 0.94;
    }

    /** How many times the oracle's p99 is good enough. */
    private static double enoughSpeed(Workload workload) {
        return workload == Workload.CHURN ? 2.5 : 2.0;
    }

    private boolean hitsEnough(Rule rule, Workload workload) {
        return trials.of(rule, workload).hitShare()
                >= enoughHits(workload) * trials.of(Rule.ORACLE, workload).hitShare();
    }

    private boolean isFastEnough(Rule rule, Workload workload) {
        return trials.of(rule, workload).ttftP99()
                <= enoughSpeed(workload) * trials.of(Rule.ORACLE, workload).ttftP99();
    }

    @Test
    void hitsAreAlmostTheOracles() {
        assertThat(workloads)
                .allSatisfy(workload -> assertThat(hitsEnough(Rule.NESTED, workload))
                        .as(
                                "%s: %s of %s",
                                workload, trials.of(Rule.NESTED, workload), trials.of(Rule.ORACLE, workload))
                        .isTrue());
    }

    @Test
    void theSlowestFirstTokensAreAtMostTwiceAsLateAsTheOracles() {
        assertThat(workloads)
                .allSatisfy(workload -> assertThat(isFastEnough(Rule.NESTED, workload))
                        .as("%s: %s, %s", workload, trials.of(Rule.NESTED, workload), trials.of(Rule.ORACLE, workload))
                        .isTrue());
    }

    @Test
    void whereNothingIsToBeWonNothingIsLost() {
        for (Workload workload : List.of(Workload.NONE, Workload.HOT)) {
            assertThat(trials.of(Rule.NESTED, workload).ttftP99())
                    .as("%s", workload)
                    .isLessThanOrEqualTo(trials.of(Rule.LEAST_LOADED, workload).ttftP99());
        }
    }

    @Test
    void moreGatewaysLoseNothing() {
        Outcome one = trials.of(Rule.NESTED, Workload.MIXED, Trials.LOAD, 1);
        Outcome four = trials.of(Rule.NESTED, Workload.MIXED, Trials.LOAD, 4);
        assertThat(four.hitShare()).isGreaterThanOrEqualTo(one.hitShare() - 0.01);
        assertThat(four.ttftP99()).isLessThanOrEqualTo(1.25 * one.ttftP99());
    }

    @Test
    void gatewaysAgreeWhereHomeIs() {
        assertThat(workloads)
                .allSatisfy(
                        workload -> assertThat(trials.of(Rule.NESTED, workload).agreement())
                                .as("%s", workload)
                                .isGreaterThanOrEqualTo(0.94));
    }

    @Test
    void nearTheLimitAsMuchIsDoneAsWithTheOracle() {
        assertThat(trials.of(Rule.NESTED, Workload.MIXED, 0.95, Trials.GATEWAYS).perSecond())
                .isGreaterThanOrEqualTo(0.95
                        * trials.of(Rule.ORACLE, Workload.MIXED, 0.95, Trials.GATEWAYS)
                                .perSecond());
    }

    @Test
    void theRulesOfOthersAreBehind() {
        double ours = trials.of(Rule.NESTED, Workload.MIXED).hitShare();
        for (Rule peer : List.of(Rule.LLM_D, Rule.SGLANG, Rule.CHWBL, Rule.LEAST_LOADED)) {
            assertThat(trials.of(peer, Workload.MIXED).hitShare())
                    .as("%s", peer)
                    .isLessThanOrEqualTo(ours - 0.1);
        }
        assertThat(trials.of(Rule.RENDEZVOUS, Workload.MIXED).hitShare()).isLessThanOrEqualTo(ours - 0.05);
    }

    @Test
    void waitingAtTheGatewayIsAsGoodAsInTheReplicas() {
        for (Workload workload : List.of(Workload.MIXED, Workload.RAG)) {
            Outcome inReplicas = trials.of(Rule.NESTED, workload);
            Outcome atGateway = trials.of(Rule.QUEUED, workload);
            assertThat(atGateway.hitShare()).as("%s", workload).isGreaterThanOrEqualTo(inReplicas.hitShare() - 0.01);
            assertThat(atGateway.ttftP99()).as("%s", workload).isLessThanOrEqualTo(1.25 * inReplicas.ttftP99());
        }
    }

    @Test
    void rulesThatLackAPartFail() {
        for (Rule control : List.of(Rule.SETS_OF_ONE, Rule.SYSTEM_KEYS, Rule.SPILL)) {
            assertThat(hitsEnough(control, Workload.MIXED)).as("%s", control).isFalse();
            assertThat(isFastEnough(control, Workload.MIXED)).as("%s", control).isFalse();
        }
    }
}
