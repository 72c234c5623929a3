/** What operators see: counters of requests by outcome, gauges of what is held, readiness. */
@NullMarked
package routes.telemetry;

import org.jspecify.annotations.NullMarked;
