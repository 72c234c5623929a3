package routes.command.litellm;

import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import routes.command.Environment;
import routes.config.Setting;

/**
 * Converts a {@code config.yaml} of LiteLLM's proxy. Every entry of the file is converted or reported.
 *
 * <p><b>Failure:</b> {@link IllegalArgumentException} with one line when the file is none or no model can be converted.
 */
public final class LiteLlm {

    private static final int MOST_ATTEMPTS = 16;

    private final Report report = new Report();
    private final Values values;
    private final Map<String, String> properties = new LinkedHashMap<>();
    private final Map<String, List<Deployment>> groups = new LinkedHashMap<>();
    private final Map<String, Set<String>> aliases = new LinkedHashMap<>();
    private final Map<String, String> fallbacks = new LinkedHashMap<>();

    private LiteLlm(Environment environment) {
        this.values = new Values(environment, report);
    }

    /** @param source what messages call the text */
    public static Conversion convert(String source, String text, Environment environment) throws IOException {
        try {
            Object document = new Load(LoadSettings.builder()
                            .setLabel(source)
                            .setAllowDuplicateKeys(true)
                            .build())
                    .loadFromString(text);
            return new LiteLlm(environment).convert(Section.of("", document));
        } catch (MarkedYamlEngineException e) {
            String line =
                    e.getProblemMark().map(mark -> ":" + (mark.getLine() + 1)).orElse("");
            throw new IllegalArgumentException(source + line + ": is not valid YAML: " + e.getProblem(), e);
        } catch (YamlEngineException e) {
            throw new IllegalArgumentException(source + ": is not valid YAML", e);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(source + ": " + e.getMessage(), e);
        }
    }

    private Conversion convert(Section file) throws IOException {
        Section router = file.section("router_settings");
        Section litellm = file.section("litellm_settings");
        Section general = file.section("general_settings");
        models(file, router);
        if (groups.isEmpty()) {
            throw new IllegalArgumentException("no entry of model_list can be converted (expected: at least one)"
                    + (report.missing().isEmpty() ? "" : "; " + String.join("; ", report.missing())));
        }
        aliases(router.section("model_group_alias"));
        List<Object> ours = router.list("fallbacks");
        fallbacks(ours.isEmpty() ? litellm.list("fallbacks") : ours);
        settings(router, litellm, general);
        String master = masterKey(general);
        String balancer = balancer(router.text("routing_strategy"));
        Section variables = file.section("environment_variables");
        for (String name : variables.left()) {
            report.differs(variables.path(name), "set it where the gateway runs, if it needs it");
        }
        report.leftOf(router);
        report.leftOf(litellm);
        report.leftOf(general);
        report.leftOf(file);
        RoutesText routes = new RoutesText(groups, aliases, fallbacks, balancer, report);
        String text = routes.text();
        properties.putAll(values.secrets());
        return new Conversion(text, prices(), properties, master, groups.size(), routes.servers(), report);
    }

    private void models(Section file, Section router) {
        BigDecimal slots = values.number(router, "default_max_parallel_requests");
        Integer each = slots == null || slots.signum() < 1 ? null : Integer.valueOf(slots.intValue());
        DeploymentReader reader = new DeploymentReader(report, values, file.list("credential_list"));
        int index = 0;
        for (Object entry : file.list("model_list")) {
            reader.read(index++, entry, each)
                    .ifPresent(deployment -> groups.computeIfAbsent(deployment.group(), name -> new ArrayList<>())
                            .add(deployment));
        }
    }

    private void aliases(Section section) {
        for (String alias : section.left()) {
            Object value = section.take(alias);
            Object target = value instanceof Map<?, ?> map ? map.get("model") : value;
            String where = section.path(alias);
            if (!groups.containsKey(String.valueOf(target))) {
                report.missing(where, "leads to a model that isn't converted (" + target + ")");
            } else if (groups.containsKey(alias)
                    || !DeploymentReader.NAME.matcher(alias).matches()) {
                report.missing(where, "not a name of its own (expected: one that no model has, without commas)");
            } else {
                aliases.computeIfAbsent(String.valueOf(target), name -> new LinkedHashSet<>())
                        .add(alias);
            }
        }
    }

    private void fallbacks(List<Object> given) {
        for (Object each : given) {
            Section section = Section.of("fallbacks", each);
            for (String model : section.left()) {
                Object value = section.take(model);
                List<?> targets = value instanceof List<?> list ? list : value == null ? List.of() : List.of(value);
                fallback(section.path(model), model, targets);
            }
        }
        if (!fallbacks.isEmpty()) {
            report.differs(
                    "fallbacks",
                    "are taken when no replica can be reached or the queue is full, not after errors of the model");
        }
    }

