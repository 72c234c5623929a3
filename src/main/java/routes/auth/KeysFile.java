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
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;
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
 * </pre>
 *
 * <p>Works on YAML's nodes, not on objects made from them: a hash of digits only stays text, and messages know the line.
 */
final class KeysFile {

    private static final int MAX_CHARACTERS = 64 << 20;
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:@/-]{1,128}");
    private static final Set<String> FIELDS = Set.of("id", "tenant", "sha256", "models", "expires", "enabled");
    private static final String FIELDS_IN_ORDER = "id, tenant, sha256, models, expires or enabled";
    private static final Sha256 HASH_OF_NOTHING = Sha256.of("");

    private final String name;

    private KeysFile(String name) {
        this.name = name;
    }

    static List<KeyEntry> read(Path file) {
        try {
            return parse(file.toString(), Files.readString(file));
        } catch (NoSuchFileException e) {
            throw new IllegalArgumentException(file + ": there is no such file", e);
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException(file + ": is not UTF-8 text", e);
        } catch (IOException e) {
            throw new IllegalArgumentException(file + ": can not be read", e);
        }
    }

    static List<KeyEntry> parse(String name, String text) {
        return new KeysFile(name).entries(text);
    }

    private List<KeyEntry> entries(String text) {
        Map<String, Node> top = fields(document(text), "a mapping with the list 'keys'", Set.of("keys"), "keys");
        if (!(top.get("keys") instanceof SequenceNode list) || list.getValue().isEmpty()) {
            throw invalid(top.get("keys"), "'keys' holds no key (expected: a list of at least one)");
        }
        List<KeyEntry> entries = new ArrayList<>(list.getValue().size());
        for (Node entry : list.getValue()) {
            entries.add(entry(entry));
        }
        return entries;
    }

    private Node document(String text) {
        LoadSettings settings = LoadSettings.builder()
                .setLabel(name)
                .setCodePointLimit(MAX_CHARACTERS)
                .build();
        try {
            Optional<Node> document = new Compose(settings).composeString(text);
            return document.orElseThrow(
                    () -> new IllegalArgumentException(name + ": is empty (expected: a list 'keys')"));
        } catch (MarkedYamlEngineException e) {
            throw new IllegalArgumentException(
                    name + line(e.getProblemMark()) + ": is not valid YAML: " + e.getProblem(), e);
        } catch (YamlEngineException e) {
            throw new IllegalArgumentException(name + ": is not valid YAML", e);
        }
    }

    private KeyEntry entry(Node node) {
        Map<String, Node> fields = fields(node, "a key: a mapping with id, tenant and sha256", FIELDS, FIELDS_IN_ORDER);
        String id = named(required(node, fields, null, "id"), null, "id");
        String tenant = named(required(node, fields, id, "tenant"), id, "tenant");
        Sha256 hash = hash(required(node, fields, id, "sha256"), id);
        ApiKey key = new ApiKey(id, tenant, models(fields.get("models"), id), expires(fields.get("expires"), id));
        return new KeyEntry(key, hash, enabled(fields.get("enabled"), id));
    }

    private Sha256 hash(Node node, String id) {
        String hex = text(node, id, "sha256");
        Sha256 hash;
        try {
            hash = Sha256.parse(hex);
        } catch (IllegalArgumentException e) {
            // may be the secret itself, in the wrong place: not shown
            throw invalid(
                    node,
                    field(id, "sha256") + "not a hash (expected: the 64 hex digits of printf %s \"$KEY\" | sha256sum)");
        }
        if (hash.equals(HASH_OF_NOTHING)) {
            throw invalid(node, field(id, "sha256") + "the hash of an empty secret (expected: $KEY to be set)");
        }
        return hash;
    }

    private Set<String> models(@Nullable Node node, String id) {
        if (node == null) {
            return ApiKey.ALL_MODELS;
        }
        if (!(node instanceof SequenceNode list) || list.getValue().isEmpty()) {
            throw invalid(node, field(id, "models") + "not a list of names (expected: [\"*\"] or names of models)");
        }
        Set<String> models = new HashSet<>();
        for (Node item : list.getValue()) {
            String model = text(item, id, "models");
            if (model.isBlank() || (model.contains("*") && !model.equals("*"))) {
                throw invalid(
                        item,
                        field(id, "models") + "a pattern or blank (expected: a model's whole name, or \"*\" alone)");
            }
            models.add(model);
        }
        return models;
    }

    private long expires(@Nullable Node node, String id) {
        if (node == null) {
            return ApiKey.NEVER;
        }
        String text = text(node, id, "expires");
        try {
            return text.indexOf('T') < 0
                    ? LocalDate.parse(text)
                            .atStartOfDay(ZoneOffset.UTC)
                            .toInstant()
                            .toEpochMilli()
                    : OffsetDateTime.parse(text).toInstant().toEpochMilli();
        } catch (DateTimeException | ArithmeticException e) {
            throw invalid(node, field(id, "expires") + "not a date (expected: as 2027-01-01 or 2027-01-01T00:00:00Z)");
        }
    }

    private boolean enabled(@Nullable Node node, String id) {
        if (node == null) {
            return true;
        }
        if (!node.getTag().equals(Tag.BOOL)) {
            throw invalid(node, field(id, "enabled") + "not a truth value (expected: true or false)");
        }
        return Boolean.parseBoolean(text(node, id, "enabled"));
    }

    private Map<String, Node> fields(Node node, String expected, Set<String> known, String listed) {
        if (!(node instanceof MappingNode mapping)) {
            throw invalid(node, "found " + kind(node) + " (expected: " + expected + ")");
        }
        Map<String, Node> fields = new HashMap<>();
        for (NodeTuple tuple : mapping.getValue()) {
            String field = tuple.getKeyNode() instanceof ScalarNode scalar ? scalar.getValue() : "";
            if (!known.contains(field)) {
                throw invalid(tuple.getKeyNode(), "unknown field " + quoted(field) + " (expected: " + listed + ")");
            }
            if (fields.put(field, tuple.getValueNode()) != null) {
                throw invalid(tuple.getKeyNode(), "field '" + field + "' appears twice (expected: once)");
            }
        }
        return fields;
    }

    private Node required(Node entry, Map<String, Node> fields, @Nullable String id, String field) {
        Node node = fields.get(field);
        if (node == null) {
            throw invalid(
                    entry,
                    (id == null ? "a key" : "key '" + id + "'") + " without " + field
                            + " (expected: id, tenant and sha256)");
        }
        return node;
    }

    private String named(Node node, @Nullable String id, String field) {
        String text = text(node, id, field);
        if (!NAME.matcher(text).matches()) {
            throw invalid(node, field(id, field) + "not a name (expected: 1 to 128 of A-Z a-z 0-9 . _ : @ / -)");
        }
        return text;
    }

    private String text(Node node, @Nullable String id, String field) {
        if (!(node instanceof ScalarNode scalar) || node.getTag().equals(Tag.NULL)) {
            throw invalid(node, field(id, field) + "found " + kind(node) + " (expected: one value)");
        }
        return scalar.getValue();
    }

    private IllegalArgumentException invalid(@Nullable Node node, String problem) {
        return new IllegalArgumentException(name + (node == null ? "" : line(node.getStartMark())) + ": " + problem);
    }

    private static String field(@Nullable String id, String field) {
        return id == null ? field + ": " : "key '" + id + "': " + field + ": ";
    }

    /** A field's name cut short and printable: it may be anything, a secret that slipped in front of a colon included. */
    private static String quoted(String field) {
        return field.length() <= 32 && NAME.matcher(field).matches() ? "'" + field + "'" : "with an odd name";
    }

    private static String kind(Node node) {
        if (node.getTag().equals(Tag.NULL)) {
            return "nothing";
        }
        return switch (node.getNodeType()) {
            case SCALAR -> "a single value";
            case SEQUENCE -> "a list";
            case MAPPING -> "a mapping";
            case ANCHOR -> "an anchor";
        };
    }

    private static String line(Optional<Mark> mark) {
        return mark.isPresent() ? ":" + lineNumber(mark) : "";
    }

    private static int lineNumber(Optional<Mark> mark) {
        return mark.map(Mark::getLine).orElse(-1) + 1;
    }
}
