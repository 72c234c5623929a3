package routes.command;

import java.io.PrintWriter;
import java.time.Clock;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The program {@code dromedary} with its commands.
 *
 * <p><b>Failure:</b> what goes wrong is one line on standard error: exit status 2 for a command line that makes no sense, 1
 * for everything else.
 */
public final class Commands {

    public static final int OK = 0;
    public static final int FAILED = 1;
    public static final int USAGE = 2;

    private static final int WIDTH = 110;

    private final CommandLine line;

    /**
     * @param entries what needs the whole gateway
     * @param environment variables, by their names
     */
    public Commands(Entries entries, Environment environment, PrintWriter out, PrintWriter err) {
        line = new CommandLine(new Dromedary());
        line.addSubcommand(new RunCommand(entries));
        line.addSubcommand(new CheckCommand(entries));
        line.addSubcommand(new CommandLine(new KeysCommand())
                .addSubcommand(new KeysNewCommand(environment))
                .addSubcommand(new KeysListCommand(environment, Clock.systemUTC()))
                .addSubcommand(new KeysRevokeCommand(environment)));
        line.addSubcommand(
                new CommandLine(new ImportCommand()).addSubcommand(new ImportLiteLlmCommand(entries, environment)));
        line.addSubcommand(new DemoCommand(entries));
        line.addSubcommand(new VersionCommand());
        describe(line);
        line.setOut(out);
        line.setErr(err);
        line.setUsageHelpWidth(WIDTH);
        line.setColorScheme(CommandLine.Help.defaultColorScheme(Ansi.OFF));
        line.setParameterExceptionHandler((wrong, arguments) -> explain(wrong));
        line.setExecutionExceptionHandler((failure, command, parsed) -> {
            command.getErr().println("dromedary: " + (failure.getMessage() == null ? failure : failure.getMessage()));
            return FAILED;
        });
    }

    /** @return the exit status */
    public int execute(String... arguments) {
        try {
            return line.execute(arguments);
        } finally {
            line.getOut().flush();
            line.getErr().flush();
        }
    }

    /** All commands, for pages and tests that describe them. */
    CommandLine line() {
        return line;
    }

    private static void describe(CommandLine command) {
        CommandSpec spec = command.getCommandSpec();
        UsageMessageSpec usage = spec.usageMessage();
        usage.descriptionHeading("%n").optionListHeading("%nOptions:%n").parameterListHeading("%nArguments:%n");
        usage.commandListHeading("%nCommands:%n").sortOptions(false).abbreviateSynopsis(true);
        if (spec.userObject() instanceof RunCommand) {
            RunCommand.describe(usage);
        }
        if (!(spec.userObject() instanceof DemoCommand)) {
            spec.addOption(OptionSpec.builder("-h", "--help")
                    .usageHelp(true)
                    .description("Show this text.")
                    .build());
        }
        command.getSubcommands().values().forEach(Commands::describe);
    }

    private static int explain(ParameterException wrong) {
        CommandLine command = wrong.getCommandLine();
        command.getErr().println("dromedary: " + what(wrong) + "; see '" + help(command) + "'");
        return USAGE;
    }

    private static String what(ParameterException wrong) {
        CommandLine command = wrong.getCommandLine();
        List<String> unmatched =
                wrong instanceof UnmatchedArgumentException odd ? odd.getUnmatched() : command.getUnmatchedArguments();
        if (unmatched.isEmpty()) {
            return String.valueOf(wrong.getMessage());
        }
        String argument = unmatched.get(0);
        boolean option = argument.startsWith("-");
        String name = option ? argument.split("=", 2)[0] : argument;
        List<String> known = option
                ? command.getCommandSpec().options().stream()
                        .map(OptionSpec::longestName)
                        .toList()
                : List.copyOf(command.getSubcommands().keySet());
        String nearest = Nearest.to(name, known);
        String kind = option ? "option" : known.isEmpty() ? "argument" : "command";
        return name + ": unknown " + kind + " (expected: "
                + (nearest != null ? "perhaps " + nearest : known.isEmpty() ? "nothing" : String.join(", ", known))
                + ")";
    }

    private static String help(CommandLine command) {
        CommandSpec spec = command.getCommandSpec();
        return spec.qualifiedName() + " --help";
    }
}
