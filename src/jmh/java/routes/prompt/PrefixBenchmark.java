package routes.prompt;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
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
import routes.error.GatewayException;
import routes.request.Api;
import routes.request.PrefixLevels;
import routes.request.Prompt;

/** The hashes of a prompt's beginning, in direct memory, where prompts are. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class PrefixBenchmark {

    /** Bytes of the first message. */
    @Param({"1000", "100000"})
    public int size;

    private ByteBuf body = Unpooled.EMPTY_BUFFER;
    private Prompt prompt = new Prompt.Draft().finish();

    @Setup(Level.Trial)
    public void writeBody() throws GatewayException {
        String json = "{\"model\":\"m1\",\"messages\":[{\"role\":\"user\",\"content\":\""
                + "0123456789".repeat(size / 10) + "\"}]}";
        body = Unpooled.directBuffer().writeBytes(json.getBytes(StandardCharsets.UTF_8));
        prompt = PromptScanner.scan(body);
    }

    @TearDown(Level.Trial)
    public void release() {
        body.release();
    }

    @Benchmark
    public PrefixLevels levels() {
        return Prefix.of(Api.CHAT_COMPLETIONS, body, prompt, null);
    }
}
