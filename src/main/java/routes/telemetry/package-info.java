/**
 * What operators see: metrics, readiness and a console.
 *
 * <p>{@link routes.telemetry.RequestMeters} takes one record of each request that ends, in arrays that stand ready; {@link
 * routes.telemetry.Gauges} registers what is read only when Prometheus asks. Labels come from the configuration and from
 * closed sets, never from a client.
 */
@NullMarked
package routes.telemetry;

import org.jspecify.annotations.NullMarked;
