package routes.relay;

import java.io.ByteArrayOutputStream;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** The look into a streamed answer alone, for each event: what remains of the relay where many events share a read. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class EventScannerBenchmark {

    private final byte[] stream = stream();

    @Benchmark
    @OperationsPerInvocation(AnswerStream.EVENTS)
    public AnswerFacts scan() {
        AnswerFacts facts = new AnswerFacts();
        EventScanner events = new EventScanner(facts);
        events.data(stream, 0, stream.length);
        events.end();
        return facts;
    }

    private static byte[] stream() {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        AnswerStream.blocks().forEach(all::writeBytes);
        return all.toByteArray();
    }
}
