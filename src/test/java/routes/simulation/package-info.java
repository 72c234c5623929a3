/** The queue and the rule of the balancer on virtual time, against modelled replicas: what waiting is like under load. */
@NullMarked
package routes.simulation;

import org.jspecify.annotations.NullMarked;
