package routes.command.litellm;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A converted configuration.
 *
 * @param routes the text of {@code routes.yaml}
 * @param prices the part {@code prices} of {@code keys.yaml}; empty for none
 * @param properties of {@code application.properties}, secrets included
 * @param masterKey the secret of LiteLLM's master key, of which only the hash may be kept; null when it isn't known here
 * @param models how many
 * @param replicas how many, each counted once
 */
public record Conversion(
        String routes,
        String prices,
        Map<String, String> properties,
        @Nullable String masterKey,
        int models,
        int replicas,
        Report report) {

    /** Without the secrets in it. */
    @Override
    public String toString() {
        return models + " models, " + replicas + " replicas";
    }
}
