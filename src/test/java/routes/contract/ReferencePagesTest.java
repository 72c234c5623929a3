package routes.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import routes.config.Setting;
import routes.error.ErrorCode;

/**
 * The pages in docs/reference say what the code says. Run this test with {@code -Dreference.write=true} to write them
 * again.
 */
class ReferencePagesTest {

    private static final Path FOLDER = Path.of("docs/reference");

    @Test
    void theErrorsPageListsTheCatalogue() throws Exception {
        StringBuilder page = new StringBuilder("""
                # Errors

                The codes stand in `error.code` of an answer, in `error_code` of a usage line and in the label `code` of
                `dromedary_request_errors_total`. `Retry-After` is in seconds.

                | code | status | type | Retry-After | message unless there is a more precise one |
                |---|---|---|---|---|
                """);
        for (ErrorCode code : ErrorCode.values()) {
            page.append("| `").append(code.code()).append("` | ").append(code.status());
            page.append(" | `").append(code.type()).append("` | ");
            page.append(code.retryAfterSeconds() == 0 ? "" : code.retryAfterSeconds());
            page.append(" | ").append(code.text()).append(" |\n");
        }

        matches("errors.md", page);
    }

    @Test
    void theConfigurationPageListsEverySetting() throws Exception {
        StringBuilder page = new StringBuilder("""
                # Configuration

                In `application.properties` of the configuration folder or, stronger, in the environment. Durations: `250ms`,
                `2s`, `10m`. Sizes: `65536`, `64k`, `32m`, `1g`.

                | property | environment | default | kind | meaning |
                |---|---|---|---|---|
                """);
        for (Setting setting : Setting.values()) {
            page.append("| `")
                    .append(setting.key())
                    .append("` | `")
                    .append(setting.environmentName())
                    .append("` | ");
            page.append(setting.defaultValue().isEmpty() ? "" : "`" + setting.defaultValue() + "`");
            page.append(" | ").append(setting.kind().expected());
            page.append(" | ").append(setting.meaning()).append(" |\n");
        }

        matches("configuration.md", page);
    }

    private static void matches(String name, CharSequence page) throws Exception {
        Path file = FOLDER.resolve(name);
        if (Boolean.getBoolean("reference.write")) {
            Files.createDirectories(FOLDER);
            Files.writeString(file, page);
        }
        assertThat(file).hasContent(page.toString());
    }
}
