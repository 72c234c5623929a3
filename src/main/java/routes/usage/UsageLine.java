package routes.usage;

import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Usage records as lines of JSON, one after the other in a byte buffer that grows and is used again.
 *
 * <p><b>Threading</b>: confined to one thread.
 */
final class UsageLine {

    /** No line is longer, its newline included; the limits on text see to that. */
    static final int MAX_BYTES = 4096;

    private static final long DAY_MILLIS = 86_400_000;
    private static final byte[] NULL = ascii("null");
    private static final byte[] TRUE = ascii("true");
    private static final byte[] FALSE = ascii("false");

    private static final byte[] TS = ascii("{\"ts\":\"");
    private static final byte[] REQUEST_ID = name("request_id");
    private static final byte[] UPSTREAM_REQUEST_ID = name("upstream_request_id");
    private static final byte[] MODEL_ASKED = name("model_asked");
    private static final byte[] ATTEMPTS = name("attempts");
    private static final byte[] STATUS = name("status");
    private static final byte[] STREAM = name("stream");
    private static final byte[] REQUEST_BYTES = name("request_bytes");
    private static final byte[] RESPONSE_BYTES = name("response_bytes");
    private static final byte[] QUEUE_MS = name("queue_ms");
    private static final byte[] CONNECT_MS = name("connect_ms");
    private static final byte[] TTFB_MS = name("ttfb_ms");
    private static final byte[] TTFT_MS = name("ttft_ms");
    private static final byte[] DURATION_MS = name("duration_ms");
    private static final byte[] PROMPT_TOKENS = name("prompt_tokens");
    private static final byte[] COMPLETION_TOKENS = name("completion_tokens");
    private static final byte[] TOTAL_TOKENS = name("total_tokens");
    private static final byte[] CACHED_TOKENS = name("cached_tokens");
    private static final byte[] REASONING_TOKENS = name("reasoning_tokens");
    private static final byte[] PARTIAL = name("partial");
    private static final byte[] N = name("n");
    private static final byte[] MAX_TOKENS = name("max_tokens");
    private static final byte[] USER = name("user");
    private static final byte[] RECORD_ID = name("record_id");

    private final Repeated tenant = new Repeated("tenant", UsageText.ID_BYTES);
    private final Repeated keyId = new Repeated("key_id", UsageText.ID_BYTES);
    private final Repeated api = new Repeated("api", UsageText.TEXT_BYTES);
    private final Repeated modelServed = new Repeated("model_served", UsageText.TEXT_BYTES);
    private final Repeated replica = new Repeated("replica", UsageText.TEXT_BYTES);
    private final Repeated outcome = new Repeated("outcome", UsageText.TEXT_BYTES);
    private final Repeated errorCode = new Repeated("error_code", UsageText.TEXT_BYTES);
    private final Repeated finishReason = new Repeated("finish_reason", UsageText.TEXT_BYTES);
    private final Repeated usageSource = new Repeated("usage_source", UsageText.TEXT_BYTES);
    private final Repeated gateway = new Repeated("gateway", UsageText.ID_BYTES);
    private final Repeated affinity = new Repeated("affinity", UsageText.TEXT_BYTES);
    private final Repeated fallbackFrom = new Repeated("fallback_from", UsageText.TEXT_BYTES);

    private byte[] buffer;
    private int length;
    private long day = -1;
    private byte[] date = {};

    UsageLine(int capacity) {
        this.buffer = new byte[capacity];
    }

    void append(UsageRecord record) {
        if (buffer.length - length < MAX_BYTES) {
            buffer = Arrays.copyOf(buffer, Math.max(buffer.length * 2, length + MAX_BYTES));
        }
        int at = time(record.tsMillis(), raw(TS, length));
        at = id(REQUEST_ID, record.requestId(), at);
        at = id(UPSTREAM_REQUEST_ID, record.upstreamRequestId(), at);
        at = tenant.write(record.tenant(), buffer, at);
        at = keyId.write(record.keyId(), buffer, at);
        at = api.write(record.api(), buffer, at);
        at = text(MODEL_ASKED, record.modelAsked(), at);
        at = modelServed.write(record.modelServed(), buffer, at);
        at = replica.write(record.replica(), buffer, at);
        at = digits(record.attempts(), raw(ATTEMPTS, at));
        at = digits(record.status(), raw(STATUS, at));
        at = outcome.write(record.outcome().toString(), buffer, at);
        at = errorCode.write(record.errorCode(), buffer, at);
        at = finishReason.write(record.finishReason(), buffer, at);
        at = flag(STREAM, record.stream(), at);
        at = number(REQUEST_BYTES, record.requestBytes(), at);
        at = number(RESPONSE_BYTES, record.responseBytes(), at);
        at = millis(QUEUE_MS, record.queueMicros(), at);
        at = millis(CONNECT_MS, record.connectMicros(), at);
        at = millis(TTFB_MS, record.ttfbMicros(), at);
        at = millis(TTFT_MS, record.ttftMicros(), at);
        at = millis(DURATION_MS, record.durationMicros(), at);
        at = number(PROMPT_TOKENS, record.promptTokens(), at);
        at = number(COMPLETION_TOKENS, record.completionTokens(), at);
        at = number(TOTAL_TOKENS, record.totalTokens(), at);
        at = number(CACHED_TOKENS, record.cachedTokens(), at);
        at = number(REASONING_TOKENS, record.reasoningTokens(), at);
        at = usageSource.write(record.usageSource().toString(), buffer, at);
        at = flag(PARTIAL, record.partial(), at);
        at = number(N, record.n(), at);
        at = number(MAX_TOKENS, record.maxTokens(), at);
        at = text(USER, record.user(), at);
        at = gateway.write(record.gateway(), buffer, at);
        at = affinity.write(record.affinity(), buffer, at);
        at = fallbackFrom.write(record.fallbackFrom(), buffer, at);
        at = id(RECORD_ID, record.recordId(), at);
        buffer[at++] = '}';
        buffer[at++] = '\n';
        length = at;
    }

