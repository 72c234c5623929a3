package routes.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;
import routes.simulation.Cluster.Order;

/**
 * What waiting is like for each tenant when one of them asks for more than there is. With {@code -Dsimulation.write=true}
 * the report in docs/simulation is written anew.
 */
class AdmissionSimulationTest {

    private static final double SECONDS = 600;
    private static final int REPLICAS = 4;
    private static final int SLOTS = 16;
    private static final List<String> SMALL = List.of("small-a", "small-b", "small-c");

    private record Run(Cluster cluster, List<Tenant> tenants) {
        Tenant tenant(String name) {
            return tenants.stream().filter(t -> t.name.equals(name)).findFirst().orElseThrow();
        }
    }

    /** One tenant keeps 500 requests in the gateway; three others ask now and then. */
    private static Run hog(Order order, long seed) {
        VirtualTime time = new VirtualTime();
        Cluster cluster = new Cluster(time, order, REPLICAS, SLOTS);
        List<Tenant> tenants = new ArrayList<>();
        Tenant hog = new Tenant("hog", 1);
        tenants.add(hog);
        cluster.crowd(hog, 500, new Random(seed));
        for (String name : SMALL) {
            Tenant small = new Tenant(name, 1);
            tenants.add(small);
            cluster.arrivals(small, 1.0, new Random(seed + name.hashCode()), SECONDS);
        }
        time.runUntil(SECONDS);
        return new Run(cluster, tenants);
    }

    /** Tenants that all want more than their share; the weights decide. */
    private static Run crowds(Order order, int... weights) {
        VirtualTime time = new VirtualTime();
        Cluster cluster = new Cluster(time, order, REPLICAS, SLOTS);
        List<Tenant> tenants = new ArrayList<>();
        for (int i = 0; i < weights.length; i++) {
            Tenant tenant = new Tenant("tenant-" + (char) ('a' + i) + " x" + weights[i], weights[i]);
            tenants.add(tenant);
            cluster.crowd(tenant, 100 * (i + 1), new Random(i));
        }
        time.runUntil(SECONDS);
        return new Run(cluster, tenants);
    }

    /** Jain's index of what tenants got for their weight: 1 when it is equal, 1/n when one has all. */
    private static double jain(List<Tenant> tenants) {
        double sum = 0;
        double squares = 0;
        for (Tenant tenant : tenants) {
            double share = tenant.tokensServed / (double) tenant.weight;
            sum += share;
            squares += share * share;
        }
        return sum * sum / (tenants.size() * squares);
    }

    @Test
    void aHogDelaysNobodyButItself() {
        for (long seed = 1; seed <= 3; seed++) {
            Run fair = hog(Order.FAIR, seed);
            Run fifo = hog(Order.FIFO, seed);

            for (String name : SMALL) {
                Tenant small = fair.tenant(name);
                assertThat(small.waited(1)).as("longest wait of %s", name).isLessThan(1.5);
                assertThat(small.waited(0.99)).isLessThan(fifo.tenant(name).waited(0.01) / 4);
                assertThat(small.waits.size()).as("served of %s", name).isGreaterThan(small.asked - 5);
            }
            assertThat(fair.tenant("hog").tokensServed)
                    .as("what the others leave is the hog's")
                    .isGreaterThan(fifo.tenant("hog").tokensServed * 9 / 10);
        }
    }

    @Test
    void noSlotIsIdleWhileSomebodyWaits() {
        for (Order order : Order.values()) {
            Run run = hog(order, 7);
            assertThat(run.cluster.waiting()).isPositive();
            assertThat(run.cluster.idleWhileWaiting).as("%s", order).isZero();
            assertThat(run.cluster.utilisation()).as("%s", order).isGreaterThan(0.999);
        }
    }

