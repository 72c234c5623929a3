package routes.tracing;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.resources.Resource;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.camel.spi.Registry;
import org.jspecify.annotations.Nullable;

/** An SDK of the gateway's own, set up by the environment. */
record Sdk(OpenTelemetrySdk openTelemetry) {

    private static final long FLUSH_LIMIT_SECONDS = 5;
    private static final AttributeKey<String> SERVICE_NAME = AttributeKey.stringKey("service.name");

    /** Metrics have a page of their own, logs go to standard error, and the sender that ships speaks HTTP only. */
    private static final Map<String, String> DEFAULTS = Map.of(
            "otel.metrics.exporter", "none",
            "otel.logs.exporter", "none",
            "otel.exporter.otlp.protocol", "http/protobuf");

    /** The one that somebody else has set up: a bean of the user's, an agent, Camel's tracer; null when there is none. */
    static @Nullable OpenTelemetry find(Registry registry) {
        OpenTelemetry bean = registry.findSingleByType(OpenTelemetry.class);
        if (bean != null || !GlobalOpenTelemetry.isSet()) {
            return bean;
        }
        OpenTelemetry global = GlobalOpenTelemetry.get();
        if (global.getTracerProvider() == TracerProvider.noop()) {
            throw new IllegalStateException(
                    "gateway.tracing: the global OpenTelemetry makes no spans; something, such as"
                            + " camel.opentelemetry2, asked for it before it was set up"
                            + " (expected: OTEL_JAVA_GLOBAL_AUTOCONFIGURE_ENABLED=true)");
        }
        return global;
    }

    static Sdk make(String gateway) {
        return new Sdk(AutoConfiguredOpenTelemetrySdk.builder()
                .addPropertiesSupplier(() -> DEFAULTS)
                .addResourceCustomizer((resource, properties) -> named(resource, gateway))
                .disableShutdownHook()
                .build()
                .getOpenTelemetrySdk());
    }

    private static Resource named(Resource resource, String gateway) {
        String name = resource.getAttribute(SERVICE_NAME);
        boolean unknown = name == null || name.startsWith("unknown_service");
        return unknown ? resource.toBuilder().put(SERVICE_NAME, gateway).build() : resource;
    }

    /** Sends the last spans, within a limit. */
    void end() {
        openTelemetry.shutdown().join(FLUSH_LIMIT_SECONDS, TimeUnit.SECONDS);
    }
}
