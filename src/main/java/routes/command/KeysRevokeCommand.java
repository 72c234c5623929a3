package routes.command;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import routes.auth.KeysEditor;

/** {@code dromedary keys revoke}. */
@Command(
        name = "revoke",
        description = {
            "Refuse a key from now on: write 'enabled: false' at it in keys.yaml.",
            "",
            "Its id and secret stay taken. A running gateway refuses it when it has read the file again."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:revoked, or it was before", "1:there is no such key", "2:an option makes no sense"},
        footer = {"", "Examples:", "  dromedary keys revoke team-a-1"})
final class KeysRevokeCommand implements Callable<Integer> {

    private final Environment environment;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(paramLabel = "ID", description = "The key's id, as 'keys list' shows it.")
    private String id = "";

    @Mixin
    private KeysLocation location = new KeysLocation();

    KeysRevokeCommand(Environment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws IOException {
        Path file = location.file(environment);
        new KeysEditor(file).revoke(id);
        spec.commandLine().getOut().println("Key '" + id + "' is revoked in " + file);
        return Commands.OK;
    }
}
