package routes.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The claims of the affinity rule with five seeds and all workloads. With {@code -Dsimulation.write=true} the report in
 * docs/simulation is written anew.
 */
@Tag("soak")
class AffinitySimulationSoakTest extends AffinityClaims {

    private static final Trials TRIALS = new Trials(5, 900);
    private static final List<Rule> RULES = List.of(
            Rule.ORACLE,
            Rule.NESTED,
            Rule.LLM_D,
            Rule.SGLANG,
            Rule.CHWBL,
            Rule.RENDEZVOUS,
            Rule.LEAST_LOADED,
            Rule.ROUND_ROBIN,
            Rule.RANDOM);
    private static final List<Rule> CONTROLS = List.of(Rule.SETS_OF_ONE, Rule.SYSTEM_KEYS, Rule.SPILL);
    private static final List<Double> LOADS = List.of(0.5, 0.65, 0.8, 0.95, 1.1);
    private static final List<Integer> GATEWAYS = List.of(1, 2, 4);

    AffinitySimulationSoakTest() {
        super(
                TRIALS,
                Workload.MIXED,
                Workload.CHAT,
                Workload.TENANTS,
                Workload.RAG,
                Workload.AGENTS,
                Workload.HOT,
                Workload.CHURN,
                Workload.MOONCAKE);
    }

    @Test
    void loadIsMeasuredByWhatTheOracleSustains() {
        for (Workload workload : Workload.values()) {
            // churn is mixed with fewer replicas; bursts come too seldom for a mean
            if (workload != Workload.CHURN && workload != Workload.BURST) {
                Calibration counted = Calibration.of(workload);
                assertThat(workload.capacity)
                        .as("%s: %s", workload, counted)
                        .isCloseTo(counted.capacity(), withinPercentage(2));
                assertThat(workload.turns)
                        .as("%s: %s", workload, counted)
                        .isCloseTo(counted.turns(), withinPercentage(2));
            }
        }
    }

    @Test
    void waitingAtTheGatewayInABurstCostsFewHits() {
        assertThat(TRIALS.of(Rule.QUEUED, Workload.BURST).hitShare())
                .isGreaterThanOrEqualTo(TRIALS.of(Rule.ORACLE, Workload.BURST).hitShare() - 0.04);
    }

    @Test
    void burstsCostNoHits() {
        assertThat(TRIALS.of(Rule.NESTED, Workload.BURST).hitShare())
                .isGreaterThanOrEqualTo(TRIALS.of(Rule.ORACLE, Workload.BURST).hitShare() - 0.02);
    }

    @Test
    void theReportSaysWhatTheSimulationSays() throws Exception {
        Path folder = Path.of("docs/simulation");
        Report report = new Report("affinity");
        report.text("""
                # Affinity: which replica has the prompt in its cache

                The product's rule on virtual time, against modelled replicas and the rules of others. Eight replicas with 64 slots and
                memory for 500,000 tokens: continuous batching in steps of up to 2,048 tokens, a step takes 16 ms, 0.375 ms for each answer
                and 1 s for 8,000 prompt tokens; blocks of 16 tokens are cached, the least recently used go first. Two gateways know nothing
                of each other and read each replica's load once a second. Five seeds, 15 minutes each, of which the first quarter doesn't
                count. *Load* is a share of the requests that the oracle's hits could sustain, so a rule with fewer hits is overloaded below
                100 %%; if nothing else is said it is 80 %%. Run again with
                `mvn verify -Psoak -Dtest=AffinitySimulationSoakTest -Dsimulation.write=true`.

                ## Hits

                Cached share of the prompt tokens. The oracle knows every cache and every queue exactly; no gateway can.

                """.formatted());
        table(report, Outcome::hitShare, "%.3f");
        chart(report, folder, "hits", "Cached share of the prompt tokens", new double[] {0, 1}, Outcome::hitShare);
        report.text("\n## Time to the first token\n\n99th percentile, s.\n\n");
        table(report, Outcome::ttftP99, "%.2f");
        chart(report, folder, "ttft", "Time to the first token, p99, s", new double[] {0.1, 1000}, Outcome::ttftP99);
        report.text("\n## More and less load\n\nMixed workload.\n\n");
        sweep(report, folder, "load", List.of("50 %", "65 %", "80 %", "95 %", "110 %"), point -> {
            double load = LOADS.get(point);
            return rule -> TRIALS.of(rule, Workload.MIXED, load, Trials.GATEWAYS);
        });
        report.text("\n## One, two and four gateways\n\nMixed workload.\n\n");
        sweep(report, folder, "gateways", List.of("1", "2", "4"), point -> {
            int gateways = GATEWAYS.get(point);
            return rule -> TRIALS.of(rule, Workload.MIXED, Trials.LOAD, gateways);
        });
        report.text("""

                ## What the parts are for

                *Queue at the gateway*: replicas take 64 requests and the rest waits in the gateway's queue for the one whose turn it is,
                at the price of waiting; without it they wait in the replicas. *Learned warmth*: what is expected to be cached follows what
                replicas report; an option, since it costs hits. The last three lack one part and must fail, or the claims would show
                nothing. Mixed workload; the share that goes home is what the
                rule would do if all replicas were idle.

                """);
        report.table("rule", "hit share", "p99, s", "requests a second", "goes home, %", "gateways agree on home, %");
        List<Rule> parts = new ArrayList<>(List.of(Rule.NESTED, Rule.QUEUED, Rule.LEARNED));
        parts.addAll(CONTROLS);
        for (Rule rule : parts) {
            Outcome outcome = TRIALS.of(rule, Workload.MIXED);
            boolean homes = rule != Rule.SPILL;
            report.row(
                    rule.title,
                    number("%.3f", outcome.hitShare()),
                    number("%.2f", outcome.ttftP99()),
                    number("%.1f", outcome.perSecond()),
                    homes ? number("%.1f", 100 * outcome.homeShare()) : "",
                    homes ? number("%.1f", 100 * outcome.agreement()) : "");
        }
        report.text("""

                ## Workloads

                mixed: 40 % chat, 20 tenants, 15 RAG, 15 agents, 10 none. chat: seven of ten users share a system prompt of 512 tokens, five
                turns, 45 s between them. tenants: 400 long system prompts, used by Zipf's law. rag: one or two of 3,000 documents before a
                short question. agents: four sets of tools, long loops with branches. none: nothing in common. hot: the same 6 KB in seven of
                ten prompts. burst: tenants and chat, 12 s at 16 times the rate of the 48 s between. churn: mixed, while a replica dies and
                returns, another dies, and a new one comes. mooncake: a made-up hour with the statistics published for Mooncake's
                conversation trace (FAST '25): 12,031 requests, 12,035 tokens in, 343 out, 37 % seen before, 123 s until a conversation goes on.

                ## What it can not show

                Prefill is linear in the prompt; nothing is preempted, offloaded or delayed by the network; replicas are alike and a dead one is
                noticed at once; answers are tokenised again as they were. The oracle takes what is best for one request, so it can be beaten.
                The rules of others are written after their sources in their least form, with their default weights.
                """);
        if (Boolean.getBoolean("simulation.write")) {
            report.write(folder);
        }
        assertThat(Files.readString(folder.resolve("affinity.md"))).isEqualTo(report.page());
    }

