package routes.command;

import java.io.IOException;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import routes.auth.KeyDraft;
import routes.auth.KeysEditor;
import routes.quota.Term;

/** {@code dromedary keys new}. */
@Command(
        name = "new",
        description = {
            "Make a key: print its secret once and add its hash to keys.yaml.",
            "",
            "The secret alone goes to standard output. The rest of the file stays as it is; where there is none it is made,"
                    + " for its owner only: run this as the gateway's user. A running gateway knows the key when it has read the file again."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:made", "1:not made, nothing has changed", "2:an option makes no sense"},
        footer = {
            "",
            "Examples:",
            "  dromedary keys new --tenant team-a",
            "  dromedary keys new --tenant team-a --id team-a-ci --models llama,small --expires 90d",
            "  dromedary keys new --tenant team-b --plan trial --limit concurrent-requests=2"
        })
final class KeysNewCommand implements Callable<Integer> {

    private static final Pattern DAYS = Pattern.compile("(\\d{1,5})d");

    private final Environment environment;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private KeysLocation location = new KeysLocation();

    @Option(names = "--tenant", paramLabel = "T", required = true, description = "Who pays.")
    private String tenant = "";

    @Option(
            names = "--id",
            paramLabel = "ID",
            description = "What usage lines and logs name. Default: the tenant and a number, such as team-a-1.")
    private @Nullable String id;

    @Option(
            names = "--models",
            paramLabel = "A,B",
            split = ",",
            hideParamSyntax = true,
            description = "Names of the models that it may use. Default: every model.")
    private List<String> models = List.of();

    @Option(
            names = "--expires",
            paramLabel = "WHEN",
            description =
                    "Its end: a day, whose start in UTC counts (2027-01-01), an instant (2027-01-01T00:00:00Z) or a"
                            + " number of days (90d). Default: never.")
    private @Nullable String expires;

    @Option(
            names = "--plan",
            paramLabel = "P",
            description = "One of the plans in keys.yaml, with its limits. Default: none.")
    private @Nullable String plan;

    @Option(
            names = "--limit",
            paramLabel = "NAME=VALUE",
            description = "A limit of its own, before those of its plan; as often as needed. Names:"
                    + " requests-per-minute, tokens-per-minute, concurrent-requests, tokens-per-day, tokens-per-month,"
                    + " money-per-day, money-per-month, priority, weight, on-exhausted.")
    private Map<String, String> limits = new LinkedHashMap<>();

    @Option(
            names = "--cache-salt",
            description =
                    "Share replicas' prefix caches with keys of the same tenant only, as cache-salt: tenant does.")
    private boolean salted;

    KeysNewCommand(Environment environment) {
        this.environment = environment;
    }

    private static String limitNames() {
        return Stream.of(Term.values()).map(Term::label).collect(Collectors.joining(", "));
    }

    @Override
    public Integer call() throws IOException {
        for (String limit : limits.keySet()) {
            if (Term.named(limit) == null) {
                throw new ParameterException(
                        spec.commandLine(), "--limit " + limit + ": unknown (expected: " + limitNames() + ")");
            }
        }
        Path file = location.file(environment);
        String secret = Secret.random();
        KeyDraft draft = new KeyDraft(id, tenant, models, day(expires), plan, limits, salted);
        String made = new KeysEditor(file).add(draft, secret);
        spec.commandLine().getErr().println("Key '" + made + "' is in " + file + "; its secret is shown this once:");
        spec.commandLine().getErr().flush();
        spec.commandLine().getOut().println(secret);
        return Commands.OK;
    }

    private static @Nullable String day(@Nullable String expires) {
        Matcher days = DAYS.matcher(expires == null ? "" : expires);
        return days.matches()
                ? LocalDate.now(ZoneOffset.UTC)
                        .plusDays(Integer.parseInt(days.group(1)))
                        .toString()
                : expires;
    }
}
