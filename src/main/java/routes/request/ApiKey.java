package routes.request;

import java.util.Set;
import routes.quota.Quota;

/**
 * Who asks: a client's key after it was recognised. Holds nothing secret; {@code id} and {@code tenant} may be logged.
 *
 * @param id what usage lines and logs call the key, such as {@code team-a-prod}
 * @param tenant who pays
 * @param models names of the models that the key may use; one that is {@code *} stands for every model
 * @param expiresAtEpochMillis first millisecond in which the key is no longer valid; {@link #NEVER} for none
 * @param quota what it may use, and how its requests are treated
 */
public record ApiKey(String id, String tenant, Set<String> models, long expiresAtEpochMillis, Quota quota) {

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

    /** A key without limits. */
    public ApiKey(String id, String tenant, Set<String> models, long expiresAtEpochMillis) {
        this(id, tenant, models, expiresAtEpochMillis, Quota.UNLIMITED);
    }

    /** The same key with this quota. */
    public ApiKey with(Quota other) {
        return new ApiKey(id, tenant, models, expiresAtEpochMillis, other);
    }

    /** Whether the key may use the model that the routes know by this name; exact, no case folding. */
    public boolean mayUse(String model) {
        return models == ALL_MODELS || models.contains(model);
    }
}
