package routes.tracing;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.camel.spi.Registry;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import routes.request.Api;
import routes.request.InferenceRequest;
import routes.telemetry.RequestMeters;

/**
 * Begins a span for each inference request; the SDK's sampler decides at its head whether it is one.
 *
 * <p><b>Threading:</b> any thread; {@link #close} blocks. <b>Failure:</b> what a sampler or a span processor throws is logged
 * once and costs the span, never the request.
 */
final class Spans implements Tracing {

    private static final Logger LOG = LoggerFactory.getLogger(Spans.class);
    private static final String SCOPE = "io.dromedary";

    private final Tracer tracer;
    private final Runnable end;
    private final AtomicBoolean failed = new AtomicBoolean();

    private Spans(OpenTelemetry openTelemetry, Runnable end) {
        this.tracer = openTelemetry.getTracer(SCOPE);
        this.end = end;
    }

    static Spans open(Registry registry, String gateway) {
        OpenTelemetry there = Sdk.find(registry);
        if (there != null) {
            return new Spans(there, () -> {});
        }
        Sdk own = Sdk.make(gateway);
        registry.bind("openTelemetry", OpenTelemetry.class, own.openTelemetry());
        return new Spans(own.openTelemetry(), own::end);
    }

    /** Begins the request's span, unless it is none that a model answers or it isn't sampled. */
    @Override
    public void begun(InferenceRequest request) {
        if (request.target().body() == Api.Body.NONE) {
            return;
        }
        try {
            Span span = start(request);
            if (span.isRecording()) {
                request.trace(new RequestSpan(span, this));
            }
        } catch (RuntimeException e) {
            failed(e);
        }
    }

    private Span start(InferenceRequest request) {
        Api api = request.target();
        Context parent =
                W3CTraceContextPropagator.getInstance().extract(Context.root(), request.head(), ParentHeaders.GETTER);
        String operation = RequestMeters.operation(api);
        return tracer.spanBuilder(operation)
                .setParent(parent)
                .setSpanKind(SpanKind.SERVER)
                .setAttribute(Names.OPERATION, operation)
                .setAttribute(Names.PROVIDER, "vllm")
                .setAttribute(Names.METHOD, api.method())
                .setAttribute(Names.ROUTE, api.path())
                .startSpan();
    }

    void failed(RuntimeException e) {
        if (failed.compareAndSet(false, true)) {
            LOG.warn("A span was lost, and so may be others; this is said once", e);
        }
    }

    @Override
    public void close() {
        end.run();
    }
}
