package routes.auth;

import org.jspecify.annotations.Nullable;
import routes.request.ApiKey;

/**
 * The {@link KeyStore} in force, which a reload replaces whole.
 *
 * <p><b>Threading:</b> any thread; a look-up sees the old store or the new one, never a mixture.
 */
public final class Keys {

    private volatile KeyStore current;

    public Keys(KeyStore current) {
        this.current = current;
    }

    /** Takes effect at the next look-up. Requests that run keep the key as they found it. */
    public void replace(KeyStore next) {
        current = next;
        next.tookForce();
    }

    public KeyStore current() {
        return current;
    }

    /** As {@link KeyStore#find}. */
    public @Nullable ApiKey find(byte[] secret, int offset, int length, long nowMillis) {
        return current.find(secret, offset, length, nowMillis);
    }
}
