package routes.vllm;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The keys of one endpoint, used in turn. A key that the server refused rests; while all of them do, the one that rests
 * least is used.
 *
 * <p><b>Threading:</b> any thread; {@link #replace} by one at a time.
 */
final class Credentials {

    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    private final String header;
    private final long restNanos;
    private final AtomicInteger turn = new AtomicInteger();
    private volatile Credential[] all = {};

    /**
     * No keys yet.
     *
     * @param header in lower case
     * @param restNanos how long a refused key rests when the server doesn't say
     */
    Credentials(String header, long restNanos) {
        this.header = header;
        this.restNanos = restNanos;
    }

    /**
     * From now on these keys. One that was there before stays as it is, its rest included.
     *
     * @return whether anything has changed
     * @throws IllegalArgumentException for a key that no header may have; then nothing has
     */
    boolean replace(List<String> keys) {
        Credential[] before = all;
        Credential[] next = new Credential[keys.size()];
        for (int i = 0; i < next.length; i++) {
            Credential key = new Credential(header, keys.get(i), i + 1);
            next[i] = Arrays.stream(before)
                    .filter(each -> each.number() == key.number() && Arrays.equals(each.line(), key.line()))
                    .findFirst()
                    .orElse(key);
        }
        all = next;
        return !Arrays.equals(before, next);
    }

    /** The next key to use; null when there are none. */
    @Nullable
    Credential next() {
        Credential[] keys = all;
        if (keys.length < 2) {
            return keys.length == 0 ? null : keys[0];
        }
        long now = System.nanoTime();
        int first = (turn.getAndIncrement() & Integer.MAX_VALUE) % keys.length;
        Credential least = keys[first];
        for (int i = 1; i < keys.length && least.restLeft(now) > 0; i++) {
            Credential other = keys[(first + i) % keys.length];
            if (other.restLeft(now) < least.restLeft(now)) {
                least = other;
            }
        }
        return least;
    }

    /**
     * The server refused a key, for good or for now.
     *
     * @param retryAfterSeconds as the server asked for; -1 when it did not
     * @return whether another key is awake
     */
    boolean refused(Credential key, int retryAfterSeconds) {
        long now = System.nanoTime();
        long rest = retryAfterSeconds < 0 ? restNanos : retryAfterSeconds * NANOS_PER_SECOND;
        key.restUntil(now + rest);
        for (Credential each : all) {
            if (each != key && each.restLeft(now) == 0) {
                return true;
            }
        }
        return false;
    }
}
