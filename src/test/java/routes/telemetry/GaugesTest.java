package routes.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import routes.queue.Queue;
import routes.replica.ReplicaAddress;
import routes.replica.ReplicaGroup;
import routes.replica.ReplicaGroup.Member;
import routes.replica.ReplicaOptions;
import routes.replica.Replicas;

class GaugesTest {

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final Gauges gauges = new Gauges(registry);

    private static Member member(int last) {
        try {
            byte[] address = {10, 0, 0, (byte) last};
            return new Member(new InetSocketAddress(InetAddress.getByAddress(address), 8000));
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void replicasThatComeAndGoLeaveNoSeries() {
        Replicas replicas = new Replicas();
        gauges.replicas(replicas, replica -> CircuitBreaker.ofDefaults(replica.toString()));
        ReplicaGroup group = replicas.group(
                ReplicaAddress.parse("http://llm.test:8000"), ReplicaOptions.slots(4), ReplicaGroup.Mode.ALL);
        group.members(List.of(member(1)));
        long before = registry.scrape().lines().count();

        for (int i = 2; i < 200; i++) {
            group.members(List.of(member(i), member(i + 1)));
        }
        group.members(List.of(member(1)));

        assertThat(registry.scrape().lines().count()).isEqualTo(before);
        assertThat(registry.scrape()).contains("10.0.0.1:").doesNotContain("10.0.0.2", "10.0.0.199");
        group.members(List.of());
        assertThat(registry.scrape()).doesNotContain("10.0.0.");
    }

    @Test
    void aReplicaShowsTheOneStateThatItIsIn() {
        Replicas replicas = new Replicas();
        gauges.replicas(replicas, replica -> CircuitBreaker.ofDefaults(replica.toString()));
        ReplicaGroup group = replicas.group(
                ReplicaAddress.parse("http://llm.test:8000"), ReplicaOptions.slots(4), ReplicaGroup.Mode.ALL);
        group.members(List.of(member(1)));
        String state = "dromedary_replica_state{replica=\"http://10.0.0.1:8000\",state=\"";

        assertThat(registry.scrape()).contains(state + "up\"} 1.0", state + "down\"} 0.0");
        group.replicas().get(0).up(false);
        assertThat(registry.scrape()).contains(state + "up\"} 0.0", state + "down\"} 1.0");
        group.replicas().get(0).up(true);
        group.replicas().get(0).suspect(true);
        assertThat(registry.scrape()).contains(state + "up\"} 0.0", state + "suspect\"} 1.0");
    }

    @Test
    void aCounterGoesOnAfterACollection() {
        AtomicLong value = new AtomicLong(1);
        gauges.counter("test.counted", "Counted.", value::get);
        assertThat(registry.scrape()).contains("test_counted_total 1.0");

        collect();
        value.set(2);

        assertThat(registry.scrape()).contains("test_counted_total 2.0");
    }

    private static void collect() {
        WeakReference<Object> gone = new WeakReference<>(new Object());
        while (gone.get() != null) {
            System.gc();
        }
    }

    @Test
    void poolsOfLaterRoutesAreShownToo() {
        Queue queue = new Queue(System::nanoTime);
        RequestMeters meters = new RequestMeters();
        queue.pool("first");
        gauges.requests(meters, queue).pools(queue, meters);

        queue.pool("later");

        assertThat(registry.scrape())
                .contains(
                        "dromedary_requests_queued{pool=\"first\"} 0.0",
                        "dromedary_requests_queued{pool=\"later\"} 0.0")
                .contains("dromedary_queue_wait_seconds_count{pool=\"later\"} 0")
                .contains("dromedary_request_retries_total{pool=\"later\"} 0.0");
    }
}
