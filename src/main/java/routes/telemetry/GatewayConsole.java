package routes.telemetry;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.camel.support.console.AbstractDevConsole;

/** The Camel dev console {@code dromedary}: its sections one after another, as JSON or as indented text. */
public final class GatewayConsole extends AbstractDevConsole {

    private static final String INDENT = "    ";

    private final List<ConsoleSection> sections;

    public GatewayConsole(List<ConsoleSection> sections) {
        super("dromedary", "dromedary", "Dromedary", "Pools, replicas, queues and what keys have used");
        this.sections = List.copyOf(sections);
    }

    @Override
    protected Map<String, Object> doCallJson(Map<String, Object> options) {
        Map<String, Object> all = new LinkedHashMap<>();
        sections.forEach(section -> all.put(section.name(), section.json()));
        return all;
    }

    @Override
    protected String doCallText(Map<String, Object> options) {
        StringBuilder text = new StringBuilder();
        write(text, "", doCallJson(options));
        return text.toString();
    }

    private static void write(StringBuilder text, String indent, Map<?, ?> map) {
        map.forEach((name, value) -> {
            text.append(indent).append(name).append(':');
            write(text, indent, value);
        });
    }

    private static void write(StringBuilder text, String indent, Object value) {
        if (value instanceof Map<?, ?> map) {
            text.append('\n');
            write(text, indent + INDENT, map);
        } else if (value instanceof Collection<?> all) {
            text.append('\n');
            for (Object each : all) {
                text.append(indent).append("  -");
                write(text, indent + INDENT, each);
            }
        } else {
            text.append(' ').append(value).append('\n');
        }
    }
}
