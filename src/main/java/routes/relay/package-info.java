/**
 * The way of an answer from a replica to its client: bytes leave as they came, while an observer beside them follows
 * the framing, the events and the JSON inside. Buffers in, buffers out: no channels, no timers, no threads.
 *
 * <p>{@link routes.relay.AnswerRelay} takes what was read from the replica and hands on what may go to the client. It
 * says where the answer ends, and never calls a cut-off answer complete. Only the usage-only event that the gateway
 * itself asked for is ever taken out of a stream. {@link routes.relay.AnswerFacts} is what was learned on the way:
 * token counts, how it finished, whether it failed.
 *
 * <p>One pass over the bytes of a read: {@code ChunkScanner} finds the data between chunk framing, {@code EventScanner}
 * finds {@code data:} lines in it, {@code AnswerWalker} follows the JSON in those. Each keeps its state in a few
 * fields, so that a read may end anywhere.
 */
@NullMarked
package routes.relay;

import org.jspecify.annotations.NullMarked;
