package routes.affinity;

/**
 * A prefix that is used often.
 *
 * @param hash of all that stands before its end
 * @param uses within {@link Tuning.Homes#period}, at all gateways, as far as this one's counts tell
 * @param homes replicas that it is kept on
 * @param ageNanos since its last use
 */
public record HotPrefix(long hash, double uses, int homes, long ageNanos) {}
