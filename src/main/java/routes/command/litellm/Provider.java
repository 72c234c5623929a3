package routes.command.litellm;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Who serves a deployment, of those that speak OpenAI's API.
 *
 * @param model its own name for the model
 * @param base where it is unless the deployment says; empty when it must
 * @param vllm whether it has vLLM's health and metrics pages
 */
record Provider(String model, String base, boolean vllm) {

    private static final String OPENAI = "https://api.openai.com/v1";

    /** Prefixes of {@code litellm_params.model}, and where they lead by default. */
    private static final Map<String, String> COMPATIBLE = Map.of(
            "openai", OPENAI,
            "text-completion-openai", OPENAI,
            "custom_openai", "",
            "hosted_vllm", "",
            "litellm_proxy", "",
            "lm_studio", "",
            "llamafile", "",
            "xinference", "",
            "infinity", "");

    /** What LiteLLM takes for OpenAI's own without a prefix. */
    private static final Pattern OPENAI_MODEL =
            Pattern.compile("(gpt-|chatgpt-|o[0-9]|text-embedding-|babbage|davinci|ft:gpt).*");

    /** The provider of a deployment; empty when it isn't compatible. */
    static Optional<Provider> of(String model, @Nullable String custom) {
        int slash = model.indexOf('/');
        String prefix = slash < 0 ? "" : model.substring(0, slash).toLowerCase(Locale.ROOT);
        String base = COMPATIBLE.get(prefix);
        if (custom != null) {
            String name = base == null || !prefix.equals(custom) ? model : model.substring(slash + 1);
            return Optional.ofNullable(COMPATIBLE.get(custom)).map(own -> provider(custom, name, own));
        }
        if (base != null) {
            return Optional.of(provider(prefix, model.substring(slash + 1), base));
        }
        return OPENAI_MODEL.matcher(model).matches()
                ? Optional.of(provider("openai", model, OPENAI))
                : Optional.empty();
    }

    private static Provider provider(String name, String model, String base) {
        return new Provider(model, base, name.equals("hosted_vllm"));
    }

    /** What reports call those that can be converted. */
    static String expected() {
        return String.join(", ", new TreeSet<>(COMPATIBLE.keySet()));
    }
}
