package routes.auth;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.common.FlowStyle;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.nodes.CollectionNode;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/**
 * The text of a {@code keys.yaml}, edited in place: what is not concerned, comments included, stays as it was written.
 *
 * <p><b>Failure:</b> whoever edits reads the outcome again before it is kept; a style that isn't foreseen here shows then.
 */
final class KeysText {

    private final String text;
    private final SequenceNode keys;

    /** @param text one that {@link KeysFile} has read */
    KeysText(YamlReader yaml, String text) {
        this.text = text;
        Node list = field(yaml.document(text, "a list 'keys'"), "keys");
        if (!(list instanceof SequenceNode sequence)) {
            throw new IllegalStateException("no list 'keys'");
        }
        this.keys = sequence;
    }

    /** The text of a file that has no key yet: what there was, which is at most comments, and the key. */
    static String first(String comments, List<String> fields) {
        return withLineEnd(comments) + "keys:\n" + block("  ", fields);
    }

    /** With one more key, behind the others. */
    String plus(List<String> fields) {
        Node last = keys.getValue().get(keys.getValue().size() - 1);
        int end = end(last);
        if (keys.getFlowStyle() == FlowStyle.FLOW) {
            return text.substring(0, end) + ", { " + String.join(", ", fields) + " }" + text.substring(end);
        }
        int lineEnd = lineEnd(end);
        String dashIndent = " ".repeat(column(keys));
        return withLineEnd(text.substring(0, lineEnd)) + block(dashIndent, fields) + text.substring(lineEnd);
    }

    /** With a key that is disabled, or null when there is no such key. */
    @Nullable
    String disabled(String id) {
        for (Node node : keys.getValue()) {
            if (node instanceof MappingNode entry
                    && field(entry, "id") instanceof ScalarNode name
                    && name.getValue().equals(id)) {
                Node enabled = field(entry, "enabled");
                if (enabled != null) {
                    return text.substring(0, offset(enabled.getStartMark())) + "false" + text.substring(end(enabled));
                }
                int end = end(name);
                if (entry.getFlowStyle() == FlowStyle.FLOW) {
                    return text.substring(0, end) + ", enabled: false" + text.substring(end);
                }
                int lineEnd = lineEnd(end);
                return withLineEnd(text.substring(0, lineEnd)) + " ".repeat(column(entry)) + "enabled: false\n"
                        + text.substring(lineEnd);
            }
        }
        return null;
    }

    private static String block(String dashIndent, List<String> fields) {
        return dashIndent + "- " + String.join("\n" + dashIndent + "  ", fields) + "\n";
    }

    private static String withLineEnd(String part) {
        return part.isEmpty() || part.endsWith("\n") ? part : part + "\n";
    }

    private static @Nullable Node field(Node node, String name) {
        if (node instanceof MappingNode mapping) {
            for (NodeTuple tuple : mapping.getValue()) {
                if (tuple.getKeyNode() instanceof ScalarNode key
                        && key.getValue().equals(name)) {
                    return tuple.getValueNode();
                }
            }
        }
        return null;
    }

    /** Where a node's text ends; a block's end mark stands behind the comments that follow it. */
    private int end(Node node) {
        if (node instanceof CollectionNode<?> block && block.getFlowStyle() != FlowStyle.FLOW) {
            List<?> parts = block.getValue();
            Object last = parts.get(parts.size() - 1);
            return end(last instanceof NodeTuple tuple ? tuple.getValueNode() : (Node) last);
        }
        return offset(node.getEndMark());
    }

    /** Behind the line's end, or the text's. */
    private int lineEnd(int from) {
        int newline = text.indexOf('\n', from);
        return newline < 0 ? text.length() : newline + 1;
    }

    private static int column(Node node) {
        return mark(node.getStartMark()).getColumn();
    }

    /** Marks count code points. */
    private int offset(Optional<Mark> mark) {
        return text.offsetByCodePoints(0, mark(mark).getIndex());
    }

    private static Mark mark(Optional<Mark> mark) {
        return mark.orElseThrow(() -> new IllegalStateException("YAML without places"));
    }
}
