package routes.journey;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The minute of faults of {@link FaultsJourneyTest}, longer and each time other ones; writes {@code target/faults-soak.md}.
 * {@code -Dsoak.minutes} says how long, {@code -Dfaults.seed} repeats one.
 */
@Tag("soak")
class FaultsSoakTest {

    private static final long SEED = Long.getLong("faults.seed", System.currentTimeMillis());
    private static final Duration STORM = Duration.ofMinutes(Long.getLong("soak.minutes", 10));

    @Test
    void nothingIsLostLeakedOrAnsweredTwice() throws Exception {
        String report = new FaultRun(SEED, STORM).run().report();
        Path target = Files.createDirectories(Path.of("target"));
        Files.writeString(target.resolve("faults-soak.md"), report);
    }
}
