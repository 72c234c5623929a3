package routes.demo;

import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads a demo replica's options from a command line: {@code --port 9001 --ttft=200ms}. */
final class DemoArguments {

    static final String HELP = """
            A stand-in for a vLLM server: no model, no GPU, the same HTTP API.

              --host ADDRESS      listen on this address              127.0.0.1
              --port PORT         listen on this port; 0: a free one  0
              --models A,B        names of the models                 demo
              --api-key KEY       ask for this key below /v1          none
              --tokens N          tokens of a full answer             64
              --ttft DURATION     silence before the first token      200ms
              --pace N            tokens a second; 0: all at once     40
              --slots N           sequences at once; more wait        256
              --error-rate SHARE  requests answered with 500          0
              --reset-rate SHARE  answers broken by a reset           0
              --keep-alive DURATION  close idle connections after     5s
              --name NAME         system_fingerprint, server header   dromedary-demo
              --help              this text

            Durations: 200ms, 5s, 1m. Shares: 0 to 1, such as 0.05.
            """;

    private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m)");

    private DemoArguments() {}

    static boolean asksForHelp(List<String> arguments) {
        return arguments.contains("--help") || arguments.contains("-h");
    }

    /** @throws IllegalArgumentException with a message for the one who typed it */
    static DemoOptions parse(List<String> arguments) {
        DemoOptions.Builder options = DemoOptions.builder();
        Iterator<String> rest = arguments.iterator();
        while (rest.hasNext()) {
            String argument = rest.next();
            int equals = argument.indexOf('=');
            String name = equals < 0 ? argument : argument.substring(0, equals);
            if (!name.startsWith("--")) {
                throw new IllegalArgumentException(name + " is not an option; --help lists them");
            }
            if (equals < 0 && !rest.hasNext()) {
                throw new IllegalArgumentException(name + " needs a value");
            }
            set(options, name, equals < 0 ? rest.next() : argument.substring(equals + 1));
        }
        return options.build();
    }

    private static void set(DemoOptions.Builder options, String name, String value) {
        switch (name) {
            case "--host" -> options.host(value);
            case "--port" -> options.port(integer(name, value));
            case "--models" -> options.models(value.split(",", -1));
            case "--api-key" -> options.apiKey(value);
            case "--tokens" -> options.tokens(integer(name, value));
            case "--ttft" -> options.timeToFirstToken(duration(name, value));
            case "--pace" -> options.tokensPerSecond(number(name, value));
            case "--slots" -> options.slots(integer(name, value));
            case "--error-rate" -> options.errorRate(number(name, value));
            case "--reset-rate" -> options.resetRate(number(name, value));
            case "--keep-alive" -> options.keepAliveTimeout(duration(name, value));
            case "--name" -> options.name(value);
            default -> throw new IllegalArgumentException(name + " is not an option; --help lists them");
        }
    }

    private static int integer(String name, String value) {
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: a whole number)", e);
        }
    }

    private static double number(String name, String value) {
        try {
            return Double.parseDouble(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: a number)", e);
        }
    }

    private static Duration duration(String name, String value) {
        Matcher parts = DURATION.matcher(value);
        if (!parts.matches()) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: a duration such as 200ms or 5s)");
        }
        long amount = Long.parseLong(parts.group(1));
        return switch (parts.group(2)) {
            case "ms" -> Duration.ofMillis(amount);
            case "s" -> Duration.ofSeconds(amount);
            default -> Duration.ofMinutes(amount);
        };
    }
}
