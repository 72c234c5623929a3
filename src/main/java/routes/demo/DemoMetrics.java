package routes.demo;

import java.nio.charset.StandardCharsets;

/** Renders a replica's load as the Prometheus text that vLLM serves. */
final class DemoMetrics {

    private final StringBuilder text = new StringBuilder(1024);
    private final String labels;

    private DemoMetrics(String model) {
        String escaped = model.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
        labels = "{engine=\"0\",model_name=\"" + escaped + "\"} ";
    }

    static byte[] text(Engine engine) {
        DemoMetrics metrics = new DemoMetrics(engine.options.models().get(0));
        metrics.add("num_requests_running", "gauge", engine.slots.running());
        metrics.add("num_requests_waiting", "gauge", engine.slots.waiting());
        metrics.add("kv_cache_usage_perc", "gauge", engine.slots.usage());
        metrics.add("prompt_tokens_total", "counter", engine.promptTokens.get());
        metrics.add("generation_tokens_total", "counter", engine.completionTokens.get());
        metrics.add("prefix_cache_queries_total", "counter", engine.promptTokens.get());
        metrics.add("prefix_cache_hits_total", "counter", engine.cachedTokens.get());
        return metrics.text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private void add(String name, String type, double value) {
        text.append("# TYPE vllm:").append(name).append(' ').append(type).append('\n');
        text.append("vllm:").append(name).append(labels).append(value).append('\n');
    }
}
