package routes.simulation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A page of Markdown with bar charts as SVG files beside it. */
final class Report {

    private static final String[] COLOURS = {"#2a6f97", "#d08c60", "#7a9e7e"};

    private final String name;
    private final StringBuilder page = new StringBuilder();
    private final Map<String, String> charts = new LinkedHashMap<>();

    Report(String name) {
        this.name = name;
    }

    void text(String markdown) {
        page.append(markdown);
    }

    void table(String... columns) {
        row(columns);
        page.append("|").append("---|".repeat(columns.length)).append('\n');
    }

    void row(String... cells) {
        page.append("| ").append(String.join(" | ", cells)).append(" |\n");
    }

    /** @param values one array for each group, with a value for each series */
    void bars(String file, String title, List<String> groups, List<String> series, List<double[]> values) {
        double most =
                values.stream().flatMapToDouble(java.util.Arrays::stream).max().orElse(1);
        int bar = 18;
        int group = series.size() * bar + 14;
        int height = groups.size() * group + 60;
        StringBuilder svg = new StringBuilder();
        svg.append("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"")
                .append(height);
        svg.append("\" font-family=\"sans-serif\" font-size=\"13\">\n");
        svg.append("<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
        svg.append("<text x=\"10\" y=\"20\" font-weight=\"bold\">")
                .append(title)
                .append("</text>\n");
        for (int s = 0; s < series.size(); s++) {
            int x = 330 + 130 * s;
            svg.append("<rect x=\"%d\" y=\"10\" width=\"12\" height=\"12\" fill=\"%s\"/>".formatted(x, COLOURS[s]));
            svg.append("<text x=\"%d\" y=\"21\">%s</text>\n".formatted(x + 18, series.get(s)));
        }
        for (int g = 0; g < groups.size(); g++) {
            int top = 40 + g * group;
            svg.append("<text x=\"10\" y=\"%d\">%s</text>\n".formatted(top + group / 2, groups.get(g)));
            for (int s = 0; s < series.size(); s++) {
                double value = values.get(g)[s];
                String width = String.format(Locale.ROOT, "%.1f", Math.max(1, 480 * value / most));
                int y = top + s * bar;
                svg.append("<rect x=\"110\" y=\"%d\" width=\"%s\" height=\"%d\" fill=\"%s\"/>"
                        .formatted(y, width, bar - 3, COLOURS[s]));
                svg.append("<text x=\"%s\" y=\"%d\">%s</text>\n"
                        .formatted(
                                String.format(Locale.ROOT, "%.1f", 116 + Math.max(1, 480 * value / most)),
                                y + 13,
                                String.format(Locale.ROOT, "%.2f", value)));
            }
        }
        charts.put(name + "-" + file + ".svg", svg.append("</svg>\n").toString());
        page.append("![")
                .append(title)
                .append("](")
                .append(name)
                .append('-')
                .append(file)
                .append(".svg)\n");
    }

    String page() {
        return page.toString();
    }

    void write(Path folder) throws IOException {
        Files.createDirectories(folder);
        Files.writeString(folder.resolve(name + ".md"), page);
        for (Map.Entry<String, String> chart : charts.entrySet()) {
            Files.writeString(folder.resolve(chart.getKey()), chart.getValue());
        }
    }
}
