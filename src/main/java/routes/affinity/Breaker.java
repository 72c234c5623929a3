package routes.affinity;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreaker.State;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import routes.error.GatewayException;
import routes.replica.Replica;

/**
 * The circuit breaker of one replica. Only connections that can't be made, or break before an answer, count against it:
 * a slow answer is not a sick replica, and an error status is an answer.
 *
 * <p>Looks at the breaker's state after each failure instead of listening: resilience4j makes an event for every call as
 * soon as somebody listens.
 *
 * <p><b>Threading:</b> any thread.
 */
final class Breaker {

    private final CircuitBreaker breaker;
    private final Replica replica;
    private final EventExecutor watch;
    /** Calls that the breaker looks back on; 0 where it is time that counts. */
    private final int window;
    /** Successes that the breaker was told of since the last failure. */
    private final AtomicInteger successes = new AtomicInteger();

    private boolean open;

    Breaker(CircuitBreaker breaker, Replica replica, EventExecutor watch) {
        this.breaker = breaker;
        this.replica = replica;
        this.watch = watch;
        CircuitBreakerConfig config = breaker.getCircuitBreakerConfig();
        this.window = config.getSlidingWindowType() == CircuitBreakerConfig.SlidingWindowType.COUNT_BASED
                ? config.getSlidingWindowSize()
                : 0;
    }

    CircuitBreaker breaker() {
        return breaker;
    }

    /** Whether an attempt may begin; each one ends in one of the other methods. */
    boolean tryBegin() {
        return breaker.tryAcquirePermission();
    }

    /** The replica has begun an answer, whatever it says. */
    void answered() {
        boolean closed = breaker.getState() == State.CLOSED;
        if (closed && window > 0 && successes.get() >= window) {
            // the breaker looks back on successes only: one more changes nothing
            return;
        }
        breaker.onSuccess(0, TimeUnit.NANOSECONDS);
        if (closed) {
            successes.incrementAndGet();
        } else {
            // whatever it is now, it looks back on what comes from here on
            successes.set(0);
        }
        look();
    }

    /** The connection could not be made, or broke before an answer. */
    void failed(GatewayException why) {
        successes.set(0);
        breaker.onError(0, TimeUnit.NANOSECONDS, why);
        look();
    }

    /** The attempt ended before the replica could show what it is worth. */
    void givenUp() {
        breaker.releasePermission();
    }

    private synchronized void look() {
        State state = breaker.getState();
        boolean opened = state == State.OPEN || state == State.FORCED_OPEN;
        if (opened == open) {
            return;
        }
        open = opened;
        replica.suspect(opened);
        if (state == State.OPEN) {
            Long wait = breaker.getCircuitBreakerConfig()
                    .getWaitIntervalFunctionInOpenState()
                    .apply(1);
            watch.schedule(this::tryAgain, wait, TimeUnit.MILLISECONDS);
        }
    }

    private void tryAgain() {
        if (breaker.getState() == State.OPEN) {
            breaker.transitionToHalfOpenState();
        }
        look();
    }
}
