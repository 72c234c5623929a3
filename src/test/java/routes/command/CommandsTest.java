package routes.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import routes.config.Setting;
import routes.quota.Term;

/** The command line: what it accepts, how it describes itself, what it says to mistakes. */
class CommandsTest {

    /** Remembers what it was asked to do. */
    private static final class Asked implements Entries {

        private final List<String> calls = new ArrayList<>();

        @Override
        public int run(List<String> options) {
            calls.add("run " + options);
            return 7;
        }

        @Override
        public int demo(List<String> options) {
            calls.add("demo " + options);
            return 0;
        }

        @Override
        public Findings check(List<String> options) {
            calls.add("check " + options);
            throw new IllegalArgumentException("--config x: no such folder (expected: one)");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "run", "check", "keys", "keys new", "keys list", "keys revoke", "import", "import litellm"})
    void everyCommandDescribesItself(String command) {
        Run run = Run.of((command + " --help").trim().split(" "));

        assertThat(run.status()).isZero();
        assertThat(run.err()).isEmpty();
        assertThat(run.out()).startsWith("Usage: dromedary").contains("--help", "Show this text.");
    }

    @Test
    void whatDoesSomethingTellsItsExitCodesAndAnExample() {
        for (String command : List.of("run", "check", "keys new", "keys list", "keys revoke", "import litellm")) {
            assertThat(Run.of((command + " --help").split(" ")).out())
                    .contains("Exit codes:", "Examples:", "  dromedary " + command);
        }
    }

    @Test
    void theHelpOfRunListsEverySetting() {
        String help = Run.of("run", "--help").out();
        for (Setting setting : Setting.values()) {
            assertThat(help).contains(setting.key(), setting.environmentName());
        }
    }

    @Test
    void theHelpOfKeysNewListsEveryLimit() {
        String help = Run.of("keys", "new", "--help").out();
        for (Term term : Term.values()) {
            assertThat(help).contains(term.label());
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "frob | frob: unknown command (expected: run, check, keys, import, demo, version); see 'dromedary --help'",
                "chekc | chekc: unknown command (expected: run, check, keys, import, demo, version); see 'dromedary --help'",
                "keys revok | revok: unknown command (expected: perhaps revoke); see 'dromedary keys --help'",
                "keys new --tenat x | --tenat: unknown option (expected: perhaps --tenant); see 'dromedary keys new --help'",
                "check --confg=x | --confg: unknown option (expected: perhaps --config); see 'dromedary check --help'",
                "version now | now: unknown argument (expected: nothing); see 'dromedary version --help'",
                "keys | keys: no command (expected: new, list, revoke); see 'dromedary keys --help'",
                "import | import: no command (expected: litellm); see 'dromedary import --help'"
            })
    void aMistakeIsNamedWithWhatIsExpected(String command, String message) {
        Run run = Run.of(command.split(" "));

        assertThat(run.status()).isEqualTo(2);
        assertThat(run.err()).isEqualTo("dromedary: " + message + System.lineSeparator());
        assertThat(run.out()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"keys new", "keys revoke", "import litellm", "check --config"})
    void whatIsMissingIsNamed(String command) {
        Run run = Run.of(command.split(" "));

        assertThat(run.status()).isEqualTo(2);
        assertThat(run.err()).hasLineCount(1).startsWith("dromedary: ").contains("--help'");
    }

    @Test
    void aStartAndADemoGetTheirOptions() {
        Asked asked = new Asked();

        assertThat(Run.with(asked, Map.of(), "run", "--config", "x", "--port=1").status())
                .isEqualTo(7);
        assertThat(Run.with(asked, Map.of(), "demo", "--port", "0", "--help").status())
                .isZero();
        assertThat(asked.calls).containsExactly("run [--config, x, --port, 1]", "demo [--port, 0, --help]");
    }

    @Test
    void optionsThatMakeNoSenseToACheckAreAMistakeOfTheCommandLine() {
        Run run = Run.with(new Asked(), Map.of(), "check", "--config", "x");

        assertThat(run.status()).isEqualTo(2);
        assertThat(run.err()).hasLineCount(1).contains("--config x: no such folder (expected: one)");
    }

    @Test
    void theVersionNamesJava() {
        assertThat(Run.of("version").out()).startsWith("dromedary ").contains("Java " + Runtime.version());
    }

    @Test
    void theLauncherListsTheSameCommands() throws Exception {
        String script = Files.readString(Path.of("src/main/dist/bin/dromedary"));
        CommandLine line = new Commands(
                        new Asked(),
                        name -> null,
                        new PrintWriter(new StringWriter()),
                        new PrintWriter(new StringWriter()))
                .line();

        for (String command : line.getSubcommands().keySet()) {
            assertThat(script).containsPattern("\n  " + command + "[ \\n]").contains("\n    " + command);
        }
    }
}
