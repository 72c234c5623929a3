/**
 * What every stage needs of the network: the event loops, their timer wheels and read buffers.
 *
 * <p>One request lives on one event loop: its client's channel, its upstream channel, its timers and its state.
 */
@NullMarked
package routes.net;

import org.jspecify.annotations.NullMarked;
