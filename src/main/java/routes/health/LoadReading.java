package routes.health;

/**
 * What a replica reported about its load.
 *
 * @param running requests that it ran, whoever sent them
 * @param waiting requests that it kept waiting
 * @param atNanos when, of {@link System#nanoTime()}
 */
public record LoadReading(long running, long waiting, long atNanos) {}
