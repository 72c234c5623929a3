package routes.quota;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.quota.Meter.Level;

/**
 * A refusal as the client reads it: the limit, when to come back, and the headers {@code x-ratelimit-*} under the names and
 * in the formats that OpenAI gives them.
 */
final class RefusalText {

    private static final long NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final long MILLIS_PER_SECOND = 1000;

    private RefusalText() {}

    /**
     * @param requests what is left of the requests per minute, where the key or its tenant has less; null without a limit
     * @param tokens the same of the tokens
     */
    static GatewayException exception(Refusal refusal, Ask ask, @Nullable Level requests, @Nullable Level tokens) {
        List<Map.Entry<String, String>> headers = new ArrayList<>();
        add(headers, "requests", requests);
        add(headers, "tokens", tokens);
        // clients that follow OpenAI's libraries would try again at once, or within a minute, and in vain
        if (refusal.isForEver() || refusal.term().isBudget()) {
            headers.add(Map.entry("x-should-retry", "false"));
        }
        int seconds = retryAfterSeconds(refusal);
        return new GatewayException(code(refusal.term()), message(refusal, ask, seconds), null, seconds, headers);
    }

    private static int retryAfterSeconds(Refusal refusal) {
        if (refusal.isForEver()) {
            return 0;
        }
        return (int) Math.min(Integer.MAX_VALUE, Math.max(1, ceil(refusal.waitNanos(), NANOS_PER_SECOND)));
    }

    private static void add(List<Map.Entry<String, String>> headers, String what, @Nullable Level level) {
        if (level != null) {
            headers.add(Map.entry("x-ratelimit-limit-" + what, Long.toString(level.limit())));
            headers.add(Map.entry("x-ratelimit-remaining-" + what, Long.toString(level.remaining())));
            headers.add(Map.entry("x-ratelimit-reset-" + what, duration(level.resetNanos())));
        }
    }

    /** A duration as Go writes it, to the millisecond above: {@code 0s}, {@code 20ms}, {@code 1.5s}, {@code 6m0s}. */
    static String duration(long nanos) {
        long millis = ceil(nanos, TimeUnit.MILLISECONDS.toNanos(1));
        if (millis == 0) {
            return "0s";
        }
        if (millis < MILLIS_PER_SECOND) {
            return millis + "ms";
        }
        long hours = TimeUnit.MILLISECONDS.toHours(millis);
        long minutes = TimeUnit.MILLISECONDS.toMinutes(millis);
        StringBuilder text = new StringBuilder();
        if (hours > 0) {
            text.append(hours).append('h');
        }
        if (minutes > 0) {
            text.append(minutes % 60).append('m');
        }
        text.append(millis / MILLIS_PER_SECOND % 60);
        long fraction = millis % MILLIS_PER_SECOND;
        if (fraction != 0) {
            text.append('.').append(String.format("%03d", fraction).replaceAll("0+$", ""));
        }
        return text.append('s').toString();
    }

    private static String message(Refusal refusal, Ask ask, int seconds) {
        String who = refusal.holder().isTenant() ? "The keys of this tenant together" : "This key";
        String limit = limit(refusal);
        if (refusal.isForEver()) {
            return tooLarge(refusal, ask) + ' ' + who + " may use " + limit + ". It can not be admitted; "
                    + (refusal.term() == Term.REQUESTS_PER_MINUTE ? "ask for fewer answers." : "make it shorter.");
        }
        return switch (refusal.term()) {
            case REQUESTS_PER_MINUTE, TOKENS_PER_MINUTE ->
                who + " may use " + limit + ", and what is left does not cover this request; it will in " + seconds
                        + " s.";
            case CONCURRENT_REQUESTS ->
                who + " may have " + limit + " at once, and has; try again when one of them has ended.";
            default ->
                who + " may use " + limit + ", and what is left does not cover this request; the next "
                        + (isDaily(refusal.term()) ? "day" : "month") + " begins in " + seconds + " s (UTC).";
        };
    }

    private static String tooLarge(Refusal refusal, Ask ask) {
        return switch (refusal.term()) {
            case REQUESTS_PER_MINUTE -> "This request counts as " + ask.requests() + ", one for each answer.";
            case MONEY_PER_DAY, MONEY_PER_MONTH -> "This prompt costs about " + Money.text(ask.money()) + '.';
            default -> "This prompt has about " + ask.tokens() + " tokens.";
        };
    }

    private static String limit(Refusal refusal) {
        long limit = refusal.limit();
        return switch (refusal.term()) {
            case REQUESTS_PER_MINUTE -> counted(limit, "request") + " per minute";
            case TOKENS_PER_MINUTE -> counted(limit, "token") + " per minute";
            case CONCURRENT_REQUESTS -> counted(limit, "request");
            case TOKENS_PER_DAY -> counted(limit, "token") + " per day";
            case TOKENS_PER_MONTH -> counted(limit, "token") + " per month";
            case MONEY_PER_DAY -> "a budget of " + Money.text(limit) + " per day";
            case MONEY_PER_MONTH -> "a budget of " + Money.text(limit) + " per month";
            case PRIORITY, WEIGHT, ON_EXHAUSTED -> throw new IllegalArgumentException(refusal.term() + " is no limit");
        };
    }

    private static String counted(long number, String what) {
        return number + " " + what + (number == 1 ? "" : "s");
    }

    private static boolean isDaily(Term term) {
        return term == Term.TOKENS_PER_DAY || term == Term.MONEY_PER_DAY;
    }

    private static ErrorCode code(Term term) {
        return switch (term) {
            case REQUESTS_PER_MINUTE -> ErrorCode.RATE_LIMIT_EXCEEDED;
            case TOKENS_PER_MINUTE -> ErrorCode.TOKEN_LIMIT_EXCEEDED;
            case CONCURRENT_REQUESTS -> ErrorCode.CONCURRENCY_LIMIT_EXCEEDED;
            default -> ErrorCode.BUDGET_EXHAUSTED;
        };
    }

    private static long ceil(long value, long unit) {
        return (value + unit - 1) / unit;
    }
}
