/**
 * Replicas by identity: their slots and counters outlive routes, and whoever names the same server shares them.
 */
@NullMarked
package routes.replica;

import org.jspecify.annotations.NullMarked;
