package routes.command;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import routes.auth.KeyDraft;
import routes.auth.KeysEditor;
import routes.command.litellm.Conversion;
import routes.command.litellm.LiteLlm;
import routes.command.litellm.Report;
import routes.config.ConfigFile;

/** {@code dromedary import litellm}. */
@Command(
        name = "litellm",
        description = {
            "Make routes.yaml, keys.yaml and application.properties of LiteLLM's config.yaml.",
            "",
            "Says what works differently here and what has no counterpart, then checks the result. Deployments with the"
                    + " same model_name become replicas of one model. Values os.environ/NAME stay references to the"
                    + " environment; API keys that stand in the file go into application.properties, which only its"
                    + " owner may read. Existing files are not overwritten."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:written; what could not be converted is listed",
            "1:not written, or the result has problems",
            "2:an option makes no sense"
        },
        footer = {
            "",
            "Examples:",
            "  dromedary import litellm config.yaml --out /etc/dromedary",
            "  dromedary check --config /etc/dromedary"
        })
final class ImportLiteLlmCommand implements Callable<Integer> {

    private static final String ID = "litellm-master";
    private static final String TENANT = "litellm";

    private final Entries entries;
    private final Environment environment;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(paramLabel = "FILE", description = "LiteLLM's config.yaml.")
    private Path file = Path.of("");

    @Option(
            names = "--out",
            paramLabel = "DIR",
            defaultValue = "dromedary-conf",
            description = "Folder for the files; made where there is none. Default: ${DEFAULT-VALUE}.")
    private Path out = Path.of("");

    ImportLiteLlmCommand(Entries entries, Environment environment) {
        this.entries = entries;
        this.environment = environment;
    }

    @Override
    public Integer call() throws IOException {
        String text;
        try {
            text = Files.readString(file);
        } catch (NoSuchFileException e) {
            throw new IllegalArgumentException(file + ": there is no such file (expected: LiteLLM's config.yaml)", e);
        }
        Conversion made = LiteLlm.convert(file.toString(), text, environment);
        PrintWriter err = spec.commandLine().getErr();
        for (String name : List.of("routes.yaml", "keys.yaml", "application.properties")) {
            if (Files.exists(out.resolve(name))) {
                throw new IllegalArgumentException(out.resolve(name) + ": is there (expected: a folder without it)");
            }
        }
        String fresh = write(made);
        err.println("Wrote routes.yaml, keys.yaml and application.properties to " + out + ": " + made);
        print(made.report(), err);
        if (fresh != null) {
            err.println("The secret of the key '" + ID + "', shown this once:");
            err.flush();
            spec.commandLine().getOut().println(fresh);
            spec.commandLine().getOut().flush();
        }
        return checked(made.report(), err);
    }

    /** @return the secret of a key that was made; null when LiteLLM's goes on */
    private @Nullable String write(Conversion made) throws IOException {
        Files.createDirectories(out);
        String known = made.masterKey();
        String secret = known == null ? Secret.random() : known;
        Path keys = out.resolve("keys.yaml");
        new KeysEditor(keys).add(KeyDraft.of(ID, TENANT), secret);
        if (!made.prices().isEmpty()) {
            ConfigFile.replace(keys, Files.readString(keys) + made.prices());
        }
        ConfigFile.create(out.resolve("routes.yaml"), made.routes());
        StringBuilder properties = new StringBuilder("# Made by 'dromedary import litellm'.\n");
        for (Map.Entry<String, String> property : made.properties().entrySet()) {
            properties
                    .append(property.getKey())
                    .append(" = ")
                    .append(property.getValue().replace("\\", "\\\\"))
                    .append('\n');
        }
        ConfigFile.create(out.resolve("application.properties"), properties.toString());
        return known == null ? secret : null;
    }

    private static void print(Report report, PrintWriter err) {
        print("Works differently here:", report.differs(), err);
        print("Not converted:", report.missing(), err);
        print("Needs nothing here:", report.needless(), err);
    }

    private static void print(String title, List<String> lines, PrintWriter err) {
        if (!lines.isEmpty()) {
            err.println(title);
            lines.forEach(line -> err.println("  " + line));
        }
    }

    private int checked(Report report, PrintWriter err) {
        List<String> unset = report.variables().stream()
                .filter(name -> environment.get(name) == null)
                .toList();
        if (!unset.isEmpty()) {
            err.println("The gateway needs these variables, which are not set here: " + String.join(", ", unset)
                    + "; where they are: dromedary check --config " + out);
            return Commands.OK;
        }
        return CheckCommand.print(
                entries.check(List.of("--config", out.toString())),
                spec.commandLine().getOut(),
                err);
    }
}
