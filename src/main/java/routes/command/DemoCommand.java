package routes.command;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Unmatched;

/** {@code dromedary demo}, which reads its options itself. */
@Command(
        name = "demo",
        description = "Start a stand-in for a vLLM server: no model, no GPU, the same HTTP API; 'demo --help' lists its"
                + " options.")
final class DemoCommand implements Callable<Integer> {

    private final Entries entries;

    @Unmatched
    private List<String> options = new ArrayList<>();

    DemoCommand(Entries entries) {
        this.entries = entries;
    }

    @Override
    public Integer call() throws Exception {
        return entries.demo(options);
    }
}
