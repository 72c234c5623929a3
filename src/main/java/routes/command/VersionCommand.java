package routes.command;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code dromedary version}. */
@Command(name = "version", description = "Print the version and the Java runtime.")
final class VersionCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        String version = VersionCommand.class.getPackage().getImplementationVersion();
        spec.commandLine()
                .getOut()
                .println("dromedary " + (version == null ? "(not packaged)" : version) + " (Java " + Runtime.version()
                        + ": " + System.getProperty("java.home") + ")");
        return Commands.OK;
    }
}
