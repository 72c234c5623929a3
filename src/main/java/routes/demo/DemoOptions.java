package routes.demo;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a demo replica serves and how it behaves.
 *
 * @param name stands in {@code system_fingerprint} and the {@code server} header, so that answers tell replicas apart
 * @param host address to listen on
 * @param port port to listen on; 0 takes a free one
 * @param models names of the models served, at least one
 * @param apiKey key asked for below {@code /v1}, or null for none
 * @param tokens tokens of an answer that nothing cuts short, for example 64
 * @param timeToFirstToken silence before the first token, for example 200 ms
 * @param tokensPerSecond pace of each choice after the first token, for example 40; 0 sends all tokens at once
 * @param slots sequences generated at once, as vLLM's {@code max-num-seqs}; more of them wait
 * @param errorRate share of requests answered with 500, from 0 to 1
 * @param resetRate share of answers broken by a reset on their way, from 0 to 1
 * @param keepAliveTimeout an idle connection is closed this long after its last answer
 */
public record DemoOptions(
        String name,
        String host,
        int port,
        List<String> models,
        @Nullable String apiKey,
        int tokens,
        Duration timeToFirstToken,
        double tokensPerSecond,
        int slots,
        double errorRate,
        double resetRate,
        Duration keepAliveTimeout) {

    /** Longest answer, whatever a request asks for. */
    static final int MAX_TOKENS = 100_000;

    /** @throws IllegalArgumentException when a value is out of its range */
    public DemoOptions {
        models = List.copyOf(models);
        check(isHeaderValue(name), "name", name, "printable ASCII");
        check(!host.isBlank(), "host", host, "an address");
        check(port >= 0 && port <= 65_535, "port", port, "0 to 65535");
        check(!models.isEmpty() && models.stream().noneMatch(String::isBlank), "models", models, "at least one name");
        check(apiKey == null || isHeaderValue(apiKey), "api key", "…", "printable ASCII");
        check(tokens >= 1 && tokens <= MAX_TOKENS, "tokens", tokens, "1 to " + MAX_TOKENS);
        check(!timeToFirstToken.isNegative(), "time to first token", timeToFirstToken, ">= 0");
        check(
                tokensPerSecond >= 0 && Double.isFinite(tokensPerSecond),
                "tokens per second",
                tokensPerSecond,
                ">= 0, where 0 is unlimited");
        check(slots >= 1, "slots", slots, ">= 1");
        check(errorRate >= 0 && errorRate <= 1, "error rate", errorRate, "0 to 1");
        check(resetRate >= 0 && resetRate <= 1, "reset rate", resetRate, "0 to 1");
        check(
                !keepAliveTimeout.isNegative() && !keepAliveTimeout.isZero(),
                "keep-alive timeout",
                keepAliveTimeout,
                "> 0");
    }

    /** The values that {@link Builder} starts from: model {@code demo} on a free port of 127.0.0.1. */
    public static DemoOptions defaults() {
        return builder().build();
    }

    public static Builder builder() {
        return new Builder();
    }

    /** Leaves the key out. */
    @Override
    public String toString() {
        return "DemoOptions[" + name + " on " + host + ":" + port + ", models " + models + ", " + tokens + " tokens at "
                + tokensPerSecond + "/s after " + timeToFirstToken + ", " + slots + " slots]";
    }

    private static boolean isHeaderValue(String value) {
        return !value.isBlank() && value.chars().allMatch(c -> c > ' ' && c < 0x7f);
    }

    private static void check(boolean valid, String what, Object value, String expected) {
        if (!valid) {
            throw new IllegalArgumentException(what + ": " + value + " (expected: " + expected + ")");
        }
    }

    /** Collects options; each method returns the builder. */
    public static final class Builder {
        private String name = "dromedary-demo";
        private String host = "127.0.0.1";
        private int port;
        private List<String> models = List.of("demo");
        private @Nullable String apiKey;
        private int tokens = 64;
        private Duration timeToFirstToken = Duration.ofMillis(200);
        private double tokensPerSecond = 40;
        private int slots = 256;
        private double errorRate;
        private double resetRate;
        private Duration keepAliveTimeout = Duration.ofSeconds(5);

        private Builder() {}

        public Builder name(String value) {
            name = value;
            return this;
        }

        public Builder host(String value) {
            host = value;
            return this;
        }

        public Builder port(int value) {
            port = value;
            return this;
        }

        public Builder models(String... values) {
            models = List.of(values);
            return this;
        }

        public Builder apiKey(@Nullable String value) {
            apiKey = value;
            return this;
        }

        public Builder tokens(int value) {
            tokens = value;
            return this;
        }

        public Builder timeToFirstToken(Duration value) {
            timeToFirstToken = value;
            return this;
        }

        public Builder tokensPerSecond(double value) {
            tokensPerSecond = value;
            return this;
        }

        /** No silence and no pace: every answer is sent at once. */
        public Builder instant() {
            return timeToFirstToken(Duration.ZERO).tokensPerSecond(0);
        }

        public Builder slots(int value) {
            slots = value;
            return this;
        }

        public Builder errorRate(double value) {
            errorRate = value;
            return this;
        }

        public Builder resetRate(double value) {
            resetRate = value;
            return this;
        }

        public Builder keepAliveTimeout(Duration value) {
            keepAliveTimeout = value;
            return this;
        }

        /** @throws IllegalArgumentException when a value is out of its range */
        public DemoOptions build() {
            return new DemoOptions(
                    name,
                    host,
                    port,
                    models,
                    apiKey,
                    tokens,
                    timeToFirstToken,
                    tokensPerSecond,
                    slots,
                    errorRate,
                    resetRate,
                    keepAliveTimeout);
        }
    }
}
