package routes.command;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code dromedary check}. */
@Command(
        name = "check",
        description = {
            "Say in words what is wrong with a configuration, or what it would run.",
            "",
            "Reads application.properties, keys.yaml and routes.yaml and builds every route. Opens no port, connects"
                    + " nowhere, writes nothing. Run it as the gateway runs: environment variables count."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:the gateway would start", "1:it would not, or not as meant", "2:an option makes no sense"},
        footer = {"", "Examples:", "  dromedary check --config /etc/dromedary"})
final class CheckCommand implements Callable<Integer> {

    private final Entries entries;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private StartOptions options = new StartOptions();

    CheckCommand(Entries entries) {
        this.entries = entries;
    }

    @Override
    public Integer call() {
        Findings findings;
        try {
            findings = entries.check(options.given());
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
        return print(findings, spec.commandLine().getOut(), spec.commandLine().getErr());
    }

    /** @return the exit status */
    static int print(Findings findings, PrintWriter out, PrintWriter err) {
        findings.problems().forEach(err::println);
        findings.warnings().forEach(warning -> err.println("warning: " + warning));
        int count = findings.problems().size();
        if (count > 0) {
            err.println(count == 1 ? "1 problem" : count + " problems");
            return Commands.FAILED;
        }
        summary(findings.plan()).forEach(out::println);
        return Commands.OK;
    }

    private static List<String> summary(Plan plan) {
        List<String> lines = new ArrayList<>();
        lines.add("The gateway would start, and listen on " + plan.door());
        lines.add("  keys     " + plan.keys() + " of " + counted(plan.tenants(), "tenant"));
        lines.add("  routes   " + plan.routes().size() + ": " + String.join(", ", plan.routes()));
        lines.add("  replicas " + plan.servers().size() + " with " + slots(plan.servers()));
        lines.add("  models   " + plan.models().size());
        for (Plan.Model model : plan.models()) {
            String aliases = model.aliases().isEmpty() ? "" : " (" + String.join(", ", model.aliases()) + ")";
            String fallback = model.fallback().isEmpty() ? "" : ", else " + model.fallback();
            lines.add("    " + model.name() + aliases + ": "
                    + (model.servers().isEmpty() ? "no replica that can be told beforehand" : servers(model))
                    + fallback);
        }
        return lines;
    }

    private static String servers(Plan.Model model) {
        String addresses = model.servers().stream()
                .map(server -> server.address() + (server.many() ? " (all addresses)" : ""))
                .collect(Collectors.joining(", "));
        return counted(model.servers().size(), "replica") + ", " + slots(model.servers()) + ": " + addresses;
    }

    private static String slots(List<Plan.Server> servers) {
        long slots = servers.stream().mapToLong(Plan.Server::slots).sum();
        boolean more = servers.stream().anyMatch(Plan.Server::many);
        return counted(slots, "slot") + (more ? " or more" : "");
    }

    private static String counted(long count, String noun) {
        return count + " " + noun + (count == 1 ? "" : "s");
    }
}
