package routes.command;

import java.util.List;

/**
 * What a dry run found.
 *
 * @param problems what keeps the gateway from starting or serving as it is meant to; each one line: where, what, expected
 * @param warnings what may be meant, and is odd
 * @param plan what would run, as far as it could be built
 */
public record Findings(List<String> problems, List<String> warnings, Plan plan) {

    public Findings {
        problems = List.copyOf(problems);
        warnings = List.copyOf(warnings);
    }
}
