package routes.command.litellm;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** What is to be said about a conversion. Never contains a value of the file that may be secret. */
public final class Report {

    private static final String INSIDE = "model_info";

    private final List<String> differs = new ArrayList<>();
    private final List<String> missing = new ArrayList<>();
    private final List<String> needless = new ArrayList<>();
    private final TreeSet<String> variables = new TreeSet<>();

    Report() {}

    /** Has a counterpart that does not do quite the same. */
    void differs(String where, String how) {
        differs.add(where + ": " + how);
    }

    /** Has no counterpart, or could not be converted. */
    void missing(String where, String why) {
        missing.add(where + ": " + why);
    }

    /** The gateway does this anyway, or does not need to know it. */
    void needless(String where) {
        needless.add(where);
    }

    /** An environment variable that the gateway will read. */
    void variable(String name) {
        variables.add(name);
    }

    /** Everything in a section that was not converted. */
    void leftOf(Section section) {
        for (String key : section.left()) {
            String where = section.path(key);
            if (Advice.NEEDLESS.contains(key) || where.contains(INSIDE)) {
                needless(where);
            } else {
                missing(where, Advice.BY_KEY.getOrDefault(key, "nothing here does this"));
            }
        }
    }

    public List<String> differs() {
        return List.copyOf(differs);
    }

    public List<String> missing() {
        return List.copyOf(missing);
    }

    public List<String> needless() {
        return List.copyOf(needless);
    }

    public List<String> variables() {
        return List.copyOf(variables);
    }
}
