package routes.quota;

/**
 * What a request asks for, and when.
 *
 * @param requests how many it counts as
 * @param tokens estimate of its prompt, 1 or more
 * @param money what that costs, in billionths; 0 only for a free model
 * @param nanos the monotonic clock
 * @param millis the wall clock, since the epoch
 */
record Ask(int requests, long tokens, long money, long nanos, long millis) {}
