package routes.affinity;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreaker.State;
import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.TimeUnit;
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
    private boolean open;

    Breaker(CircuitBreaker breaker, Replica replica, EventExecutor watch) {
        this.breaker = breaker;
        this.replica = replica;
        this.watch = watch;
    }

    CircuitBreaker breaker() {
        return breaker;
    }

    /** Whether an attempt may begin; each one ends in one of the other methods. */
    boolean tryBegin() {
        return breaker.tryAcquirePermission();
    }

    /** The replica has begun an answer, whatever it says. */
    void answered(long nanos) {
        breaker.onSuccess(nanos, TimeUnit.NANOSECONDS);
    }

    /** The connection could not be made, or broke before an answer. */
    void failed(long nanos, GatewayException why) {
        breaker.onError(nanos, TimeUnit.NANOSECONDS, why);
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