    private static void table(Report report, ToDoubleFunction<Outcome> of, String format) {
        List<String> head = new ArrayList<>(List.of("rule"));
        head.addAll(Arrays.stream(Workload.values()).map(Workload::title).toList());
        report.table(head.toArray(String[]::new));
        for (Rule rule : RULES) {
            List<String> row = new ArrayList<>(List.of(rule.title));
            for (Workload workload : Workload.values()) {
                row.add(number(format, of.applyAsDouble(TRIALS.of(rule, workload))));
            }
            report.row(row.toArray(String[]::new));
        }
    }

    private static void chart(
            Report report, Path folder, String file, String title, double[] axis, ToDoubleFunction<Outcome> of)
            throws Exception {
        double[][] values = new double[RULES.size()][Workload.values().length];
        for (int r = 0; r < values.length; r++) {
            for (Workload workload : Workload.values()) {
                values[r][workload.ordinal()] = of.applyAsDouble(TRIALS.of(RULES.get(r), workload));
            }
        }
        String svg = new Plot(title, axis[0], axis[1])
                .bars(Arrays.stream(Workload.values()).map(Workload::title).toList(), titles(), values);
        image(report, folder, file, title, svg);
    }

    /** What a rule gave at one point of a sweep. */
    private interface Point {
        Outcome of(Rule rule);
    }

    private static void sweep(Report report, Path folder, String file, List<String> points, IntFunction<Point> at)
            throws Exception {
        double[][] hits = new double[RULES.size()][points.size()];
        double[][] waits = new double[RULES.size()][points.size()];
        List<String> head = new ArrayList<>(List.of("hit share / p99, s"));
        head.addAll(points);
        report.table(head.toArray(String[]::new));
        for (int r = 0; r < hits.length; r++) {
            List<String> row = new ArrayList<>(List.of(RULES.get(r).title));
            for (int p = 0; p < points.size(); p++) {
                Outcome outcome = at.apply(p).of(RULES.get(r));
                hits[r][p] = outcome.hitShare();
                waits[r][p] = outcome.ttftP99();
                row.add(number("%.3f", hits[r][p]) + " / " + number("%.2f", waits[r][p]));
            }
            report.row(row.toArray(String[]::new));
        }
        String title = "Cached share of the prompt tokens";
        image(report, folder, file + "-hits", title, new Plot(title, 0, 1).lines(points, titles(), hits));
        title = "Time to the first token, p99, s";
        image(report, folder, file + "-ttft", title, new Plot(title, 0.1, 1000).lines(points, titles(), waits));
    }

    private static void image(Report report, Path folder, String file, String title, String svg) throws Exception {
        report.text("\n![" + title + "](affinity-" + file + ".svg)\n");
        if (Boolean.getBoolean("simulation.write")) {
            Files.createDirectories(folder);
            Files.writeString(folder.resolve("affinity-" + file + ".svg"), svg);
        }
    }

    private static List<String> titles() {
        return RULES.stream().map(rule -> rule.title).toList();
    }

    private static String number(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }
}
