package routes.tracing;

import org.apache.camel.spi.Registry;
import routes.request.InferenceRequest;

/**
 * Gives requests their {@link routes.request.Trace}. Names no class of OpenTelemetry, so that it can say that there is none.
 *
 * <p><b>Threading:</b> any thread; {@link #close} blocks.
 */
public interface Tracing extends AutoCloseable {

    /**
     * Uses the OpenTelemetry in the registry, else the process's global one, else makes one as the environment says
     * ({@code OTEL_*}) and binds it.
     *
     * @param gateway name of the service, unless the environment has another one
     * @throws IllegalStateException when the distribution has no OpenTelemetry, or the global one does nothing
     */
    static Tracing open(Registry registry, String gateway) {
        try {
            Class.forName(
                    "io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk",
                    false,
                    Tracing.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(
                    "gateway.tracing: this distribution has no OpenTelemetry (expected: one built with -Ptracing)", e);
        }
        return Spans.open(registry, gateway);
    }

    /** A request's head is complete. */
    void begun(InferenceRequest request);

    /** Sends the last spans, within a limit. */
    @Override
    void close();
}
