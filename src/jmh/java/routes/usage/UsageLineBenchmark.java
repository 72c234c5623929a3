package routes.usage;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** The usage line of a record in which every field is known, written over the line before it. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class UsageLineBenchmark {

    private final UsageRecord record = Records.full().build();
    private final UsageLine line = new UsageLine(UsageLine.MAX_BYTES);

    @Benchmark
    public int append() {
        line.clear();
        line.append(record);
        return line.length();
    }
}
