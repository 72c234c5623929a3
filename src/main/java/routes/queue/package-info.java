/**
 * The queue in front of a pool's replicas: who waits for a slot, in which order, and who is woken when one frees. Knows
 * replicas and slots, nothing of HTTP or Camel.
 */
@NullMarked
package routes.queue;

import org.jspecify.annotations.NullMarked;