    @Test
    void crowdsOfAnySizeGetTheSameAndWeightsWhatTheySay() {
        Run equal = crowds(Order.FAIR, 1, 1, 1, 1);
        assertThat(jain(equal.tenants)).isGreaterThan(0.999);
        assertThat(jain(crowds(Order.FIFO, 1, 1, 1, 1).tenants))
                .as("a plain queue gives to the crowd")
                .isLessThan(0.9);

        Run weighted = crowds(Order.FAIR, 1, 2, 4);
        assertThat(jain(weighted.tenants)).isGreaterThan(0.999);
    }

    @Test
    void theReportSaysWhatTheSimulationSays() throws Exception {
        Run fair = hog(Order.FAIR, 1);
        Run fifo = hog(Order.FIFO, 1);
        List<Run> shares =
                List.of(crowds(Order.FAIR, 1, 1, 1, 1), crowds(Order.FIFO, 1, 1, 1, 1), crowds(Order.FAIR, 1, 2, 4));
        Report report = new Report("admission");
        report.text("""
                # Admission: who waits when there is too little

                The product's own queue, slots and rendezvous rule on virtual time, against modelled replicas: %d of them with %d slots,
                8,000 prompt tokens a second, 16 ms for a token and 0.375 ms more for each request that runs beside it. Prompts of 200 to
                2,000 tokens, answers of 20 to 200. Ten minutes each. Run again with
                `mvn verify -Dtest=AdmissionSimulationTest -Dsimulation.write=true`.

                ## One tenant keeps 500 requests in the gateway, three others ask once a second

                """.formatted(REPLICAS, SLOTS));
        report.table(
                "tenant", "asked", "wait p50, s", "wait p99, s", "p50 in a plain queue, s", "p99 in a plain queue, s");
        List<String> names = new ArrayList<>();
        List<double[]> waits = new ArrayList<>();
        for (Tenant tenant : fair.tenants) {
            Tenant plain = fifo.tenant(tenant.name);
            report.row(
                    tenant.name,
                    Integer.toString(tenant.asked),
                    seconds(tenant.waited(0.5)),
                    seconds(tenant.waited(0.99)),
                    seconds(plain.waited(0.5)),
                    seconds(plain.waited(0.99)));
            names.add(tenant.name);
            waits.add(new double[] {tenant.waited(0.99), plain.waited(0.99)});
        }
        report.text(
                "\nSlots were taken for %.1f %% of the time (plain queue: %.1f %%), and none was free while somebody waited.\n\n"
                        .formatted(100 * fair.cluster.utilisation(), 100 * fifo.cluster.utilisation()));
        report.bars("wait-p99", "99th percentile of waiting, s", names, List.of("fair queue", "plain queue"), waits);
        report.text("""

                ## Everybody wants more than there is

                Crowds of 100, 200, 300 … clients, each asks again when it has its answer. Jain's index of the tokens served for each weight is
                1 when all are equal.

                """);
        report.table("tenants", "order", "share of the tokens, %", "Jain's index");
        for (int i = 0; i < shares.size(); i++) {
            Run run = shares.get(i);
            double all = run.tenants.stream().mapToLong(t -> t.tokensServed).sum();
            List<String> parts = run.tenants.stream()
                    .map(t -> String.format(Locale.ROOT, "%.1f", 100 * t.tokensServed / all))
                    .toList();
            report.row(
                    String.join(", ", run.tenants.stream().map(t -> t.name).toList()),
                    i == 1 ? "plain queue" : "fair queue",
                    String.join(" / ", parts),
                    String.format(Locale.ROOT, "%.4f", jain(run.tenants)));
        }
        report.text("""

                ## What it can not show

                Service times are drawn when a request begins and don't change with those that come later; prompts are never cached (the rule of
                affinity has a simulation of its own to come); tokens are known exactly at dispatch, where the gateway estimates them and corrects
                itself when the answer is complete.
                """);
        Path folder = Path.of("docs/simulation");
        if (Boolean.getBoolean("simulation.write")) {
            report.write(folder);
        }
        assertThat(Files.readString(folder.resolve("admission.md"))).isEqualTo(report.page());
    }

    private static String seconds(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }
}
