package routes.simulation;

import java.util.List;
import java.util.Locale;

/** A chart as SVG: bars in groups, or lines. Both on a logarithmic axis when that is asked for. */
final class Plot {

    private static final String[] COLOURS = {
        "#444444", "#d1495b", "#2a6f97", "#7a9e7e", "#d08c60", "#8e6c8a", "#c9a227", "#69b3a2", "#999999"
    };
    private static final int WIDTH = 980;
    private static final int HEIGHT = 360;
    private static final int LEFT = 60;
    private static final int RIGHT = 800;
    private static final int TOP = 40;
    private static final int BOTTOM = 310;

    private final StringBuilder svg = new StringBuilder();
    private final double least;
    private final double most;
    private final boolean logarithmic;

    /** @param least where the axis begins; above 0 the axis is logarithmic */
    Plot(String title, double least, double most) {
        this.least = least;
        this.most = most;
        logarithmic = least > 0;
        add(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n",
                WIDTH, HEIGHT);
        add("<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n");
        text(LEFT, 20, "start", title);
        double step = logarithmic ? 1 : most > 1 ? 0.5 : 0.2;
        for (double tick = least; tick <= most * 1.001; tick = logarithmic ? tick * 10 : tick + step) {
            add(
                    "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n",
                    LEFT, RIGHT, y(tick), y(tick));
            text(LEFT - 6, y(tick) + 4, "end", String.format(Locale.ROOT, tick < 10 ? "%.1f" : "%.0f", tick));
        }
    }

    /** @param values for each series, one for each group */
    String bars(List<String> groups, List<String> series, double[][] values) {
        double group = (RIGHT - LEFT) / (double) groups.size();
        double bar = group * 0.85 / series.size();
        for (int g = 0; g < groups.size(); g++) {
            text(LEFT + group * (g + 0.45), BOTTOM + 18, "middle", groups.get(g));
            for (int s = 0; s < series.size(); s++) {
                double top = y(values[s][g]);
                add(
                        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
                        LEFT + group * g + bar * s, top, bar * 0.9, BOTTOM - top, COLOURS[s]);
            }
        }
        return legend(series);
    }

    /** @param values for each series, one for each point */
    String lines(List<String> points, List<String> series, double[][] values) {
        double gap = (RIGHT - LEFT) / (double) points.size();
        for (int p = 0; p < points.size(); p++) {
            text(LEFT + gap * (p + 0.5), BOTTOM + 18, "middle", points.get(p));
        }
        for (int s = 0; s < series.size(); s++) {
            add("<polyline fill=\"none\" stroke-width=\"2\" stroke=\"%s\" points=\"", COLOURS[s]);
            for (int p = 0; p < points.size(); p++) {
                add("%.1f,%.1f ", LEFT + gap * (p + 0.5), y(values[s][p]));
            }
            add("\"/>\n");
        }
        return legend(series);
    }

    private String legend(List<String> series) {
        for (int s = 0; s < series.size(); s++) {
            add(
                    "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>\n",
                    RIGHT + 15, TOP + 20 * s, COLOURS[s]);
            text(RIGHT + 33, TOP + 20 * s + 10, "start", series.get(s));
        }
        return svg.append("</svg>\n").toString();
    }

    private double y(double value) {
        double within = Math.max(least, Math.min(most, value));
        double part = logarithmic
                ? StrictMath.log(within / least) / StrictMath.log(most / least)
                : (within - least) / (most - least);
        return BOTTOM - (BOTTOM - TOP) * part;
    }

    private void text(double x, double y, String anchor, String text) {
        add("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, text);
    }

    private void add(String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values));
    }
}
