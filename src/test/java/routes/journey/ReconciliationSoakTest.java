package routes.journey;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@link ReconciliationJourneyTest} with 100,000 requests; writes {@code target/reconciliation-soak.md}. */
@Tag("soak")
class ReconciliationSoakTest {

    private static final int REQUESTS = Integer.getInteger("reconciliation.requests", 100_000);
    private static final int RESTARTS = 10;
    private static final int KILLS = 5;

    @TempDir
    private Path folder;

    @Test
    void linesAreWhatReplicasMadeWhateverBefellThem() throws Exception {
        StringBuilder report = new StringBuilder("# Reconciliation\n\n");
        report.append(
                new ReconciliationRun(Files.createDirectory(folder.resolve("ended"))).terminate(REQUESTS, RESTARTS));
        for (int i = 0; i < KILLS; i++) {
            report.append(new ReconciliationRun(Files.createDirectory(folder.resolve("killed" + i))).kill(3_000, 500));
        }
        Path target = Files.createDirectories(Path.of("target"));
        Files.writeString(target.resolve("reconciliation-soak.md"), report);
    }
}
