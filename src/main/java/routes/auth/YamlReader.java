package routes.auth;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
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
import org.snakeyaml.engine.v2.nodes.Tag;

/**
 * Reads YAML strictly: a field that isn't known or appears twice is a mistake. Works on YAML's nodes, not on objects made
 * from them: a hash of digits only stays text, and messages know the line.
 *
 * <p><b>Failure:</b> {@link IllegalArgumentException} with one line that names the source, the place and what is expected
 * there, and shows nothing of values.
 */
final class YamlReader {

    private static final int MAX_CHARACTERS = 64 << 20;
    static final String NAME_EXPECTED = " (expected: 1 to 128 of A-Z a-z 0-9 . _ : @ / -)";

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:@/-]{1,128}");

    private final String source;

    /** @param source what messages call it, such as {@code keys.yaml} */
    YamlReader(String source) {
        this.source = source;
    }

    Node document(String text, String expected) {
        LoadSettings settings = LoadSettings.builder()
                .setLabel(source)
                .setCodePointLimit(MAX_CHARACTERS)
                .build();
        try {
            Optional<Node> document = new Compose(settings).composeString(text);
            return document.orElseThrow(
                    () -> new IllegalArgumentException(source + ": is empty (expected: " + expected + ")"));
        } catch (MarkedYamlEngineException e) {
            throw new IllegalArgumentException(
                    source + line(e.getProblemMark()) + ": is not valid YAML: " + e.getProblem(), e);
        } catch (YamlEngineException e) {
            throw new IllegalArgumentException(source + ": is not valid YAML", e);
        }
    }

    /**
     * The fields of a mapping.
     *
     * @param where what messages begin with, such as {@code plan 'gold': }
     * @param expected what the mapping is, for messages
     * @param listed the fields that are known, for messages
     */
    Map<String, Node> fields(Node node, String where, String expected, Set<String> known, String listed) {
        Map<String, Node> fields = new LinkedHashMap<>();
        for (NodeTuple tuple : mapping(node, where, expected).getValue()) {
            String field = tuple.getKeyNode() instanceof ScalarNode scalar ? scalar.getValue() : "";
            if (!known.contains(field)) {
                throw invalid(
                        tuple.getKeyNode(), where + "unknown field " + quoted(field) + " (expected: " + listed + ")");
            }
            if (fields.put(field, tuple.getValueNode()) != null) {
                throw invalid(tuple.getKeyNode(), where + "field '" + field + "' appears twice (expected: once)");
            }
        }
        return fields;
    }

    /**
     * The entries of a mapping under names that the user chose.
     *
     * @param kind what is named, such as {@code plan}
     */
    Map<String, Node> named(Node node, String kind, String expected) {
        return entries(node, kind, expected, key -> name(key, kind + ": "));
    }

    /** The entries of a mapping under names of models. */
    Map<String, Node> byModel(Node node, String kind, String expected) {
        return entries(node, kind, expected, key -> model(key, kind + ": "));
    }

    private Map<String, Node> entries(Node node, String kind, String expected, Function<Node, String> naming) {
        Map<String, Node> entries = new LinkedHashMap<>();
        for (NodeTuple tuple : mapping(node, kind + "s: ", expected).getValue()) {
            String name = naming.apply(tuple.getKeyNode());
            if (entries.put(name, tuple.getValueNode()) != null) {
                throw invalid(tuple.getKeyNode(), kind + "s: '" + name + "' appears twice (expected: once)");
            }
        }
        return entries;
    }

    private MappingNode mapping(Node node, String where, String expected) {
        if (node instanceof MappingNode mapping) {
            return mapping;
        }
        throw invalid(node, where + "found " + kind(node) + " (expected: " + expected + ")");
    }

    /** A name that may be logged. */
    String name(Node node, String where) {
        String text = text(node, where);
        if (!isName(text)) {
            throw invalid(node, where + "not a name" + NAME_EXPECTED);
        }
        return text;
    }

    static boolean isName(String text) {
        return NAME.matcher(text).matches();
    }

    /** A model's whole name, or {@code *}. */
    String model(Node node, String where) {
        String text = text(node, where);
        if (text.isBlank() || (text.contains("*") && !text.equals("*"))) {
            throw invalid(node, where + "a pattern or blank (expected: a model's whole name, or \"*\" alone)");
        }
        return text;
    }

    String text(Node node, String where) {
        if (!(node instanceof ScalarNode scalar) || node.getTag().equals(Tag.NULL)) {
            throw invalid(node, where + "found " + kind(node) + " (expected: one value)");
        }
        return scalar.getValue();
    }

    IllegalArgumentException invalid(@Nullable Node node, String problem) {
        return new IllegalArgumentException(source + (node == null ? "" : line(node.getStartMark())) + ": " + problem);
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
