package routes.auth;

import routes.quota.Terms;
import routes.request.ApiKey;

/** One key as it is configured: what it grants, and the hash of the secret that proves it. */
public final class KeyEntry {

    private final ApiKey key;
    private final Sha256 hash;
    private final boolean enabled;
    private final Terms terms;
    private final boolean salted;

    KeyEntry(ApiKey key, Sha256 hash, boolean enabled, Terms terms, boolean salted) {
        this.key = key;
        this.hash = hash;
        this.enabled = enabled;
        this.terms = terms;
        this.salted = salted;
    }

    /** An enabled key with a secret that is known to the program, as in the dev profile, and the quota that it carries. */
    public static KeyEntry ofSecret(ApiKey key, String secret) {
        if (secret.isBlank()) {
            throw new IllegalArgumentException("key '" + key.id() + "': the secret is blank");
        }
        return new KeyEntry(key, Sha256.of(secret), true, Terms.NONE, false);
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

    /** Whether its tenant has entries of its own in prefix caches, whatever the model. */
    boolean salted() {
        return salted;
    }

    /** What is agreed with this key alone. */
    Terms terms() {
        return terms;
    }
}
