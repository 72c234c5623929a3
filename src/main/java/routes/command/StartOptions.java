package routes.command;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of {@code run} and {@code check}, as they are described; {@code run} reads them itself. */
final class StartOptions {

    @Option(
            names = "--config",
            paramLabel = "DIR",
            description =
                    "Folder that may hold routes.yaml, keys.yaml and application.properties; what it lacks is built"
                            + " in. bin/dromedary takes conf/ of its installation when this is left out.")
    private @Nullable String config;

    @Option(
            names = "--port",
            paramLabel = "N",
            description = "Port of the front door; 0 picks a free one. Default: gateway.port, which is 8080.")
    private @Nullable String port;

    @Option(
            names = "--profile",
            paramLabel = "NAME",
            description =
                    "Camel profile; dev brings demo replicas and a built-in key. Default: CAMEL_MAIN_PROFILE, or none.")
    private @Nullable String profile;

    /** As {@link Entries} takes them. */
    List<String> given() {
        List<String> given = new ArrayList<>();
        add(given, "--config", config);
        add(given, "--port", port);
        add(given, "--profile", profile);
        return given;
    }

    private static void add(List<String> given, String option, @Nullable String value) {
        if (value != null) {
            given.add(option);
            given.add(value);
        }
    }
}
