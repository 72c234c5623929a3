package routes.command;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.UsageMessageSpec;
import routes.config.Setting;

/** {@code dromedary run}, for its description: a start without {@code --help} never comes here. */
@Command(
        name = "run",
        description = "Start the gateway; it prints one line when it listens and ends on SIGTERM.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:told to stop, and has ended in order",
            "1:can't start: a wrong file or property, a port in use; one line on standard error says which",
            "2:an option that makes no sense"
        },
        footer = {
            "",
            "Examples:",
            "  dromedary run --config /etc/dromedary",
            "  GATEWAY_PORT=9000 dromedary run",
            "",
            "Properties (application.properties, or stronger, the environment):"
        })
final class RunCommand implements Callable<Integer> {

    private final Entries entries;

    @Mixin
    private StartOptions options = new StartOptions();

    RunCommand(Entries entries) {
        this.entries = entries;
    }

    @Override
    public Integer call() {
        return entries.run(options.given());
    }

    /** Lists every property below the text. */
    static void describe(UsageMessageSpec usage) {
        StringBuilder properties = new StringBuilder(String.join("\n", usage.footer()));
        for (Setting setting : Setting.values()) {
            String value = setting.defaultValue().isEmpty() ? "none" : setting.defaultValue();
            properties.append("\n  %s\n      %s\n      default: %s; environment: %s"
                    .formatted(setting.key(), setting.meaning(), value, setting.environmentName()));
        }
        // what is given here is a format
        usage.footer(properties.toString().replace("%", "%%").split("\n", -1));
    }
}
