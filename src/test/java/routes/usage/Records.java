package routes.usage;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import routes.error.ErrorCode;
import routes.request.Outcome;

/** Records, and what tests do with them. */
final class Records {

    static final ObjectMapper JSON = new ObjectMapper();

    private Records() {}

    static UsageRecord numbered(int number) {
        return UsageRecord.builder().requestId("r" + number).tenant("acme").build();
    }

    static UsageRecord.Builder full() {
        return UsageRecord.builder()
                .tsMillis(1_769_903_999_042L)
                .requestId("req-5f0c")
                .upstreamRequestId("req-5f0c-1")
                .tenant("acme")
                .keyId("acme-ci")
                .api("chat_completions")
                .modelAsked("small")
                .modelServed("org/Small-7B")
                .replica("http://10.0.0.7:8000")
                .attempts(2)
                .status(200)
                .outcome(Outcome.UPSTREAM_ABORTED)
                .error(ErrorCode.UPSTREAM_RESET)
                .finishReason("stop")
                .stream(true)
                .requestBytes(102_400)
                .responseBytes(4_096)
                .queueNanos(0)
                .connectNanos(345_678)
                .ttfbNanos(12_345_000)
                .ttftNanos(12_345_999)
                .durationNanos(1_234_567_890_123L)
                .promptTokens(5)
                .completionTokens(0)
                .totalTokens(5)
                .cachedTokens(4)
                .reasoningTokens(1)
                .usageSource(UsageRecord.Source.FINAL)
                .partial(true)
                .n(1)
                .maxTokens(Long.MAX_VALUE)
                .user("user \"1\"")
                .gateway("gw-0")
                .affinity("home")
                .fallbackFrom("m0")
                .recordId("0a1b2c3d4e5f-1");
    }

    static byte[] line(UsageRecord record) {
        UsageLine line = new UsageLine(0);
        line.append(record);
        return Arrays.copyOf(line.array(), line.length());
    }

    /** The request ids of a file's lines; fails where a line isn't JSON. */
    static List<String> ids(byte[] file) throws IOException {
        List<String> ids = new ArrayList<>();
        String text = new String(file, StandardCharsets.UTF_8);
        if (!text.isEmpty() && !text.endsWith("\n")) {
            throw new IOException("torn: " + text.substring(text.lastIndexOf('\n') + 1));
        }
        for (String line : text.lines().toList()) {
            JsonNode json = JSON.readTree(line);
            ids.add(json.get("request_id").asText());
        }
        return ids;
    }

    static List<String> ids(int count) {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ids.add("r" + i);
        }
        return ids;
    }

    static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("it did not come about within 20 s");
            }
            Thread.yield();
        }
    }
}
