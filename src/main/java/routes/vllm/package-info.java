/**
 * The {@code vllm:} component: sends a request to one OpenAI-compatible server and relays its answer.
 *
 * <p>{@link routes.vllm.VllmProducer} begins an attempt; {@link routes.vllm.UpstreamPool} has or makes a connection on the
 * request's own event loop, over TLS for {@code https}; {@link routes.vllm.RequestWriter} writes head and edited body, with the
 * next of the endpoint's {@link routes.vllm.Credentials}; {@link
 * routes.vllm.AnswerHeadParser} reads what comes back and {@link routes.vllm.UpstreamConnection} relays it, with {@link
 * routes.relay.AnswerRelay} looking on.
 */
@NullMarked
package routes.vllm;

import org.jspecify.annotations.NullMarked;
