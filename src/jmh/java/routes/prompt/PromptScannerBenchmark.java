package routes.prompt;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.Blackhole;
import routes.error.GatewayException;
import routes.request.Prompt;

/**
 * The scan of a prompt beside Jackson's streaming parser over the same bytes.
 *
 * <p>Each reads from where it reads best: the scanner from direct memory, where prompts are, Jackson from an array.
 * Jackson visits every token but decodes no text that isn't asked for.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
public class PromptScannerBenchmark {

    private static final String[] WORDS = """
            the quick brown fox jumps over lazy dog while inference servers stream tokens back to clients and nobody
            waits for batch schedulers \\"quoted\\" text with\\nnewlines and tabs\\t maybe unicode like caf\u00e9
            """.split("\\s+");

    private final JsonFactory jackson = new JsonFactory();

    /** Bytes of the body. */
    @Param({"1000", "100000", "1000000"})
    public int size;

    private byte[] json = {};
    private ByteBuf body = Unpooled.EMPTY_BUFFER;

    /** Megabytes (10<sup>6</sup> bytes) read each second. */
    @AuxCounters
    @State(Scope.Thread)
    public static class Volume {
        public double megabytes;
    }

    @Setup(Level.Trial)
    public void writeBody() {
        json = chat(size);
        body = Unpooled.directBuffer(json.length).writeBytes(json);
    }

    @TearDown(Level.Trial)
    public void releaseBody() {
        body.release();
    }

    @Benchmark
    public Prompt scan(Volume volume) throws GatewayException {
        volume.megabytes += json.length / 1e6;
        return PromptScanner.scan(body);
    }

    @Benchmark
    public void jackson(Volume volume, Blackhole sink) throws IOException {
        volume.megabytes += json.length / 1e6;
        try (JsonParser parser = jackson.createParser(json)) {
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                sink.consume(token);
            }
        }
    }

    /** A chat of one long question, with quotes, escapes and a character beyond ASCII, as prompts have. */
    private static byte[] chat(int size) {
        Random random = new Random(7);
        StringBuilder text = new StringBuilder(
                "{\"model\":\"meta-llama/Llama-3.1-8B-Instruct\",\"messages\":["
                        + "{\"role\":\"system\",\"content\":\"You are a helpful assistant.\"},{\"role\":\"user\",\"content\":\"");
        String end = "\"}],\"max_tokens\":100,\"temperature\":0.7,\"stream\":true}";
        while (text.length() < size - end.length()) {
            text.append(WORDS[random.nextInt(WORDS.length)]).append(' ');
        }
        return text.append(end).toString().getBytes(StandardCharsets.UTF_8);
    }
}
