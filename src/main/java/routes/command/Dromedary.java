package routes.command;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code dromedary} alone. */
@Command(
        name = "dromedary",
        description = "One door to your models: an LLM inference gateway.",
        footer = {"", "'dromedary COMMAND --help' tells more about a command."})
final class Dromedary implements Runnable {

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public void run() {
        throw new ParameterException(
                spec.commandLine(),
                "no command (expected: one of "
                        + String.join(", ", spec.subcommands().keySet()) + ")");
    }
}
