/**
 * The balancer {@code affinity}: keeps a conversation on the replica whose prefix cache is warm.
 */
@NullMarked
package routes.affinity;

import org.jspecify.annotations.NullMarked;
