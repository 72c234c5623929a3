package routes.affinity;

import io.github.resilience4j.core.IntervalFunction;
import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.retry.RetryConfig;
import io.github.resilience4j.retry.RetryRegistry;
import java.time.Duration;
import java.util.BitSet;
import java.util.Set;
import routes.config.Setting;
import routes.config.Settings;
import routes.error.ErrorCode;
import routes.error.GatewayException;

/**
 * What is tried again, how often and after which wait; counted by resilience4j.
 *
 * <p><b>Threading:</b> immutable but for resilience4j's counters.
 */
public final class RetryPolicy {

    private static final String NAME = "gateway";
    private static final Duration FIRST_WAIT = Duration.ofMillis(25);
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(1);
    private static final int TOO_MANY_REQUESTS = 429;

    private final int maxAttempts;
    private final int budgetPercent;
    private final BitSet statuses;
    private final Retry retry;

    /** @throws IllegalArgumentException naming the property that makes no sense */
    public RetryPolicy(Settings settings, RetryRegistry registry) {
        maxAttempts = settings.integer(Setting.MAX_ATTEMPTS);
        budgetPercent = settings.integer(Setting.RETRY_BUDGET);
        statuses = statuses(settings.names(Setting.RETRY_STATUSES));
        BitSet retried = statuses;
        retry = registry.retry(
                NAME,
                RetryConfig.<Integer>custom()
                        .maxAttempts(maxAttempts)
                        .writableStackTraceEnabled(false)
                        .retryOnResult(retried::get)
                        .retryOnException(e -> e instanceof GatewayException error && isRetried(error.code()))
                        .intervalFunction(IntervalFunction.ofExponentialRandomBackoff(FIRST_WAIT, 2, 0.5, LONGEST_WAIT))
                        .build());
    }

    private static BitSet statuses(Set<String> names) {
        BitSet statuses = new BitSet();
        for (String name : names) {
            int status = name.matches("\\d{3}") ? Integer.parseInt(name) : 0;
            if (status != TOO_MANY_REQUESTS && (status < 500 || status > 599)) {
                throw new IllegalArgumentException(
                        Setting.RETRY_STATUSES.key() + ": " + name + " (expected: 429, or one of 500 to 599)");
            }
            statuses.set(status);
        }
        return statuses;
    }

    /** Most tries of a request, the first included. */
    int maxAttempts() {
        return maxAttempts;
    }

    RetryBudget newBudget() {
        return new RetryBudget(budgetPercent);
    }

    /** The count of one request's tries. */
    Retry.AsyncContext<Integer> begin() {
        return retry.asyncContext();
    }

    /** Whether another replica may know better than one that answered with this status. */
    boolean isRetried(int status) {
        return statuses.get(status);
    }

    /** Whether a failure without an answer is tried again: never after a time-out, never once an answer has begun. */
    static boolean isRetried(ErrorCode code) {
        return code == ErrorCode.UPSTREAM_CONNECT_FAILED || code == ErrorCode.UPSTREAM_RESET;
    }
}
