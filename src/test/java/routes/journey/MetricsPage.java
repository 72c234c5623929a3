package routes.journey;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What Prometheus would read, in the text format: the gateway's own metrics and those of its breakers.
 *
 * @param samples by name and labels, as they are written
 * @param families by the name that a query uses
 */
record MetricsPage(String text, Map<String, Double> samples, Map<String, Family> families) {

    private static final Pattern OURS = Pattern.compile("(dromedary|gen_ai|resilience4j)_.*");
    private static final Pattern SAMPLE = Pattern.compile("([a-z0-9_]+)(?:\\{(.*)})? (\\S+)");
    private static final Pattern LABEL = Pattern.compile("([a-z0-9_]+)=\"(?:[^\"\\\\]|\\\\.)*\",?");

    /** A metric: its type, its meaning, and the names of its labels but for the bucket's. */
    record Family(String type, String help, Set<String> labels) {}

    static MetricsPage of(String text) {
        Map<String, Double> samples = new LinkedHashMap<>();
        Map<String, String> helps = new TreeMap<>();
        Map<String, Family> families = new TreeMap<>();
        for (String line : text.split("\n")) {
            String[] words = line.split(" ", 4);
            if (line.startsWith("# HELP ") && OURS.matcher(words[2]).matches()) {
                helps.put(words[2], words[3]);
            } else if (line.startsWith("# TYPE ") && OURS.matcher(words[2]).matches()) {
                families.put(words[2], new Family(words[3], helps.getOrDefault(words[2], ""), new TreeSet<>()));
            } else if (!line.startsWith("#") && OURS.matcher(line).matches()) {
                add(line, samples, families);
            }
        }
        return new MetricsPage(text, samples, families);
    }

    private static void add(String line, Map<String, Double> samples, Map<String, Family> families) {
        Matcher sample = SAMPLE.matcher(line);
        if (!sample.matches()) {
            throw new AssertionError("not a sample: " + line);
        }
        String name = sample.group(1);
        String labels = sample.group(2) == null ? "" : sample.group(2);
        samples.put(labels.isEmpty() ? name : name + '{' + labels + '}', Double.parseDouble(sample.group(3)));
        Family family = families.get(families.containsKey(name) ? name : name.replaceAll("_(bucket|sum|count)$", ""));
        if (family == null) {
            throw new AssertionError("no type: " + line);
        }
        Matcher label = LABEL.matcher(labels);
        while (label.find()) {
            if (!label.group(1).equals("le")) {
                family.labels().add(label.group(1));
            }
        }
    }

    /** The value of a sample; 0 when it isn't there. */
    double value(String sample) {
        return samples.getOrDefault(sample, 0.0);
    }
}
