package routes.usage;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class UsageRecordTest {

    @Test
    void fieldsHaveTheirNamesInOrder() throws Exception {
        JsonNode json = Records.JSON.readTree(
                Records.JSON.writeValueAsBytes(Records.full().build()));

        List<String> names = new ArrayList<>();
        json.fieldNames().forEachRemaining(names::add);
        assertThat(names)
                .containsExactly(
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
    }

    @Test
    void timesAreIsoAndMillisecondsWithThreeDecimals() throws Exception {
        String json = Records.JSON.writeValueAsString(Records.full().build());

        assertThat(json)
                .contains("\"ts\":\"2026-01-31T23:59:59.042Z\"")
                .contains("\"queue_ms\":0.000,\"connect_ms\":0.345,\"ttfb_ms\":12.345,\"ttft_ms\":12.345")
                .contains("\"duration_ms\":1234567.890")
                .contains("\"outcome\":\"upstream_aborted\"")
                .contains("\"usage_source\":\"final\"");
    }

    @Test
    void whatNobodySaidIsNullAndWhatIsZeroStaysZero() {
        UsageRecord record = UsageRecord.builder()
                .completionTokens(0)
                .promptTokens(-7)
                .queueNanos(-1)
                .build();

        assertThat(record.completionTokens()).isZero();
        assertThat(record.promptTokens()).isNull();
        assertThat(record.totalTokens()).isNull();
        assertThat(record.queueMs()).isNull();
        assertThat(record.n()).isNull();
        assertThat(record.user()).isNull();
        assertThat(record.usageSource()).isEqualTo(UsageRecord.Source.NONE);
    }

    @Test
    void accessorsGiveTimesInTheUnitsOfTheLine() {
        UsageRecord record = Records.full().build();

        assertThat(record.ttfbMs()).isEqualTo(new BigDecimal("12.345"));
        assertThat(record.ts()).isEqualTo(Instant.parse("2026-01-31T23:59:59.042Z"));
    }

    @Test
    void textIsCutToItsLength() {
        UsageRecord record = UsageRecord.builder()
                .requestId("i".repeat(8192))
                .user("u".repeat(8192))
                .modelAsked("x".repeat(255) + "🐪")
                .build();

        assertThat(record.requestId()).isEqualTo("i".repeat(128));
        assertThat(record.user()).isEqualTo("u".repeat(256));
        assertThat(record.modelAsked()).as("no pair is cut in two").isEqualTo("x".repeat(255));
    }

    @Test
    void jsonIsValidUnicodeWhateverTheClientSent() throws Exception {
        UsageRecord record =
                UsageRecord.builder().user("\udc2ab\ud83d\ud83d\udc2a").build();

        JsonNode json = Records.JSON.readTree(Records.JSON.writeValueAsBytes(record));

        assertThat(json.get("user").asText()).isEqualTo("\ufffdb\ufffd🐪");
    }
}