    private void fallback(String where, String model, List<?> targets) {
        if (!groups.containsKey(model)) {
            report.missing(where, "the model isn't converted, or is a pattern");
            return;
        }
        for (Object target : targets) {
            String name = String.valueOf(target);
            if (fallbacks.containsKey(model)) {
                report.missing(where, name + ": a model has one fallback (expected: give that one a fallback)");
            } else if (!groups.containsKey(name) || leadsBack(name, model)) {
                report.missing(where, name + ": isn't converted, or would lead in a circle");
            } else {
                fallbacks.put(model, name);
            }
        }
    }

    private boolean leadsBack(String from, String to) {
        Set<String> seen = new HashSet<>();
        for (String at = from; at != null && seen.add(at); at = fallbacks.get(at)) {
            if (at.equals(to)) {
                return true;
            }
        }
        return false;
    }

    private void settings(Section router, Section litellm, Section general) {
        String own = values.duration(router, "timeout");
        String shared = values.duration(litellm, "request_timeout");
        put(Setting.TOTAL_TIMEOUT.key(), own == null ? shared : own);
        if (own != null && shared != null) {
            report.differs("litellm_settings.request_timeout", "router_settings.timeout counts");
        }
        if (own != null || shared != null) {
            report.differs("timeout", "bounds streamed answers too, to their last byte (gateway.total-timeout)");
        }
        String stream = values.duration(router, "stream_timeout");
        put(Setting.HEAD_TIMEOUT.key(), stream);
        put(Setting.STALL_TIMEOUT.key(), stream);
        BigDecimal retries = values.number(router, "num_retries");
        BigDecimal same = values.number(litellm, "num_retries");
        BigDecimal tries = retries == null ? same : retries;
        if (retries != null && same != null) {
            report.differs("litellm_settings.num_retries", "router_settings.num_retries counts");
        }
        if (tries != null) {
            put(
                    Setting.MAX_ATTEMPTS.key(),
                    Integer.toString(Math.max(1, Math.min(MOST_ATTEMPTS, tries.intValue() + 1))));
            report.differs("num_retries", "only before the first byte, and on another replica where there is one");
        }
        BigDecimal cooldown = values.number(router, "cooldown_time");
        if (cooldown != null && cooldown.signum() > 0) {
            put("camel.resilience4j.waitDurationInOpenState", Integer.toString(Math.max(1, cooldown.intValue())));
            report.differs("cooldown_time", "after connections that fail; error statuses never count");
        }
        BigDecimal parallel = values.number(general, "max_parallel_requests");
        if (parallel != null) {
            report.missing("general_settings.max_parallel_requests", Advice.BY_KEY.getOrDefault("rpm", ""));
        }
    }

    private void put(String property, @Nullable String value) {
        if (value != null) {
            properties.put(property, value);
        }
    }

    private @Nullable String masterKey(Section general) {
        String key = general.text("master_key");
        if (key == null || key.isEmpty()) {
            report.differs("general_settings.master_key", "there is none, and no gateway without keys; one was made");
            return null;
        }
        String secret = values.resolved(key);
        if (secret == null || secret.isBlank()) {
            report.differs("general_settings.master_key", key + " is not set here; a new key was made");
            return null;
        }
        report.differs(
                "general_settings.master_key",
                "is a key like others, which may use every model; only its hash is kept, and keys are managed by"
                        + " 'dromedary keys'");
        return secret;
    }

    private String balancer(@Nullable String strategy) {
        if (strategy == null || strategy.equals("simple-shuffle")) {
            return "affinity";
        }
        if (strategy.equals("least-busy")) {
            report.differs(
                    "router_settings.routing_strategy",
                    "least-loaded; affinity, which also keeps prefix caches warm, is usually better");
            return "least-loaded";
        }
        report.differs(
                "router_settings.routing_strategy",
                "affinity: a replica is chosen by its warm prefix cache and its load (" + strategy
                        + " has no counterpart)");
        return "affinity";
    }

    private String prices() {
        StringBuilder text = new StringBuilder();
        groups.forEach((name, deployments) -> {
            Deployment.Price first = null;
            for (Deployment each : deployments) {
                if (first != null && each.price() != null && !first.equals(each.price())) {
                    report.differs(each.where(), "a model has one price: that of its first deployment counts");
                }
                first = first == null ? each.price() : first;
            }
            if (first != null) {
                text.append("  \"").append(name).append("\": { input: ").append(first.input());
                text.append(first.cached() == null ? "" : ", cached-input: " + first.cached());
                text.append(", output: ").append(first.output()).append(" }\n");
            }
        });
        return text.isEmpty() ? "" : "prices:\n" + text;
    }
}
