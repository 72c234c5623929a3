package routes.quota;

/**
 * One limit that does not admit a request.
 *
 * @param waitNanos nanoseconds until it would, if nobody else came; {@link #NEVER} when it is larger than the limit
 */
record Refusal(Holder holder, Term term, long waitNanos) {

    static final long NEVER = Long.MAX_VALUE;

    boolean isForEver() {
        return waitNanos == NEVER;
    }

    long limit() {
        return holder.terms().limit(term);
    }
}
