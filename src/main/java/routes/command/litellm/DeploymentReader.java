package routes.command.litellm;

import java.math.BigDecimal;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import routes.replica.ReplicaAddress;

/** Reads the entries of {@code model_list}; those that can't be converted are reported and left out. */
final class DeploymentReader {

    /** What may stand in a route's address, and in a list of aliases. */
    static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._:@/-]*");

    private static final Pattern NO_KEY = Pattern.compile("(?i)none|empty|null|");

    private final Report report;
    private final Values values;
    private final Map<String, Map<?, ?>> credentials = new HashMap<>();

    DeploymentReader(Report report, Values values, List<Object> credentials) {
        this.report = report;
        this.values = values;
        for (Object each : credentials) {
            Section credential = Section.of("credential_list", each);
            String name = credential.text("credential_name");
            if (name != null && credential.take("credential_values") instanceof Map<?, ?> shared) {
                this.credentials.put(name, shared);
            }
        }
    }

    /** @param slotsUnlessGiven null when nothing says */
    Optional<Deployment> read(int index, Object entry, @Nullable Integer slotsUnlessGiven) {
        String place = "model_list[" + index + "]";
        Section outer = Section.of(place, entry);
        String group = outer.text("model_name");
        String where = place + " (" + group + ")";
        Section params = outer.section("litellm_params");
        Section info = outer.section("model_info");
        String credential = params.text("litellm_credential_name");
        Map<?, ?> shared = credential == null ? Map.of() : credentials.get(credential);
        if (shared == null) {
            report.missing(where, "there is no credential '" + credential + "' in credential_list");
        } else {
            params.otherwise(shared);
        }
        String model = params.text("model");
        if (group == null || model == null) {
            report.missing(place, "without model_name or litellm_params.model (expected: both)");
            return Optional.empty();
        }
        if (!NAME.matcher(group).matches() || model.contains("*")) {
            report.missing(where, "a pattern, or a name that a route can't have (expected: one model's whole name)");
            return Optional.empty();
        }
        String custom = params.text("custom_llm_provider");
        Optional<Provider> provider = Provider.of(model, custom);
        if (provider.isEmpty()) {
            report.missing(
                    where,
                    "its provider does not speak OpenAI's API (" + (custom == null ? model : custom) + "; expected: "
                            + Provider.expected() + "); left out");
            return Optional.empty();
        }
        return address(where, params, provider.get())
                .map(address -> rest(where, group, provider.get(), address, params, info, slotsUnlessGiven));
    }

    private Deployment rest(
            String where,
            String group,
            Provider provider,
            String address,
            Section params,
            Section info,
            @Nullable Integer slotsUnlessGiven) {
        BigDecimal slots = values.number(params, "max_parallel_requests");
        Deployment read = new Deployment(
                where,
                group,
                address,
                provider.model(),
                provider.vllm(),
                slots == null || slots.signum() < 1 ? slotsUnlessGiven : Integer.valueOf(slots.intValue()),
                keys(params),
                headers(params),
                new Deployment.Timeouts(values.duration(params, "timeout"), values.duration(params, "stream_timeout")),
                price(where, params, info));
        report.leftOf(params);
        report.leftOf(info);
        return read;
    }

    private Optional<String> address(String where, Section params, Provider provider) {
        String base = first(params.text("api_base"), params.text("base_url"));
        String given = base == null ? provider.base() : values.resolved(base);
        if (given == null) {
            report.missing(where, "api_base: " + base + " is not set here (expected: import where it is); left out");
            return Optional.empty();
        }
        if (given.isEmpty()) {
            report.missing(where, "without api_base (expected: http[s]://host:port/v1); left out");
            return Optional.empty();
        }
        String path = given.replaceAll("/+$", "");
        boolean v1 = path.endsWith("/v1");
        String root = v1 ? path.substring(0, path.length() - "/v1".length()) : path;
        try {
            ReplicaAddress address = ReplicaAddress.parse(root);
            if (!v1 && !address.basePath().isEmpty()) {
                report.missing(where, "api_base does not end in /v1, as requests do here; left out");
                return Optional.empty();
            }
            if (!v1) {
                report.differs(where, "api_base has no /v1; requests go to /v1/chat/completions and the like there");
            }
            return Optional.of(root);
        } catch (IllegalArgumentException e) {
            report.missing(where, "api_base: " + e.getMessage() + "; left out");
            return Optional.empty();
        }
    }

    private List<String> keys(Section params) {
        String key = params.text("api_key");
        if (key == null || NO_KEY.matcher(key).matches()) {
            if (key != null) {
                report.needless(params.path("api_key"));
            }
            return List.of();
        }
        return List.of(values.placeholder(key));
    }

    private Map<String, String> headers(Section params) {
        Map<String, String> headers = new LinkedHashMap<>();
        Object organization = params.take("organization");
        if (organization instanceof String text) {
            headers.put("OpenAI-Organization", text.startsWith(Values.VARIABLE) ? values.placeholder(text) : text);
        } else if (organization != null) {
            report.missing(params.path("organization"), "a list (expected: a deployment for each)");
        }
        Section extra = params.section("extra_headers");
        for (String name : extra.left()) {
            String value = extra.text(name);
            if (value != null && name.matches("[A-Za-z0-9-]+") && !isCredential(name)) {
                headers.put(name, values.placeholder(value));
            } else {
                report.missing(
                        params.path("extra_headers") + "." + name,
                        "not a header that a route may add (expected: letters, digits and -; keys in apiKey)");
            }
        }
        return headers;
    }

    private static boolean isCredential(String header) {
        String name = header.toLowerCase(Locale.ROOT);
        return name.equals("authorization") || name.equals("x-api-key") || name.equals("api-key");
    }

    private Deployment.@Nullable Price price(String where, Section params, Section info) {
        BigDecimal input = price(params, info, "input_cost_per_token");
        BigDecimal output = price(params, info, "output_cost_per_token");
        BigDecimal cached = price(params, info, "cache_read_input_token_cost");
        if (input == null && output == null) {
            return null;
        }
        if (input == null || output == null) {
            report.differs(where, "has one of two prices; the other is 0 here");
        }
        return new Deployment.Price(
                input == null ? BigDecimal.ZERO : input, cached, output == null ? BigDecimal.ZERO : output);
    }

    private @Nullable BigDecimal price(Section params, Section info, String key) {
        BigDecimal own = values.perMillion(params, key);
        BigDecimal described = values.perMillion(info, key);
        return own == null ? described : own;
    }

    private static @Nullable String first(@Nullable String... candidates) {
        for (String each : candidates) {
            if (each != null && !each.isEmpty()) {
                return each;
            }
        }
        return null;
    }
}
