package routes.auth;

import java.util.Set;
import java.util.TreeSet;
import routes.request.ApiKey;

/**
 * What may be shown of a key.
 *
 * @param models names of models, in order; {@code *} for all
 * @param expiresAtEpochMillis {@link ApiKey#NEVER} for never
 * @param enabled false when it was revoked
 * @param fingerprint the first digits of its hash: enough to tell keys apart, too few to test a guess
 */
public record KeySummary(
        String id, String tenant, Set<String> models, long expiresAtEpochMillis, boolean enabled, String fingerprint) {

    private static final int DIGITS = 8;

    static KeySummary of(KeyEntry entry) {
        ApiKey key = entry.key();
        return new KeySummary(
                key.id(),
                key.tenant(),
                new TreeSet<>(key.models()),
                key.expiresAtEpochMillis(),
                entry.enabled(),
                entry.hash().hex().substring(0, DIGITS));
    }

    public boolean isExpired(long nowMillis) {
        return nowMillis >= expiresAtEpochMillis;
    }
}
