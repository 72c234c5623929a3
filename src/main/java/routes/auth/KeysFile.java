package routes.auth;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;
import routes.quota.Prices;
import routes.quota.Terms;
import routes.request.ApiKey;

/**
 * Reads the format of {@code keys.yaml}:
 *
 * <pre>
 * keys:
 *   - id: team-a-prod        # what usage lines and logs name
 *     tenant: team-a
 *     sha256: 64 hex digits  # printf %s "$KEY" | sha256sum
 *     models: ["*"]          # or names; all when left out
 *     expires: 2027-01-01    # its start in UTC, or an instant such as 2027-01-01T08:00:00+01:00; never when left out
 *     enabled: true          # when left out
 *     cache-salt: tenant     # shares replicas' prefix caches with its tenant's keys only; as the model says when left out
 *     plan: gold             # one of the plans below; none when left out
 *     limits:                # this key's own, which count before those of its plan; see {@link routes.quota.Term}
 *       tokens-per-day: 5000000
 * plans:
 *   gold: { requests-per-minute: 600, concurrent-requests: 32, money-per-month: 250.00, on-exhausted: end }
 * tenants:
 *   team-a:                  # what all keys of the tenant have together
 *     limits: { requests-per-minute: 1000, weight: 4 }
 *     cache-salt: tenant     # for all of its keys
 * prices:                    # for a million tokens, by the model's own name; "*" is every other model
 *   "*": { input: 0.50, cached-input: 0.05, output: 2.00 }
 * </pre>
 */
final class KeysFile {

    /**
     * What a file says.
     *
     * @param tenants what is said of tenants
     */
    record Contents(List<KeyEntry> keys, Map<String, Tenant> tenants, Prices prices) {}

    /**
     * What all keys of a tenant have together.
     *
     * @param salted as {@link KeyEntry#salted()}
     */
    record Tenant(Terms terms, boolean salted) {

        static final Tenant UNKNOWN = new Tenant(Terms.NONE, false);
    }

    private static final Set<String> PARTS = Set.of("keys", "plans", "tenants", "prices");
    private static final String PARTS_IN_ORDER = "keys, plans, tenants or prices";
    private static final Set<String> FIELDS =
            Set.of("id", "tenant", "sha256", "models", "expires", "enabled", "cache-salt", "plan", "limits");
    private static final String FIELDS_IN_ORDER =
            "id, tenant, sha256, models, expires, enabled, cache-salt, plan or limits";
    private static final Set<String> TENANT_FIELDS = Set.of("plan", "limits", "cache-salt");
    private static final Sha256 HASH_OF_NOTHING = Sha256.of("");

    private final YamlReader yaml;
    private final Consumer<IllegalArgumentException> onProblem;

    private KeysFile(YamlReader yaml, Consumer<IllegalArgumentException> onProblem) {
        this.yaml = yaml;
        this.onProblem = onProblem;
    }

    static Contents read(Path file) {
        return parse(file.toString(), text(file));
    }

