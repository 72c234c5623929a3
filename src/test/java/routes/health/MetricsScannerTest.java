package routes.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MetricsScannerTest {

    private static final List<String> RUNNING =
            List.of("vllm:num_requests_running", "ray_vllm_num_requests_running", "sglang:num_running_reqs");
    private static final List<String> WAITING =
            List.of("vllm:num_requests_waiting", "ray_vllm_num_requests_waiting", "sglang:num_queue_reqs");

    /** @param partBytes length of the parts that the page comes in */
    private static MetricsScanner scan(String page, int partBytes) {
        MetricsScanner scanner = new MetricsScanner(RUNNING, WAITING);
        scanner.begin();
        ByteBuf bytes = Unpooled.copiedBuffer(page, StandardCharsets.UTF_8);
        while (bytes.isReadable()) {
            ByteBuf part = bytes.readSlice(Math.min(partBytes, bytes.readableBytes()));
            scanner.read(part);
            assertThat(part.isReadable()).isFalse();
        }
        scanner.end();
        return scanner;
    }

    private static MetricsScanner scan(String page) {
        return scan(page, Integer.MAX_VALUE);
    }

    private static OptionalLong running(String page) {
        return scan(page).running();
    }

    @Test
    void readsAPageOfVllm() {
        String page = """
                # HELP vllm:num_requests_running Number of requests in model execution batches.
                # TYPE vllm:num_requests_running gauge
                vllm:num_requests_running{engine="0",model_name="m1"} 3.0
                # HELP vllm:num_requests_waiting Number of requests waiting to be processed.
                # TYPE vllm:num_requests_waiting gauge
                vllm:num_requests_waiting{engine="0",model_name="m1"} 2.0
                vllm:num_requests_waiting_by_reason{engine="0",model_name="m1",reason="capacity"} 9.0
                vllm:e2e_request_latency_seconds_bucket{engine="0",le="0.3",model_name="m1"} 17.0
                """;
        for (int part = 1; part < 80; part++) {
            MetricsScanner scanner = scan(page, part);
            assertThat(scanner.running()).as("in parts of %d", part).hasValue(3);
            assertThat(scanner.waiting()).as("in parts of %d", part).hasValue(2);
        }
    }

    @Test
    void addsUpEnginesAndModels() {
        assertThat(running("""
                        vllm:num_requests_running{engine="0",model_name="m1"} 3
                        vllm:num_requests_running{engine="1",model_name="m1"} 4.0
                        vllm:num_requests_running{engine="1",model_name="lora"} 1
                        """)).hasValue(8);
    }

    @Test
    void theFirstNameThatThePageHasCountsWhateverTheOrderOfItsLines() {
        String both = "ray_vllm_num_requests_running 7\nvllm:num_requests_running 2\n";
        assertThat(running(both)).hasValue(2);
        assertThat(running("sglang:num_running_reqs{tp_rank=\"0\"} 5\n")).hasValue(5);
    }

    @Test
    void readsThePageThatCameAfterAnother() {
        MetricsScanner scanner = scan("vllm:num_requests_running 7\nvllm:num_requests_wai");
        scanner.begin();
        scanner.read(Unpooled.copiedBuffer("vllm:num_requests_waiting 1", StandardCharsets.US_ASCII));
        scanner.end();
        assertThat(scanner.running()).isEmpty();
        assertThat(scanner.waiting()).hasValue(1);
    }

    @ParameterizedTest
    @CsvSource({
        "7, 7",
        "7.0, 7",
        "2.56e+02, 256",
        "1E1, 10",
        "+3, 3",
        "0, 0",
        "4 1712345678901, 4",
        "1e300, 1000000000",
    })
    void readsNumbersAsTheyComeInSuchPages(String text, long value) {
        assertThat(running("vllm:num_requests_running " + text)).hasValue(value);
        assertThat(running("  vllm:num_requests_running\t{a=\"b\"}" + text + "\r\n"))
                .hasValue(value);
    }

    @ParameterizedTest
    @ValueSource(strings = {"NaN", "+Inf", "-Inf", "-1", "", "x", "0x10", "1d", "--", "1.0.0", "1e999", "{}", "\"7\""})
    void whatIsNotANumberDoesNotCount(String text) {
        assertThat(running("vllm:num_requests_running " + text + "\n")).isEmpty();
        assertThat(running("vllm:num_requests_running " + text + "\nvllm:num_requests_running 2\n"))
                .hasValue(2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "\n\n",
                "# vllm:num_requests_running 3\n",
                "#vllm:num_requests_running 3",
                "vllm:num_requests_running_total 3\n",
                "vllm:num_requests_runnin 3\n",
                "x_vllm:num_requests_running 3\n",
                "{vllm:num_requests_running} 3\n",
                "vllm:num_requests_running{a=\"b\" 3\n",
                "vllm:num_requests_running{a=\"} 3\n",
                "<html>vllm:num_requests_running 3</html>\n",
                "{\"running\": 3}",
            })
    void linesThatOnlyLookLikeItDoNotCount(String page) {
        assertThat(running(page)).isEmpty();
    }

    @Property(tries = 500)
    void labelsMayHoldAnything(
            @ForAll @Size(max = 5) List<@From("labelValues") String> labels,
            @ForAll @IntRange(min = 0, max = 100_000) int value,
            @ForAll @IntRange(min = 1, max = 20) int partBytes) {
        String text = labels.stream()
                .map(label -> "label=\""
                        + label.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + "\"")
                .collect(Collectors.joining(","));
        String page = "vllm:num_requests_waiting{" + text + "} 1\nvllm:num_requests_running{" + text + "} " + value
                + "\nvllm:num_requests_running_sum{" + text + "} 5\nvllm:num_requests_waiting{" + text + ",} 2\n";

        MetricsScanner scanner = scan(page, partBytes);

        assertThat(scanner.running()).hasValue(value);
        assertThat(scanner.waiting()).hasValue(3);
    }

    @Provide
    Arbitrary<String> labelValues() {
        return Arbitraries.oneOf(
                Arbitraries.strings().withChars("\\\"{}, \n#=a1vé€").ofMaxLength(12),
                Arbitraries.of("vllm:num_requests_running 4", "\nvllm:num_requests_running 4\n", "} 9", "\"} 9", "\\"));
    }

    @Property(tries = 500)
    void rubbishIsReadWithoutFailing(@ForAll byte[] rubbish, @ForAll @IntRange(min = 1, max = 50) int cut) {
        MetricsScanner scanner = new MetricsScanner(RUNNING, WAITING);
        int middle = Math.min(cut, rubbish.length);
        scanner.read(Unpooled.wrappedBuffer(rubbish, 0, middle));
        scanner.read(Unpooled.wrappedBuffer(rubbish, middle, rubbish.length - middle));
        scanner.read(Unpooled.copiedBuffer("\nvllm:num_requests_running 4", StandardCharsets.US_ASCII));
        scanner.end();
        assertThat(scanner.running()).hasValue(4);
    }
}
