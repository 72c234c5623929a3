package routes.command.litellm;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An entry of {@code model_list} that can be converted.
 *
 * @param where it stands, for reports
 * @param group the name that clients use
 * @param address of the server, without {@code /v1}
 * @param model the server's own name for the model
 * @param vllm whether it has vLLM's health and metrics pages
 * @param slots most requests at once; null when nothing says
 * @param keys placeholders of its API keys
 * @param headers further ones
 */
record Deployment(
        String where,
        String group,
        String address,
        String model,
        boolean vllm,
        @Nullable Integer slots,
        List<String> keys,
        Map<String, String> headers,
        Timeouts timeouts,
        @Nullable Price price) {

    /** Durations as routes write them; null where nothing says. */
    record Timeouts(@Nullable String total, @Nullable String stream) {}

    /** For a million tokens. */
    record Price(BigDecimal input, @Nullable BigDecimal cached, BigDecimal output) {}
}
