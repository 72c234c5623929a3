package routes.quota;

/**
 * How a key's requests are treated, beside what limits them.
 *
 * @param priority class in the queue: a lower one is served before every higher one
 * @param weight share of the queue, 1 or more
 * @param endsStreams whether a running stream is ended as soon as a budget is used up
 */
record Standing(int priority, int weight, boolean endsStreams) {

    static final Standing DEFAULT = new Standing(0, 1, false);

    /** The key's own word counts before its tenant's. */
    static Standing of(Terms key, Terms tenant) {
        Standing standing = new Standing(
                (int) pick(key, tenant, Term.PRIORITY, DEFAULT.priority),
                (int) pick(key, tenant, Term.WEIGHT, DEFAULT.weight),
                pick(key, tenant, Term.ON_EXHAUSTED, 0) == 1);
        return standing.equals(DEFAULT) ? DEFAULT : standing;
    }

    private static long pick(Terms key, Terms tenant, Term term, long otherwise) {
        return key.get(term, tenant.get(term, otherwise));
    }
}