    /** The bytes up to {@link #length()}. Borrows; do not retain. */
    byte[] array() {
        return buffer;
    }

    int length() {
        return length;
    }

    void clear() {
        length = 0;
    }

    private int raw(byte[] bytes, int at) {
        System.arraycopy(bytes, 0, buffer, at, bytes.length);
        return at + bytes.length;
    }

    private int id(byte[] name, @Nullable String value, int at) {
        return text(name, value, UsageText.ID_BYTES, at);
    }

    private int text(byte[] name, @Nullable String value, int at) {
        return text(name, value, UsageText.TEXT_BYTES, at);
    }

    private int text(byte[] name, @Nullable String value, int maxBytes, int at) {
        at = raw(name, at);
        if (value == null) {
            return raw(NULL, at);
        }
        buffer[at++] = '"';
        at = UsageText.write(value, maxBytes, buffer, at);
        buffer[at++] = '"';
        return at;
    }

    private int flag(byte[] name, boolean value, int at) {
        return raw(value ? TRUE : FALSE, raw(name, at));
    }

    private int number(byte[] name, @Nullable Long value, int at) {
        at = raw(name, at);
        return value == null ? raw(NULL, at) : digits(value, at);
    }

    private int millis(byte[] name, @Nullable Long micros, int at) {
        at = raw(name, at);
        if (micros == null) {
            return raw(NULL, at);
        }
        at = digits(micros / 1_000, at);
        buffer[at++] = '.';
        return padded((int) (micros % 1_000), 3, at);
    }

    private int time(long millis, int at) {
        if (millis / DAY_MILLIS != day) {
            day = millis / DAY_MILLIS;
            date = ascii(LocalDate.ofEpochDay(day) + "T");
        }
        int rest = (int) (millis % DAY_MILLIS);
        at = raw(date, at);
        at = padded(rest / 3_600_000, 2, at);
        buffer[at++] = ':';
        at = padded(rest / 60_000 % 60, 2, at);
        buffer[at++] = ':';
        at = padded(rest / 1_000 % 60, 2, at);
        buffer[at++] = '.';
        at = padded(rest % 1_000, 3, at);
        buffer[at++] = 'Z';
        buffer[at++] = '"';
        return at;
    }

    private int padded(int value, int width, int at) {
        for (int i = at + width - 1; i >= at; i--) {
            buffer[i] = (byte) ('0' + value % 10);
            value /= 10;
        }
        return at + width;
    }

    private int digits(long value, int at) {
        if (value < 0) {
            return raw(ascii(Long.toString(value)), at);
        }
        int width = 1;
        for (long bound = 10; width < 19 && value >= bound; bound *= 10) {
            width++;
        }
        int end = at + width;
        int i = end;
        while (value > Integer.MAX_VALUE) {
            buffer[--i] = (byte) ('0' + value % 10);
            value /= 10;
        }
        // most numbers are small, and dividing ints is cheaper
        for (int rest = (int) value; i > at; rest /= 10) {
            buffer[--i] = (byte) ('0' + rest % 10);
        }
        return end;
    }

    /** A member whose value is mostly the very string of the line before, so that its bytes can be used again. */
    private static final class Repeated {
        private final int nameLength;
        private final int maxBytes;
        private final byte[] bytes;
        private int length;
        private @Nullable String value;

        Repeated(String name, int maxBytes) {
            byte[] beginning = name(name);
            this.nameLength = beginning.length;
            this.maxBytes = maxBytes;
            this.bytes = Arrays.copyOf(beginning, nameLength + Math.max(maxBytes + 2, NULL.length));
            encode(null);
        }

        @SuppressWarnings("ReferenceEquality") // an equal string is encoded again, that is all
        int write(@Nullable String next, byte[] to, int at) {
            if (next != value) {
                encode(next);
            }
            System.arraycopy(bytes, 0, to, at, length);
            return at + length;
        }

        private void encode(@Nullable String next) {
            value = next;
            if (next == null) {
                System.arraycopy(NULL, 0, bytes, nameLength, NULL.length);
                length = nameLength + NULL.length;
                return;
            }
            bytes[nameLength] = '"';
            int end = UsageText.write(next, maxBytes, bytes, nameLength + 1);
            bytes[end] = '"';
            length = end + 1;
        }
    }

    private static byte[] name(String name) {
        return ascii(",\"" + name + "\":");
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
