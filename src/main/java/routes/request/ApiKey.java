package routes.request;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import routes.quota.Quota;

/**
 * Who asks: a client's key after it was recognised. Holds nothing secret; {@code id} and {@code tenant} may be logged.
 *
 * @param id what usage lines and logs call the key, such as {@code team-a-prod}
 * @param tenant who pays
 * @param models names of the models that the key may use; one that is {@code *} stands for every model
 * @param expiresAtEpochMillis first millisecond in which the key is no longer valid; {@link #NEVER} for none
 * @param quota what it may use, and how its requests are treated
 * @param cacheSalt its tenant's, where models or the key itself ask for it; null for none
 */
public record ApiKey(
        String id,
        String tenant,
        Set<String> models,
        long expiresAtEpochMillis,
        Quota quota,
        @Nullable CacheSalt cacheSalt) {

    /** The set of models of a key that may use them all. */
    public static final Set<String> ALL_MODELS = Set.of("*");

    public static final long NEVER = Long.MAX_VALUE;

    public ApiKey {
        models = models.contains("*") ? ALL_MODELS : Set.copyOf(models);
        if (id.isBlank()) {
            throw new IllegalArgumentException("id: blank (expected: a name)");
        }
        if (tenant.isBlank()) {
            throw new IllegalArgumentException("tenant: blank (expected: a name)");
        }
    }

    /** A key without a salt. */
    public ApiKey(String id, String tenant, Set<String> models, long expiresAtEpochMillis, Quota quota) {
        this(id, tenant, models, expiresAtEpochMillis, quota, null);
    }

    /** A key without limits and salt. */
    public ApiKey(String id, String tenant, Set<String> models, long expiresAtEpochMillis) {
        this(id, tenant, models, expiresAtEpochMillis, Quota.UNLIMITED, null);
    }

    /** The same key with this quota. */
    public ApiKey with(Quota other) {
        return new ApiKey(id, tenant, models, expiresAtEpochMillis, other, cacheSalt);
    }

    /** The same key with this salt. */
    public ApiKey with(@Nullable CacheSalt other) {
        return new ApiKey(id, tenant, models, expiresAtEpochMillis, quota, other);
    }

    /** Whether the key may use the model that the routes know by this name; exact, no case folding. */
    public boolean mayUse(String model) {
        return models == ALL_MODELS || models.contains(model);
    }
}
