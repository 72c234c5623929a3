package routes.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import routes.command.Entries;
import routes.command.Findings;
import routes.command.Run;

/**
 * The page docs/command-line.md is what the commands say of themselves. Run this test with {@code -Dreference.write=true} to
 * write it again.
 */
class CommandLinePageTest {

    private static final Path PAGE = Path.of("docs/command-line.md");
    private static final List<String> COMMANDS = List.of(
            "", "run", "check", "keys", "keys new", "keys list", "keys revoke", "import", "import litellm", "version");

    @Test
    void thePageShowsTheHelpOfEveryCommand() throws Exception {
        StringBuilder page = new StringBuilder("""
                # Command line

                `bin/dromedary` finds a Java and runs these commands; `dromedary COMMAND --help` prints what stands here. `dromedary aot` makes
                starts faster on Java 25 and newer, `dromedary demo --help` lists the options of the stand-in for vLLM. Messages and errors go to
                standard error, results to standard output. Secrets are never printed, but for the one of a new key, once.
                """);
        for (String command : COMMANDS) {
            String help = help(command);
            int properties = help.indexOf("Properties (");
            page.append("\n## `dromedary ").append(command).append("`\n\n```\n");
            page.append(properties < 0 ? help : help.substring(0, properties)).append("```\n");
            if (properties >= 0) {
                page.append("\nIt goes on with all properties: [configuration](reference/configuration.md).\n");
            }
        }
        String text = page.toString().replace("`dromedary `", "`dromedary`");

        if (Boolean.getBoolean("reference.write")) {
            Files.writeString(PAGE, text);
        }
        assertThat(PAGE).hasContent(text);
    }

    private static String help(String command) {
        return Run.with(new Nothing(), Map.of(), (command + " --help").trim().split(" "))
                .out()
                .replace("\r\n", "\n");
    }

    /** Help starts nothing. */
    private static final class Nothing implements Entries {

        @Override
        public int run(List<String> options) {
            return 1;
        }

        @Override
        public int demo(List<String> options) {
            return 1;
        }

        @Override
        public Findings check(List<String> options) {
            throw new IllegalStateException();
        }
    }
}
