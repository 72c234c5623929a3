/**
 * A stand-in for a vLLM server, without a model or a GPU: it speaks vLLM's HTTP API and answers with a fixed passage at
 * a chosen pace. {@link routes.demo.DemoReplica} starts one from {@link routes.demo.DemoOptions}, in a test or from the
 * command line, so that the gateway can be tried, shown and measured on any machine.
 *
 * <p>A request's way: {@code DemoConnection} (HTTP, keep-alive) → {@code DemoRoutes} (paths, key, errors) →
 * {@code CompletionRequest} (fields) → {@code Generation} (slots, pace, abort) → an {@code Output} (events or one
 * JSON). The gateway itself uses nothing of this package.
 *
 * <p><b>Threading</b>: one event loop per replica; all state but the counters is confined to it.
 */
@NullMarked
package routes.demo;

import org.jspecify.annotations.NullMarked;
