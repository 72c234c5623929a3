package routes.replica;

/**
 * What a route says about the server behind a replica. Routes that name the same server must agree.
 *
 * @param slots most requests of this gateway that run there at once, 1 or more
 * @param health how its health is probed
 * @param loadPath where it reports its load, such as {@code /metrics}; empty when it does not
 * @param trustStore a PEM file with the certificates that {@code https} trusts; empty for the system's
 */
public record ReplicaOptions(int slots, HealthCheck health, String loadPath, String trustStore) {

    /**
     * A {@code GET} that tells whether a replica can serve.
     *
     * @param path such as {@code /health}; empty when it is not probed and counts as up
     * @param lowestStatus the lowest status of a good answer
     * @param highestStatus the highest
     */
    public record HealthCheck(String path, int lowestStatus, int highestStatus) {

        /** A replica that is not probed. */
        public static final HealthCheck NONE = new HealthCheck("", 200, 299);

        public boolean isProbed() {
            return !path.isEmpty();
        }

        public boolean isGood(int status) {
            return status >= lowestStatus && status <= highestStatus;
        }
    }

    /** A replica of which only its slots are known: not probed, load unknown, the system's trust store. */
    public static ReplicaOptions slots(int slots) {
        return new ReplicaOptions(slots, HealthCheck.NONE, "", "");
    }

    /** @throws IllegalArgumentException saying what is expected */
    public ReplicaOptions {
        if (slots < 1) {
            throw new IllegalArgumentException("slots: " + slots + " (expected: >= 1)");
        }
    }
}
