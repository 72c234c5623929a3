package routes.command;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import routes.config.Setting;

/** Which {@code keys.yaml} a command is about: the one that a gateway with this folder reads. */
final class KeysLocation {

    @Option(
            names = "--config",
            paramLabel = "DIR",
            description =
                    "Folder of the gateway's configuration, whose keys.yaml is used unless gateway.keys-file names"
                            + " another. bin/dromedary takes conf/ of its installation when this is left out, else it is the"
                            + " current one.")
    private @Nullable String config;

    @Option(names = "--file", paramLabel = "FILE", description = "The keys.yaml itself; instead of --config.")
    private @Nullable Path file;

    Path file(Environment environment) throws IOException {
        if (file != null) {
            return file;
        }
        String variable = environment.get(Setting.KEYS_FILE.environmentName());
        if (variable != null && !variable.isBlank()) {
            return Path.of(variable.trim());
        }
        Path folder = Path.of(config == null ? "." : config);
        if (!Files.isDirectory(folder)) {
            throw new IllegalArgumentException("--config " + folder + ": no such folder (expected: one for keys.yaml)");
        }
        Path properties = folder.resolve("application.properties");
        String named = Files.exists(properties) ? read(properties).getProperty(Setting.KEYS_FILE.key(), "") : "";
        if (named.contains("{{")) {
            throw new IllegalArgumentException(properties + ": " + Setting.KEYS_FILE.key()
                    + " is made from other properties (expected: --file FILE on the command line)");
        }
        return named.isBlank() ? folder.resolve("keys.yaml") : Path.of(named.trim());
    }

    private static Properties read(Path file) throws IOException {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            properties.load(reader);
        }
        return properties;
    }
}
