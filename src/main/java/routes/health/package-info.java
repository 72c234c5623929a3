/**
 * Watches the replicas from the event loop that serves no requests: whether they can serve, and how busy they are.
 *
 * <p>{@link routes.health.HealthWatch} is told by the registry which replicas there are, and keeps a {@link
 * routes.health.ReplicaWatch} for each: a {@link routes.health.HealthProbe}, whose answers {@link routes.health.Verdict}
 * counts, and a {@link routes.health.LoadProbe}, whose answers {@link routes.health.MetricsScanner} reads. Both ask over a
 * {@link routes.health.GetClient} of their own. What they find stands in {@link routes.replica.Replica}; requests never wait
 * for any of this.
 */
@NullMarked
package routes.health;

import org.jspecify.annotations.NullMarked;
