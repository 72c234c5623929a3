package routes.journey;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What people are billed by is what the replicas made, whatever befell them; writes {@code target/reconciliation.md}. */
@Timeout(180)
class ReconciliationJourneyTest {

    private static final StringBuffer REPORT = new StringBuffer("# Reconciliation\n\n");

    @TempDir
    private Path folder;

    @AfterAll
    static void report() throws Exception {
        Path target = Files.createDirectories(Path.of("target"));
        Files.writeString(target.resolve("reconciliation.md"), REPORT);
    }

    @Test
    void gatewaysThatAreEndedInOrderLoseNothingAndCountNothingTwice() throws Exception {
        REPORT.insert(REPORT.indexOf("\n") + 2, new ReconciliationRun(folder).terminate(5_000, 3));
    }

    @Test
    void oneThatIsKilledLosesWhatEndedWithinTheFlushInterval() throws Exception {
        REPORT.append(new ReconciliationRun(folder).kill(1_500, 500));
    }
}
