package routes.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class DemoArgumentsTest {

    @Test
    void every_option_is_read() {
        DemoOptions options = DemoArguments.parse(List.of(
                "--host=::1",
                "--port",
                "9001",
                "--models",
                "a,b",
                "--api-key",
                "k",
                "--tokens",
                "8",
                "--ttft",
                "50ms",
                "--pace",
                "12.5",
                "--slots",
                "4",
                "--error-rate",
                "0.1",
                "--reset-rate=0.2",
                "--keep-alive",
                "7s",
                "--name",
                "left"));
        assertThat(options)
                .isEqualTo(new DemoOptions(
                        "left",
                        "::1",
                        9001,
                        List.of("a", "b"),
                        "k",
                        8,
                        Duration.ofMillis(50),
                        12.5,
                        4,
                        0.1,
                        0.2,
                        Duration.ofSeconds(7)));
        assertThat(options.toString()).doesNotContain("k,");
    }

    @Test
    void nothing_given_means_the_defaults() {
        assertThat(DemoArguments.parse(List.of())).isEqualTo(DemoOptions.defaults());
    }

    @Test
    void mistakes_are_told_in_the_words_of_the_command_line() {
        refused("--porrt is not an option", "--porrt", "1");
        refused("9001 is not an option", "9001");
        refused("--port needs a value", "--port");
        refused("--port: many (expected: a whole number)", "--port", "many");
        refused("port: 70000 (expected: 0 to 65535)", "--port", "70000");
        refused("--ttft: 200 (expected: a duration such as 200ms or 5s)", "--ttft", "200");
        refused("error rate: 2.0 (expected: 0 to 1)", "--error-rate", "2");
        refused("tokens per second: NaN", "--pace", "NaN");
        refused("models: ", "--models", "a,,b");
        refused("slots: 0 (expected: >= 1)", "--slots", "0");
        refused("keep-alive timeout: PT0S (expected: > 0)", "--keep-alive", "0s");
        refused("name", "--name", "line\r\nbreak");
    }

    @Test
    void help_lists_every_option_with_its_default() {
        assertThat(DemoArguments.asksForHelp(List.of("--port", "1", "--help"))).isTrue();
        assertThat(DemoArguments.asksForHelp(List.of("--port", "1"))).isFalse();
        Pattern.compile("--[a-z-]+")
                .matcher(DemoArguments.HELP)
                .results()
                .map(match -> match.group())
                .filter(name -> !name.equals("--help"))
                .forEach(name -> assertThatIllegalArgumentException()
                        .isThrownBy(() -> DemoArguments.parse(List.of(name)))
                        .withMessage(name + " needs a value"));
    }

    private static void refused(String message, String... arguments) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DemoArguments.parse(List.of(arguments)))
                .withMessageContaining(message);
    }
}