    static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (NoSuchFileException e) {
            throw new IllegalArgumentException(file + ": there is no such file", e);
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException(file + ": is not UTF-8 text", e);
        } catch (IOException e) {
            throw new IllegalArgumentException(file + ": can not be read", e);
        }
    }

    static Contents parse(String name, String text) {
        return new KeysFile(new YamlReader(name), e -> {
                    throw e;
                })
                .contents(text);
    }

    /**
     * The same, reading on after a key or a tenant that is wrong: it is left out.
     *
     * @throws IllegalArgumentException when nothing can be read beyond a mistake
     */
    static Contents parse(String name, String text, Consumer<IllegalArgumentException> onProblem) {
        return new KeysFile(new YamlReader(name), onProblem).contents(text);
    }

    private Contents contents(String text) {
        Node document = yaml.document(text, "a list 'keys'");
        Map<String, Node> top = yaml.fields(document, "", "a mapping with the list 'keys'", PARTS, PARTS_IN_ORDER);
        TermsReader terms = new TermsReader(yaml, top.get("prices"), top.get("plans"));
        if (!(top.get("keys") instanceof SequenceNode list) || list.getValue().isEmpty()) {
            throw yaml.invalid(top.get("keys"), "'keys' holds no key (expected: a list of at least one)");
        }
        List<KeyEntry> entries = new ArrayList<>(list.getValue().size());
        Set<String> tenantsOfKeys = new HashSet<>();
        for (Node node : list.getValue()) {
            try {
                KeyEntry entry = entry(node, terms);
                entries.add(entry);
                tenantsOfKeys.add(entry.key().tenant());
            } catch (IllegalArgumentException e) {
                onProblem.accept(e);
            }
        }
        return new Contents(entries, tenants(top.get("tenants"), terms, tenantsOfKeys), terms.prices());
    }

    private Map<String, Tenant> tenants(@Nullable Node node, TermsReader reader, Set<String> known) {
        Map<String, Tenant> tenants = new HashMap<>();
        if (node != null) {
            yaml.named(node, "tenant", "a mapping of tenants, each with plan, limits or cache-salt")
                    .forEach((name, tenant) -> {
                        try {
                            tenants.put(name, tenant(name, tenant, reader, known));
                        } catch (IllegalArgumentException e) {
                            onProblem.accept(e);
                        }
                    });
        }
        return tenants;
    }

    private Tenant tenant(String name, Node node, TermsReader reader, Set<String> known) {
        String where = "tenant '" + name + "': ";
        if (!known.contains(name)) {
            throw yaml.invalid(node, where + "no key has it (expected: the tenant of a key above)");
        }
        Map<String, Node> fields = yaml.fields(
                node, where, "a mapping with plan, limits or cache-salt", TENANT_FIELDS, "plan, limits or cache-salt");
        Terms terms = reader.terms(fields.get("plan"), fields.get("limits"), where);
        return new Tenant(terms, salted(fields.get("cache-salt"), where));
    }

    private KeyEntry entry(Node node, TermsReader reader) {
        Map<String, Node> fields =
                yaml.fields(node, "", "a key: a mapping with id, tenant and sha256", FIELDS, FIELDS_IN_ORDER);
        String id = yaml.name(required(node, fields, "a key ", "id"), "id: ");
        String where = "key '" + id + "': ";
        String of = "key '" + id + "' ";
        String tenant = yaml.name(required(node, fields, of, "tenant"), where + "tenant: ");
        Sha256 hash = hash(required(node, fields, of, "sha256"), where + "sha256: ");
        ApiKey key = new ApiKey(
                id,
                tenant,
                models(fields.get("models"), where + "models: "),
                expires(fields.get("expires"), where + "expires: "));
        Terms terms = reader.terms(fields.get("plan"), fields.get("limits"), where);
        boolean enabled = enabled(fields.get("enabled"), where + "enabled: ");
        return new KeyEntry(key, hash, enabled, terms, salted(fields.get("cache-salt"), where));
    }

    private Sha256 hash(Node node, String where) {
        String hex = yaml.text(node, where);
        Sha256 hash;
        try {
            hash = Sha256.parse(hex);
        } catch (IllegalArgumentException e) {
            // may be the secret itself, in the wrong place: not shown
            throw yaml.invalid(
                    node, where + "not a hash (expected: the 64 hex digits of printf %s \"$KEY\" | sha256sum)");
        }
        if (hash.equals(HASH_OF_NOTHING)) {
            throw yaml.invalid(node, where + "the hash of an empty secret (expected: $KEY to be set)");
        }
        return hash;
    }

    private Set<String> models(@Nullable Node node, String where) {
        if (node == null) {
            return ApiKey.ALL_MODELS;
        }
        if (!(node instanceof SequenceNode list) || list.getValue().isEmpty()) {
            throw yaml.invalid(node, where + "not a list of names (expected: [\"*\"] or names of models)");
        }
        Set<String> models = new HashSet<>();
        for (Node item : list.getValue()) {
            models.add(yaml.model(item, where));
        }
        return models;
    }

    private long expires(@Nullable Node node, String where) {
        if (node == null) {
            return ApiKey.NEVER;
        }
        String text = yaml.text(node, where);
        try {
            return text.indexOf('T') < 0
                    ? LocalDate.parse(text)
                            .atStartOfDay(ZoneOffset.UTC)
                            .toInstant()
                            .toEpochMilli()
                    : OffsetDateTime.parse(text).toInstant().toEpochMilli();
        } catch (DateTimeException | ArithmeticException e) {
            throw yaml.invalid(node, where + "not a date (expected: as 2027-01-01 or 2027-01-01T00:00:00Z)");
        }
    }

    private boolean enabled(@Nullable Node node, String where) {
        if (node == null) {
            return true;
        }
        if (!node.getTag().equals(Tag.BOOL)) {
            throw yaml.invalid(node, where + "not a truth value (expected: true or false)");
        }
        return Boolean.parseBoolean(yaml.text(node, where));
    }

    private boolean salted(@Nullable Node node, String where) {
        if (node != null && !yaml.text(node, where + "cache-salt: ").equals("tenant")) {
            throw yaml.invalid(node, where + "cache-salt: not known (expected: tenant)");
        }
        return node != null;
    }

    private Node required(Node entry, Map<String, Node> fields, String which, String field) {
        Node node = fields.get(field);
        if (node == null) {
            throw yaml.invalid(entry, which + "without " + field + " (expected: id, tenant and sha256)");
        }
        return node;
    }
}
