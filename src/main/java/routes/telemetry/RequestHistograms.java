package routes.telemetry;

import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.Unit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Map.Entry;
import org.jspecify.annotations.Nullable;
import routes.queue.Pool;
import routes.queue.Queue;
import routes.request.Api;
import routes.request.Outcome;

/**
 * Shows the histograms of {@link RequestMeters} to Prometheus under the names of OpenTelemetry's semantic conventions for
 * generative AI.
 *
 * <p>Micrometer's own histograms keep a decaying maximum and a window besides; that costs more on the event loop than all the
 * rest of what is measured of a request, and so the buckets are ours. What has counted nothing yet is not shown.
 *
 * <p><b>Threading:</b> any thread; scrapes call it.
 */
final class RequestHistograms implements MultiCollector {

    private final RequestMeters meters;
    private final Queue queue;

    RequestHistograms(RequestMeters meters, Queue queue) {
        this.meters = meters;
        this.queue = queue;
    }

    @Override
    public MetricSnapshots collect() {
        HistogramSnapshot.Builder duration = histogram(
                "gen_ai_server_request_duration_seconds",
                "From a request's head to the last byte of its answer; error_type is the outcome unless it is success.",
                Unit.SECONDS);
        HistogramSnapshot.Builder firstToken = histogram(
                "gen_ai_server_time_to_first_token_seconds",
                "From a request's head to the first token of its streamed answer; successful ones only.",
                Unit.SECONDS);
        HistogramSnapshot.Builder outputToken = histogram(
                "gen_ai_server_time_per_output_token_seconds",
                "Mean time from one token of a streamed answer to the next, after the first; successful ones only.",
                Unit.SECONDS);
        HistogramSnapshot.Builder tokens = histogram(
                "gen_ai_client_token_usage",
                "Tokens of a request's prompt (input) and answer (output), as the replica counts them.",
                null);
        HistogramSnapshot.Builder queueWait = histogram(
                "dromedary_queue_wait_seconds",
                "How long requests that were sent to a replica had waited for its slots; 0 for those that did not wait.",
                Unit.SECONDS);

        Map<String, PoolMeters> pools = new LinkedHashMap<>();
        pools.put(RequestMeters.UNKNOWN, meters.of(null));
        for (Pool pool : queue.pools()) {
            PoolMeters of = meters.of(pool);
            queueWait.dataPoint(point(of.queueWait, Scale.QUEUE_WAIT, Labels.of("pool", pool.name())));
            pools.put(pool.name(), of);
        }
        for (Entry<String, PoolMeters> pool : pools.entrySet()) {
            for (Api api : Api.values()) {
                ApiMeters of = pool.getValue().known(api);
                if (of == null) {
                    continue;
                }
                Labels labels = Labels.of(
                        "api", api.label(),
                        "gen_ai_operation_name", RequestMeters.operation(api),
                        "gen_ai_provider_name", "vllm",
                        "gen_ai_request_model", pool.getKey());
                for (Outcome outcome : Outcome.values()) {
                    Labels ended = outcome == Outcome.SUCCESS ? labels : labels.add("error_type", outcome.label());
                    add(duration, of.durations[outcome.ordinal()], Scale.DURATION, ended);
                }
                add(firstToken, of.firstToken, Scale.FIRST_TOKEN, labels);
                add(outputToken, of.outputToken, Scale.OUTPUT_TOKEN, labels);
                add(tokens, of.inputTokens, Scale.TOKENS, labels.add("gen_ai_token_type", "input"));
                add(tokens, of.outputTokens, Scale.TOKENS, labels.add("gen_ai_token_type", "output"));
            }
        }
        return MetricSnapshots.of(
                duration.build(), firstToken.build(), outputToken.build(), tokens.build(), queueWait.build());
    }

    private static HistogramSnapshot.Builder histogram(String name, String help, @Nullable Unit unit) {
        HistogramSnapshot.Builder builder =
                HistogramSnapshot.builder().name(name).help(help);
        return unit == null ? builder : builder.unit(unit);
    }

    private static void add(HistogramSnapshot.Builder to, Buckets buckets, Scale scale, Labels labels) {
        HistogramDataPointSnapshot point = point(buckets, scale, labels);
        if (point.getCount() > 0) {
            to.dataPoint(point);
        }
    }

    private static HistogramDataPointSnapshot point(Buckets buckets, Scale scale, Labels labels) {
        return HistogramDataPointSnapshot.builder()
                .classicHistogramBuckets(ClassicHistogramBuckets.of(scale.shown(), buckets.counts()))
                .sum(buckets.sum() / scale.unit())
                .labels(labels)
                .build();
    }
}
