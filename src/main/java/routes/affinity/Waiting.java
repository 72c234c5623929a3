package routes.affinity;

import java.util.concurrent.TimeUnit;
import routes.error.ErrorCode;
import routes.net.TimerWheel;
import routes.queue.Pool;
import routes.queue.Queue;
import routes.queue.Waiter;
import routes.replica.Replica;
import routes.request.InferenceRequest;

/**
 * A request that waits for slots.
 *
 * <p><b>Threading:</b> confined to the request's loop, but for {@link #choose} and {@link #hopesFor}, which the queue calls
 * under its lock.
 */
final class Waiting extends Waiter {

    private static final long LEAST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private final Attempts attempts;
    private final InferenceRequest request;
    private final Queue queue;
    private final Limit limit = new Limit();
    private final Patience patience = new Patience();

    /** @param again whether it has been tried before */
    Waiting(Attempts attempts, boolean again) {
        super(
                new Wish(
                        attempts.balancer().candidates(),
                        attempts.request().answers(),
                        attempts.request().getBodyBytes(),
                        again),
                attempts.request().claim(),
                attempts.request().loop());
        this.attempts = attempts;
        this.request = attempts.request();
        this.queue = attempts.balancer().queue();
    }

    void enter() {
        Pool pool = attempts.balancer().poolOf(request);
        request.lease().queues(queue, this);
        int answer = queue.enter(pool, this);
        if (answer == Queue.FULL && attempts.waitsByChoice()) {
            stopWaiting();
            attempts.goElsewhere();
            return;
        }
        if (answer != Queue.WAIT) {
            granted(answer);
            return;
        }
        long now = System.nanoTime();
        request.waitBegins(now);
        request.pending(this::requestEnded);
        TimerWheel.of(request.loop()).arm(limit, now + pool.bounds().timeout().toNanos());
        patience.begin(now, attempts.choice().waitNanos());
    }

    @Override
    protected int choose(int slots) {
        return attempts.choose(slots, this);
    }

    /** Under the queue's lock. */
    void hopesFor(Replica replica) {
        attempts.choice().hopesFor(replica, replica.slotsFor(request.answers()));
    }

    @Override
    protected void granted(int answer) {
        stopWaiting();
        Replica of = grantedReplica();
        if (of == null) {
            attempts.refuse(answer);
        } else {
            attempts.granted(of);
        }
    }

    private void requestEnded() {
        queue.leave(this);
        stopWaiting();
        attempts.stop();
    }

    private void stopWaiting() {
        request.pending(null);
        request.waitEnds(System.nanoTime());
        TimerWheel.of(request.loop()).cancel(limit);
        TimerWheel.of(request.loop()).cancel(patience);
        attempts.choice().hopesFor(null, 0);
    }

    /** The longest time that this request may wait. */
    private final class Limit extends TimerWheel.Entry {
        @Override
        protected void expired(long nowNanos) {
            queue.leave(Waiting.this);
            stopWaiting();
            if (attempts.waitsByChoice()) {
                attempts.goElsewhere();
            } else {
                attempts.fail(attempts.overloaded(ErrorCode.QUEUE_TIMEOUT));
            }
        }
    }

    /** Watches that what it hopes for doesn't take much longer than was expected: then it may be better elsewhere. */
    private final class Patience extends TimerWheel.Entry {

        private long beganNanos;

        void begin(long nowNanos, long expectedNanos) {
            beganNanos = nowNanos;
            arm(nowNanos, Math.max(LEAST_WAIT_NANOS, expectedNanos));
        }

        private void arm(long nowNanos, long nanos) {
            TimerWheel.of(request.loop()).arm(this, nowNanos + nanos);
        }

        @Override
        protected void expired(long nowNanos) {
            long waited = nowNanos - beganNanos;
            arm(nowNanos, waited);
            attempts.choice().isOverdue(waited);
            queue.ask(Waiting.this);
        }
    }
}
