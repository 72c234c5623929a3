package routes.auth;

import routes.request.ApiKey;

/** One key as it is configured: what it grants, and the hash of the secret that proves it. */
public final class KeyEntry {

    private final ApiKey key;
    private final Sha256 hash;
    private final boolean enabled;

    KeyEntry(ApiKey key, Sha256 hash, boolean enabled) {
        this.key = key;
        this.hash = hash;
        this.enabled = enabled;
    }

    /** An enabled key with a secret that is known to the program, as in the dev profile. */
    public static KeyEntry ofSecret(ApiKey key, String secret) {
        if (secret.isBlank()) {
            throw new IllegalArgumentException("key '" + key.id() + "': the secret is blank");
        }
        return new KeyEntry(key, Sha256.of(secret), true);
    }

    ApiKey key() {
        return key;
    }

    Sha256 hash() {
        return hash;
    }

    /** False keeps the id and the secret taken, and refuses the secret. */
    boolean enabled() {
        return enabled;
    }
}
