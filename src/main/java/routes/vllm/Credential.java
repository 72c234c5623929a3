package routes.vllm;

import java.nio.charset.StandardCharsets;

/**
 * One key that the gateway shows to a server, and how long it is better not used.
 *
 * <p><b>Threading:</b> any thread.
 */
final class Credential {

    private final byte[] line;
    private final int number;

    /** Of {@link System#nanoTime()}; 0 when it is awake. */
    private volatile long restsUntilNanos;

    /**
     * @param header in lower case; {@code authorization} has the key as a bearer token, any other as it is
     * @param number its place in the list, from 1, for logs
     * @throws IllegalArgumentException for a key that no header may have; the message doesn't show it
     */
    Credential(String header, String key, int number) {
        if (!key.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
            throw new IllegalArgumentException(
                    "key " + number + " (expected: letters, digits and signs of ASCII only)");
        }
        String scheme = header.equals("authorization") ? "Bearer " : "";
        this.line = (header + ": " + scheme + key + "\r\n").getBytes(StandardCharsets.US_ASCII);
        this.number = number;
    }

    /** The whole header line. Borrows; do not change. */
    byte[] line() {
        return line;
    }

    int number() {
        return number;
    }

    /** Not before that time again, if it can be helped; never earlier than it has been told. */
    void restUntil(long nanos) {
        long before = restsUntilNanos;
        if (before == 0 || nanos - before > 0) {
            restsUntilNanos = nanos == 0 ? 1 : nanos;
        }
    }

    /** Nanoseconds; 0 when it is awake. */
    long restLeft(long nowNanos) {
        long until = restsUntilNanos;
        return until == 0 ? 0 : Math.max(0, until - nowNanos);
    }
}
