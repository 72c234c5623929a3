package routes.command;

import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import routes.auth.KeySummary;
import routes.auth.KeysEditor;
import routes.request.ApiKey;

/** {@code dromedary keys list}. */
@Command(
        name = "list",
        description = {
            "List the keys: id, tenant, models, end, state, and the first digits of the secret's hash.",
            "",
            "States: active, revoked (enabled: false), expired."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:listed", "1:the file can't be read", "2:an option makes no sense"},
        footer = {"", "Examples:", "  dromedary keys list --config /etc/dromedary"})
final class KeysListCommand implements Callable<Integer> {

    private final Environment environment;
    private final Clock clock;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private KeysLocation location = new KeysLocation();

    KeysListCommand(Environment environment, Clock clock) {
        this.environment = environment;
        this.clock = clock;
    }

    @Override
    public Integer call() throws IOException {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("ID", "TENANT", "MODELS", "EXPIRES", "STATE", "HASH"));
        for (KeySummary key : new KeysEditor(location.file(environment)).list()) {
            rows.add(List.of(
                    key.id(),
                    key.tenant(),
                    String.join(",", key.models()),
                    key.expiresAtEpochMillis() == ApiKey.NEVER
                            ? "never"
                            : Instant.ofEpochMilli(key.expiresAtEpochMillis()).toString(),
                    state(key),
                    key.fingerprint() + "…"));
        }
        int[] widths = new int[rows.get(0).size()];
        for (List<String> row : rows) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        for (List<String> row : rows) {
            List<String> cells = new ArrayList<>();
            for (int i = 0; i < widths.length; i++) {
                cells.add(row.get(i) + " ".repeat(widths[i] - row.get(i).length()));
            }
            spec.commandLine()
                    .getOut()
                    .println(cells.stream().collect(Collectors.joining("  ")).stripTrailing());
        }
        return Commands.OK;
    }

    private String state(KeySummary key) {
        if (!key.enabled()) {
            return "revoked";
        }
        return key.isExpired(clock.millis()) ? "expired" : "active";
    }
}
