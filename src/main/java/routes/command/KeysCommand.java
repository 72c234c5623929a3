package routes.command;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code dromedary keys}. */
@Command(
        name = "keys",
        description = "Make, list and revoke the keys of clients, in keys.yaml.",
        footer = {"", "Secrets are stored as hashes only: a new one is shown once and can't be shown again."})
final class KeysCommand implements Runnable {

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public void run() {
        throw new ParameterException(
                spec.commandLine(),
                "keys: no command (expected: "
                        + String.join(", ", spec.subcommands().keySet()) + ")");
    }
}
