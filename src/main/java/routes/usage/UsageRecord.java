package routes.usage;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import routes.error.ErrorCode;
import routes.request.Outcome;

/**
 * What one request asked for, got and cost: a line of the usage journal and the body of a {@code usage:completed}
 * exchange. Unknown values are null, never 0; a negative number counts as unknown.
 *
 * <p>Text is cut at 256 characters, ids and names of tenants and gateways at 128. As JSON the fields have their snake_case
 * names, times are milliseconds with three decimals, such as {@code "ttft_ms":12.345}, {@code ts} is ISO-8601 in UTC, such
 * as {@code 2026-01-31T23:59:59.042Z}, and text is valid Unicode (a lone surrogate or a NUL becomes U+FFFD) that takes at most 256
 * or 128 bytes, escapes included, so that a line stays below 4 KiB.
 *
 * <p>{@code recordId} tells records apart: a record that comes again has the same one. The {@code requestId} does not, since
 * clients may choose it.
 *
 * @param tsMillis when the request began, milliseconds since 1970; {@code ts} in JSON
 * @param upstreamRequestId the id under which the replica knew the last attempt
 * @param api the kind of request, such as {@code chat_completions}
 * @param modelAsked the model as the client named it
 * @param modelServed the model as the replica was asked for it
 * @param attempts tries to reach a replica, 0 when none was made
 * @param status HTTP status sent; 499 when the client left before any answer
 * @param errorCode a code of the error catalogue
 * @param queueMicros waited for a slot, microseconds; {@code queue_ms} in JSON, as the other four
 * @param ttfbMicros from the request's begin to the first byte of the answer
 * @param ttftMicros from the request's begin to the first token
 * @param partial whether the token counts may cover only a part of the answer
 * @param n answers asked for
 * @param user the client's own {@code user} field
 * @param gateway name of the gateway's instance
 * @param affinity why this replica was chosen, such as {@code home}, {@code spill_full}, {@code only_one}
 * @param fallbackFrom the model that could not serve the request, whose fallback {@code modelServed} is
 * @param recordId the record's own id
 */
@JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
public record UsageRecord(
        @JsonProperty("ts") @JsonSerialize(using = UsageJson.Time.class)
        long tsMillis,

        @JsonSerialize(using = UsageJson.Id.class) @Nullable String requestId,
        @JsonSerialize(using = UsageJson.Id.class) @Nullable String upstreamRequestId,
        @JsonSerialize(using = UsageJson.Id.class) @Nullable String tenant,
        @JsonSerialize(using = UsageJson.Id.class) @Nullable String keyId,

        @JsonSerialize(using = UsageJson.Text.class) @Nullable
        String api,

        @JsonSerialize(using = UsageJson.Text.class) @Nullable
        String modelAsked,

        @JsonSerialize(using = UsageJson.Text.class) @Nullable
        String modelServed,

        @JsonSerialize(using = UsageJson.Text.class) @Nullable
        String replica,

        int attempts,
        int status,
        Outcome outcome,

        @JsonSerialize(using = UsageJson.Text.class) @Nullable
        String errorCode,

        @JsonSerialize(using = UsageJson.Text.class) @Nullable
        String finishReason,

        boolean stream,
        @Nullable Long requestBytes,
        @Nullable Long responseBytes,

        @JsonProperty("queue_ms") @JsonSerialize(using = UsageJson.Millis.class) @Nullable
        Long queueMicros,

        @JsonProperty("connect_ms") @JsonSerialize(using = UsageJson.Millis.class) @Nullable
        Long connectMicros,

        @JsonProperty("ttfb_ms") @JsonSerialize(using = UsageJson.Millis.class) @Nullable
        Long ttfbMicros,

        @JsonProperty("ttft_ms") @JsonSerialize(using = UsageJson.Millis.class) @Nullable
        Long ttftMicros,

        @JsonProperty("duration_ms") @JsonSerialize(using = UsageJson.Millis.class) @Nullable
        Long durationMicros,

        @Nullable Long promptTokens,
        @Nullable Long completionTokens,
        @Nullable Long totalTokens,
        @Nullable Long cachedTokens,
        @Nullable Long reasoningTokens,
        Source usageSource,
        boolean partial,
        @Nullable Long n,
        @Nullable Long maxTokens,

        @JsonSerialize(using = UsageJson.Text.class) @Nullable
        String user,

        @JsonSerialize(using = UsageJson.Id.class) @Nullable String gateway,

        @JsonSerialize(using = UsageJson.Text.class) @Nullable
        String affinity,

        @JsonSerialize(using = UsageJson.Text.class) @Nullable
        String fallbackFrom,

        @JsonSerialize(using = UsageJson.Id.class) @Nullable String recordId) {

    private static final long LAST_TS = 253_402_300_799_999L; // 9999-12-31T23:59:59.999Z

    public UsageRecord {
        tsMillis = Math.max(0, Math.min(tsMillis, LAST_TS));
        requestId = id(requestId);
        upstreamRequestId = id(upstreamRequestId);
        tenant = id(tenant);
        keyId = id(keyId);
        api = text(api);
        modelAsked = text(modelAsked);
        modelServed = text(modelServed);
        replica = text(replica);
        errorCode = text(errorCode);
        finishReason = text(finishReason);
        requestBytes = known(requestBytes);
        responseBytes = known(responseBytes);
        queueMicros = known(queueMicros);
        connectMicros = known(connectMicros);
        ttfbMicros = known(ttfbMicros);
        ttftMicros = known(ttftMicros);
        durationMicros = known(durationMicros);
        promptTokens = known(promptTokens);
        completionTokens = known(completionTokens);
        totalTokens = known(totalTokens);
        cachedTokens = known(cachedTokens);
        reasoningTokens = known(reasoningTokens);
        n = known(n);
        maxTokens = known(maxTokens);
        user = text(user);
        gateway = id(gateway);
        affinity = text(affinity);
        fallbackFrom = text(fallbackFrom);
        recordId = id(recordId);
    }

    public static Builder builder() {
        return new Builder();
    }

    /** When the request began. */
    public Instant ts() {
        return Instant.ofEpochMilli(tsMillis);
    }

    /** Waited for a slot, milliseconds with three decimals. */
    public @Nullable BigDecimal queueMs() {
        return millis(queueMicros);
    }

    /** Opening the connection to the replica, milliseconds with three decimals. */
    public @Nullable BigDecimal connectMs() {
        return millis(connectMicros);
    }

    /** To the first byte of the answer, milliseconds with three decimals. */
    public @Nullable BigDecimal ttfbMs() {
        return millis(ttfbMicros);
    }

    /** To the first token, milliseconds with three decimals. */
    public @Nullable BigDecimal ttftMs() {
        return millis(ttftMicros);
    }

    /** To the request's end, milliseconds with three decimals. */
    public @Nullable BigDecimal durationMs() {
        return millis(durationMicros);
    }

    private static @Nullable String id(@Nullable String value) {
        return cut(value, UsageText.ID_BYTES);
    }

    private static @Nullable String text(@Nullable String value) {
        return cut(value, UsageText.TEXT_BYTES);
    }

    private static @Nullable String cut(@Nullable String value, int length) {
        if (value == null || value.length() <= length) {
            return value;
        }
        return value.substring(0, Character.isHighSurrogate(value.charAt(length - 1)) ? length - 1 : length);
    }

    private static @Nullable Long known(@Nullable Long value) {
        return value == null || value < 0 ? null : value;
    }

    private static @Nullable BigDecimal millis(@Nullable Long micros) {
        return micros == null ? null : BigDecimal.valueOf(micros, 3);
    }

    /** Where token counts come from. The set is closed; later versions only add. */
    public enum Source {
        /** The replica's count of the whole answer. */
        FINAL,
        /** The replica's count so far, of an answer that didn't come to its end. */
        RUNNING,
        /** By the gateway, in part at least: the events of an answer that didn't come to its end, a guess at the prompt. */
        ESTIMATED,
        /** Nobody said. */
        NONE;

        private final String wire = name().toLowerCase(Locale.ROOT);

        /** The value in lines and in {@code ${body.usageSource}}, such as {@code final}. */
        @JsonValue
        @Override
        public String toString() {
            return wire;
        }
    }

    /**
     * Gathers a record while its request runs. Numbers start out unknown; a negative one stays unknown.
     *
     * <p><b>Threading</b>: confined to the request's event loop.
     */
    public static final class Builder {
        private long tsMillis;
        private @Nullable String requestId;
        private @Nullable String upstreamRequestId;
        private @Nullable String tenant;
        private @Nullable String keyId;
        private @Nullable String api;
        private @Nullable String modelAsked;
        private @Nullable String modelServed;
        private @Nullable String replica;
        private int attempts;
        private int status;
        private Outcome outcome = Outcome.INTERNAL;
        private @Nullable String errorCode;
        private @Nullable String finishReason;
        private boolean stream;
        private long requestBytes = -1;
        private long responseBytes = -1;
        private long queueMicros = -1;
        private long connectMicros = -1;
        private long ttfbMicros = -1;
        private long ttftMicros = -1;
        private long durationMicros = -1;
        private long promptTokens = -1;
        private long completionTokens = -1;
        private long totalTokens = -1;
        private long cachedTokens = -1;
        private long reasoningTokens = -1;
        private Source usageSource = Source.NONE;
        private boolean partial;
        private long n = -1;
        private long maxTokens = -1;
        private @Nullable String user;
        private @Nullable String gateway;
        private @Nullable String affinity;
        private @Nullable String fallbackFrom;
        private @Nullable String recordId;

        private Builder() {}

        /** When the request began, milliseconds since 1970. */
        public Builder tsMillis(long value) {
            tsMillis = value;
            return this;
        }

        public Builder requestId(@Nullable String value) {
            requestId = value;
            return this;
        }

        public Builder upstreamRequestId(@Nullable String value) {
            upstreamRequestId = value;
            return this;
        }

        public Builder tenant(@Nullable String value) {
            tenant = value;
            return this;
        }

        public Builder keyId(@Nullable String value) {
            keyId = value;
            return this;
        }

        /** Such as {@code chat_completions}. */
        public Builder api(@Nullable String value) {
            api = value;
            return this;
        }

        public Builder modelAsked(@Nullable String value) {
            modelAsked = value;
            return this;
        }

        public Builder modelServed(@Nullable String value) {
            modelServed = value;
            return this;
        }

        public Builder replica(@Nullable String value) {
            replica = value;
            return this;
        }

        public Builder attempts(int value) {
            attempts = value;
            return this;
        }

        public Builder status(int value) {
            status = value;
            return this;
        }

        public Builder outcome(Outcome value) {
            outcome = value;
            return this;
        }

        public Builder error(@Nullable ErrorCode value) {
            errorCode = value == null ? null : value.code();
            return this;
        }

        public Builder finishReason(@Nullable String value) {
            finishReason = value;
            return this;
        }

        public Builder stream(boolean value) {
            stream = value;
            return this;
        }

        public Builder requestBytes(long value) {
            requestBytes = value;
            return this;
        }

        public Builder responseBytes(long value) {
            responseBytes = value;
            return this;
        }

        public Builder queueNanos(long value) {
            queueMicros = micros(value);
            return this;
        }

        public Builder connectNanos(long value) {
            connectMicros = micros(value);
            return this;
        }

        public Builder ttfbNanos(long value) {
            ttfbMicros = micros(value);
            return this;
        }

        public Builder ttftNanos(long value) {
            ttftMicros = micros(value);
            return this;
        }

        public Builder durationNanos(long value) {
            durationMicros = micros(value);
            return this;
        }

        public Builder promptTokens(long value) {
            promptTokens = value;
            return this;
        }

        public Builder completionTokens(long value) {
            completionTokens = value;
            return this;
        }

        public Builder totalTokens(long value) {
            totalTokens = value;
            return this;
        }

        public Builder cachedTokens(long value) {
            cachedTokens = value;
            return this;
        }

        public Builder reasoningTokens(long value) {
            reasoningTokens = value;
            return this;
        }

        public Builder usageSource(Source value) {
            usageSource = value;
            return this;
        }

        public Builder partial(boolean value) {
            partial = value;
            return this;
        }

        public Builder n(long value) {
            n = value;
            return this;
        }

        public Builder maxTokens(long value) {
            maxTokens = value;
            return this;
        }

        public Builder user(@Nullable String value) {
            user = value;
            return this;
        }

        public Builder gateway(@Nullable String value) {
            gateway = value;
            return this;
        }

        public Builder affinity(@Nullable String value) {
            affinity = value;
            return this;
        }

        public Builder fallbackFrom(@Nullable String value) {
            fallbackFrom = value;
            return this;
        }

        public Builder recordId(@Nullable String value) {
            recordId = value;
            return this;
        }

        public UsageRecord build() {
            return new UsageRecord(
                    tsMillis,
                    requestId,
                    upstreamRequestId,
                    tenant,
                    keyId,
                    api,
                    modelAsked,
                    modelServed,
                    replica,
                    attempts,
                    status,
                    outcome,
                    errorCode,
                    finishReason,
                    stream,
                    boxed(requestBytes),
                    boxed(responseBytes),
                    boxed(queueMicros),
                    boxed(connectMicros),
                    boxed(ttfbMicros),
                    boxed(ttftMicros),
                    boxed(durationMicros),
                    boxed(promptTokens),
                    boxed(completionTokens),
                    boxed(totalTokens),
                    boxed(cachedTokens),
                    boxed(reasoningTokens),
                    usageSource,
                    partial,
                    boxed(n),
                    boxed(maxTokens),
                    user,
                    gateway,
                    affinity,
                    fallbackFrom,
                    recordId);
        }

        private static long micros(long nanos) {
            return nanos < 0 ? -1 : nanos / 1_000;
        }

        private static @Nullable Long boxed(long value) {
            return value < 0 ? null : value;
        }
    }
}
