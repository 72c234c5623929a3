package routes.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** The micro benchmarks keep working between the days on which somebody looks at their figures. */
class BenchmarksTest {

    private static final Path SOURCES = Path.of("src/jmh/java");

    @Test
    void everyBenchmarkRunsAndGivesAResult() throws RunnerException, IOException {
        System.setProperty("jmh.ignoreLock", "true"); // nothing is measured here, so another run need not wait

        Options once = new OptionsBuilder()
                .forks(0)
                .warmupIterations(0)
                .measurementIterations(1)
                .measurementTime(TimeValue.milliseconds(2))
                .shouldFailOnError(true)
                .verbosity(VerboseMode.SILENT)
                .build();
        Collection<RunResult> results = new Runner(once).run();

        assertThat(results)
                .extracting(result -> classOf(result.getParams().getBenchmark()))
                .hasSameElementsAs(benchmarkClasses());
        assertThat(results)
                .allSatisfy(result -> assertThat(result.getPrimaryResult().getScore())
                        .as(result.getParams().id())
                        .isPositive()
                        .isFinite());
    }

    private static String classOf(String benchmark) {
        return benchmark.substring(0, benchmark.lastIndexOf('.'));
    }

    private static List<String> benchmarkClasses() throws IOException {
        try (Stream<Path> files = Files.walk(SOURCES)) {
            return files.map(file -> SOURCES.relativize(file).toString())
                    .filter(name -> name.endsWith("Benchmark.java"))
                    .map(name -> name.replace(".java", "").replace('/', '.'))
                    .toList();
        }
    }
}
