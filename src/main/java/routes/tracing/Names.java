package routes.tracing;

import static io.opentelemetry.api.common.AttributeKey.booleanKey;
import static io.opentelemetry.api.common.AttributeKey.doubleKey;
import static io.opentelemetry.api.common.AttributeKey.longKey;
import static io.opentelemetry.api.common.AttributeKey.stringArrayKey;
import static io.opentelemetry.api.common.AttributeKey.stringKey;

import io.opentelemetry.api.common.AttributeKey;
import java.util.List;

/** Names of the attributes: OpenTelemetry's semantic conventions where they have one, else those of the usage line. */
final class Names {

    static final AttributeKey<String> OPERATION = stringKey("gen_ai.operation.name");
    static final AttributeKey<String> PROVIDER = stringKey("gen_ai.provider.name");
    static final AttributeKey<String> MODEL = stringKey("gen_ai.request.model");
    static final AttributeKey<List<String>> FINISH_REASONS = stringArrayKey("gen_ai.response.finish_reasons");
    static final AttributeKey<Long> INPUT_TOKENS = longKey("gen_ai.usage.input_tokens");
    static final AttributeKey<Long> OUTPUT_TOKENS = longKey("gen_ai.usage.output_tokens");
    static final AttributeKey<Long> CACHED_TOKENS = longKey("gen_ai.usage.cache_read.input_tokens");
    static final AttributeKey<Long> REASONING_TOKENS = longKey("gen_ai.usage.reasoning.output_tokens");

    static final AttributeKey<String> METHOD = stringKey("http.request.method");
    static final AttributeKey<String> ROUTE = stringKey("http.route");
    static final AttributeKey<Long> STATUS = longKey("http.response.status_code");
    static final AttributeKey<String> SERVER = stringKey("server.address");
    static final AttributeKey<Long> SERVER_PORT = longKey("server.port");
    static final AttributeKey<String> ERROR_TYPE = stringKey("error.type");

    static final AttributeKey<String> REQUEST_ID = stringKey("dromedary.request_id");
    static final AttributeKey<String> TENANT = stringKey("dromedary.tenant");
    static final AttributeKey<String> KEY_ID = stringKey("dromedary.key_id");
    static final AttributeKey<String> REPLICA = stringKey("dromedary.replica");
    static final AttributeKey<String> AFFINITY = stringKey("dromedary.affinity");
    static final AttributeKey<String> FALLBACK_FROM = stringKey("dromedary.fallback_from");
    static final AttributeKey<String> ERROR_CODE = stringKey("dromedary.error_code");
    static final AttributeKey<Long> ATTEMPTS = longKey("dromedary.attempts");
    static final AttributeKey<Boolean> STREAM = booleanKey("dromedary.stream");
    static final AttributeKey<Double> QUEUE_SECONDS = doubleKey("dromedary.queue_seconds");
    static final AttributeKey<Double> FIRST_TOKEN_SECONDS = doubleKey("dromedary.first_token_seconds");

    private Names() {}
}
