/**
 * A span for each inference request, by OpenTelemetry.
 *
 * <p>OpenTelemetry is an optional part of the distribution. Nothing outside this package knows it, and nothing in here is
 * touched while {@code gateway.tracing} is off: what requests carry is a {@link routes.request.Trace}.
 *
 * <p>{@link routes.tracing.Spans} begins the spans; the SDK decides which of them are sampled and sends them on threads of
 * its own. Nothing becomes the current context of a thread: many requests share an event loop.
 */
@NullMarked
package routes.tracing;

import org.jspecify.annotations.NullMarked;
