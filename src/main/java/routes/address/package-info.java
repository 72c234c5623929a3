/**
 * Where replicas are: the addresses behind names and Kubernetes services, followed while the gateway runs.
 *
 * <p>Both watches listen to {@link routes.replica.Replicas} for groups that they can find members of, and tell each group
 * what they find. Nothing here is asked by a request: a request uses the addresses that were found last.
 */
@NullMarked
package routes.address;

import org.jspecify.annotations.NullMarked;
