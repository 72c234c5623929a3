package routes;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import org.apache.camel.main.Main;
import org.jspecify.annotations.Nullable;
import routes.config.Setting;

/**
 * The options of a start. Read by hand: a start has no time for a library that describes them (see {@code
 * routes.command.StartOptions}).
 *
 * @param config the folder of the configuration; null for none
 * @param port the front door's; null for the configured one
 * @param profile Camel's; null for none
 */
record RunOptions(
        @Nullable Path config,
        @Nullable String port,
        @Nullable String profile) {

    /** @throws IllegalArgumentException saying what is wrong and what is expected */
    static RunOptions parse(List<String> args) {
        ArrayDeque<String> left = new ArrayDeque<>(args);
        Path config = null;
        String port = null;
        String profile = System.getenv("CAMEL_MAIN_PROFILE");
        while (!left.isEmpty()) {
            String option = left.pop();
            int equals = option.indexOf('=');
            if (equals > 0) {
                left.push(option.substring(equals + 1));
                option = option.substring(0, equals);
            }
            switch (option) {
                case "--config" -> config = folder(value(left, option));
                case "--port" -> port = value(left, option);
                case "--profile" -> profile = value(left, option);
                default ->
                    throw new IllegalArgumentException(
                            option + ": unknown option (expected: --config DIR, --port N, --profile NAME or --help)");
            }
        }
        return new RunOptions(config, port, profile);
    }

    private static Path folder(String name) {
        Path folder = Path.of(name);
        if (!Files.isDirectory(folder)) {
            throw new IllegalArgumentException("--config " + name
                    + ": no such folder (expected: one with routes.yaml, keys.yaml or application.properties)");
        }
        return folder;
    }

    private static String value(ArrayDeque<String> left, String option) {
        String value = left.poll();
        if (value == null) {
            throw new IllegalArgumentException(option + ": no value (expected: one after it)");
        }
        return value;
    }

    /** Uses what the folder has; what it lacks is built in. */
    void applyTo(Main main) {
        if (port != null) {
            main.addOverrideProperty(Setting.PORT.key(), port);
        }
        String configured = "";
        if (config != null) {
            if (Files.exists(config.resolve("routes.yaml"))) {
                main.addInitialProperty(Setting.ROUTES.key(), "file:" + config.resolve("routes.yaml"));
            }
            if (Files.exists(config.resolve("keys.yaml"))) {
                main.addInitialProperty(
                        Setting.KEYS_FILE.key(), config.resolve("keys.yaml").toString());
            }
            if (Files.exists(properties())) {
                configured = "file:" + properties() + ",";
            }
        }
        String ofProfile = "";
        if (profile != null) {
            main.configure().withProfile(profile);
            ofProfile = "classpath:application-" + profile + ".properties;optional=true,";
        }
        // the first one that has a property wins
        main.setPropertyPlaceholderLocations(configured + ofProfile + "classpath:application.properties");
    }

    /** The folder's properties, whether or not there are any. */
    Path properties() {
        return (config == null ? Path.of("") : config).resolve("application.properties");
    }
}
