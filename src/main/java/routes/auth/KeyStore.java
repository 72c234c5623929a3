package routes.auth;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import routes.auth.KeysFile.Tenant;
import routes.quota.Quota;
import routes.quota.Quotas;
import routes.request.ApiKey;
import routes.request.CacheSalts;

/**
 * The keys that clients may use, found by the hash of their secret. Knows no secret.
 *
 * <p><b>Threading:</b> immutable; any thread may look up.
 */
public final class KeyStore {

    private final Map<Sha256, ApiKey> keys;
    private final @Nullable Quotas quotas;

    private KeyStore(Map<Sha256, ApiKey> keys, @Nullable Quotas quotas) {
        this.keys = keys;
        this.quotas = quotas;
    }

    /**
     * Reads {@code keys.yaml}.
     *
     * <p><b>Failure:</b> {@link IllegalArgumentException} with one line that names the file, the place and what is
     * expected there; never a part of a secret or a hash. Nothing has changed then.
     *
     * @param quotas the counters, with which the keys go on where they have some already
     * @param salts makes the salts of tenants, which all keys get: a model's route may ask for them
     */
    public static KeyStore load(Path file, Quotas quotas, CacheSalts salts) {
        return of(file + ": ", KeysFile.read(file), quotas, salts);
    }

    /**
     * The same from text.
     *
     * @param name what messages call the source, such as {@code keys.yaml}
     */
    public static KeyStore parse(String name, String text, Quotas quotas, CacheSalts salts) {
        return of(name + ": ", KeysFile.parse(name, text), quotas, salts);
    }

    /**
     * The same from entries made by the program; their keys keep the quotas that they carry.
     *
     * @throws IllegalArgumentException if two entries share an id or a secret
     */
    public static KeyStore of(List<KeyEntry> entries) {
        refuseDoubles("", entries);
        Map<Sha256, ApiKey> keys = new HashMap<>();
        for (KeyEntry entry : entries) {
            if (entry.enabled()) {
                keys.put(entry.hash(), entry.key());
            }
        }
        return new KeyStore(keys, null);
    }

    private static KeyStore of(String source, KeysFile.Contents contents, Quotas quotas, CacheSalts salts) {
        refuseDoubles(source, contents.keys());
        Map<Sha256, ApiKey> keys = new HashMap<>();
        for (KeyEntry entry : contents.keys()) {
            if (entry.enabled()) {
                ApiKey key = entry.key();
                Tenant tenant = contents.tenants().getOrDefault(key.tenant(), Tenant.UNKNOWN);
                Quota quota = quotas.quota(key.id(), entry.terms(), key.tenant(), tenant.terms(), contents.prices());
                boolean salted = entry.salted() || tenant.salted();
                if (salted) {
                    salts.require(source + "key '" + key.id() + "': cache-salt");
                }
                keys.put(entry.hash(), key.with(quota).with(salts.of(key.tenant(), salted)));
            }
        }
        return new KeyStore(keys, quotas);
    }

    /** @throws IllegalArgumentException if two entries share an id or a secret */
    static void refuseDoubles(String source, List<KeyEntry> entries) {
        Map<Sha256, String> owners = new HashMap<>();
        Set<String> ids = new HashSet<>();
        for (KeyEntry entry : entries) {
            String id = entry.key().id();
            if (!ids.add(id)) {
                throw new IllegalArgumentException(
                        source + "two keys have the id '" + id + "' (expected: each its own)");
            }
            String owner = owners.putIfAbsent(entry.hash(), id);
            if (owner != null) {
                throw new IllegalArgumentException(
                        source + "keys '" + owner + "' and '" + id + "' have the same secret (expected: each its own)");
            }
        }
    }

    /** The store replaces another: counters that nobody needs any more can go. */
    void tookForce() {
        if (quotas != null) {
            Set<String> ids = new HashSet<>();
            Set<String> tenants = new HashSet<>();
            for (ApiKey key : keys.values()) {
                ids.add(key.id());
                tenants.add(key.tenant());
            }
            quotas.retain(ids, tenants);
        }
    }

    /**
     * The key that this secret proves, or null when there is none, it is disabled or it has expired.
     *
     * @param secret holds the client's secret as it was sent; borrowed
     * @param nowMillis wall-clock time since the epoch
     */
    public @Nullable ApiKey find(byte[] secret, int offset, int length, long nowMillis) {
        // comparing in constant time would hide nothing: who does not know the secret can not steer its hash
        ApiKey key = keys.get(Sha256.of(secret, offset, length));
        return key != null && nowMillis < key.expiresAtEpochMillis() ? key : null;
    }

    /** How many keys are enabled, those that have expired included. */
    public int size() {
        return keys.size();
    }
}
