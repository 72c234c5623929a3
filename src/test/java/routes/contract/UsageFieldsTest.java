package routes.contract;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import routes.request.Outcome;
import routes.usage.UsageJournal;
import routes.usage.UsageRecord;

/** Usage lines are bills: their fields are added to, never renamed, moved or left out. */
class UsageFieldsTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    static final List<String> FIELDS = List.of(
            "ts",
            "request_id",
            "upstream_request_id",
            "tenant",
            "key_id",
            "api",
            "model_asked",
            "model_served",
            "replica",
            "attempts",
            "status",
            "outcome",
            "error_code",
            "finish_reason",
            "stream",
            "request_bytes",
            "response_bytes",
            "queue_ms",
            "connect_ms",
            "ttfb_ms",
            "ttft_ms",
            "duration_ms",
            "prompt_tokens",
            "completion_tokens",
            "total_tokens",
            "cached_tokens",
            "reasoning_tokens",
            "usage_source",
            "partial",
            "n",
            "max_tokens",
            "user",
            "gateway",
            "affinity",
            "fallback_from",
            "record_id");

    private static final List<String> OUTCOMES = List.of(
            "success", "client_closed", "upstream_aborted", "upstream_error", "timeout", "rejected", "internal");

    @Test
    void aLineHasTheseFieldsInThisOrderWhateverIsKnown(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("usage.jsonl");
        try (UsageJournal journal = new UsageJournal(new UsageJournal.Settings(file, 10, Duration.ofMillis(1)))) {
            journal.start();
            assertThat(journal.tryReserve()).isTrue();
            journal.append(UsageRecord.builder().build());
        }
        JsonNode line = JSON.readTree(Files.readString(file));
        assertThat(line.fieldNames()).toIterable().startsWith(FIELDS.toArray(String[]::new));
    }

    @Test
    void anEventHasTheSameFields() {
        JsonNode event = JSON.valueToTree(UsageRecord.builder().build());
        assertThat(event.fieldNames()).toIterable().startsWith(FIELDS.toArray(String[]::new));
    }

    @Test
    void outcomesAreTheKnownOnes() {
        assertThat(Stream.of(Outcome.values()).map(Outcome::label)).containsExactlyElementsOf(OUTCOMES);
    }
}
