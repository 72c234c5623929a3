package routes.request;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The {@code cache_salt} of one tenant: replicas share entries of their prefix caches only among requests with the same
 * salt, so that nobody learns from an answer's speed what another tenant has asked. Is itself a secret: never logged.
 *
 * <p><b>Threading:</b> immutable. <b>Ownership:</b> the arrays are shared; do not write to them.
 */
public final class CacheSalt {

    private final byte[] value;
    private final byte[] member;
    private final long hash;
    private final boolean everywhere;

    /** @param text letters, digits, dashes and underscores */
    CacheSalt(String text, long hash, boolean everywhere) {
        this.value = ('"' + text + '"').getBytes(StandardCharsets.US_ASCII);
        this.member = ("\"cache_salt\":\"" + text + "\",").getBytes(StandardCharsets.US_ASCII);
        this.hash = hash;
        this.everywhere = everywhere;
    }

    /** Whether it is for every model, not only for those whose routes ask for it. */
    boolean everywhere() {
        return everywhere;
    }

    /** The JSON string, in quotes. */
    byte[] value() {
        return value;
    }

    /** The member of an object that is not empty, to stand before the others. */
    byte[] member() {
        return member;
    }

    /** What it adds to an affinity key; the same in every gateway with the same secret. */
    long hash() {
        return hash;
    }

    /** Mixes what a salt adds into a key, so that requests with different salts do not prefer the same replica. */
    static long mix(long key, long salt) {
        long z = Long.rotateLeft(salt, 29) * 0x9e3779b97f4a7c15L ^ key;
        return (z ^ z >>> 32) * 0xd6e8feb86659fd93L;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof CacheSalt salt && everywhere == salt.everywhere && Arrays.equals(value, salt.value);
    }

    @Override
    public int hashCode() {
        return Long.hashCode(hash);
    }

    @Override
    public String toString() {
        return "CacheSalt";
    }
}
