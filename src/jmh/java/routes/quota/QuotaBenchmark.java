package routes.quota;

import java.util.Map;
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
import routes.error.GatewayException;

/** What limits cost an admitted request: all of a key's and its tenant's are checked, taken and settled. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class QuotaBenchmark {

    @Param({"1", "100000"})
    public int keys;

    private Quota[] quotas = {};
    private int next;

    @Setup(Level.Trial)
    public void makeKeys() {
        Quotas registry = new Quotas();
        Terms terms = Terms.of(Map.of(
                Term.REQUESTS_PER_MINUTE, Term.REQUESTS_PER_MINUTE.max(),
                Term.TOKENS_PER_MINUTE, Term.TOKENS_PER_MINUTE.max(),
                Term.CONCURRENT_REQUESTS, 1000L,
                Term.TOKENS_PER_MONTH, Term.TOKENS_PER_MONTH.max()));
        quotas = new Quota[keys];
        for (int i = 0; i < keys; i++) {
            quotas[i] = registry.quota("key-" + i, terms, "tenant-" + i / 10, terms, Prices.NONE);
        }
    }

    @Benchmark
    public void reserveAndSettle() throws GatewayException {
        next = next + 1 == keys ? 0 : next + 1;
        Grant grant = quotas[next].reserve("m1", 1, 500);
        grant.releaseConcurrency();
        grant.settle(480, 100, 200);
    }
}
