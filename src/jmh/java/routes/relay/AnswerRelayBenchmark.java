package routes.relay;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The relay of a streamed answer, for each event: every event comes in a read of its own and is followed, looked into
 * and handed on. What an answer costs once is divided among its events.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class AnswerRelayBenchmark {

    private static final byte[] LAST_CHUNK = "0\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private final byte[] scratch = new byte[16 * 1024];
    private final List<ByteBuf> reads = new ArrayList<>();

    /** Whether the gateway asked for usage on its own account, so that the event must be taken out. */
    @Param({"false", "true"})
    public boolean cut;

    @Setup(Level.Trial)
    public void receive() {
        for (byte[] block : AnswerStream.blocks()) {
            reads.add(Unpooled.directBuffer().writeBytes(AnswerStream.chunk(block)));
        }
        reads.get(reads.size() - 1).writeBytes(LAST_CHUNK);
    }

    @TearDown(Level.Trial)
    public void release() {
        reads.forEach(ByteBuf::release);
    }

    @Benchmark
    @OperationsPerInvocation(AnswerStream.EVENTS)
    public AnswerFacts relay() {
        AnswerFacts facts = new AnswerFacts();
        RelayPlan plan = new RelayPlan(Framing.CHUNKED, -1, Framing.CHUNKED, Content.SSE, cut);
        AnswerRelay relay = new AnswerRelay(plan, facts, PooledByteBufAllocator.DEFAULT, scratch);
        for (int i = 0; i < reads.size(); i++) {
            ByteBuf read = reads.get(i);
            relay.relay(read.readerIndex(0).retain(), ByteBuf::release);
        }
        relay.release();
        if (relay.state() != RelayState.END) {
            throw new IllegalStateException("state: " + relay.state() + " (expected: END)");
        }
        return facts;
    }
}
