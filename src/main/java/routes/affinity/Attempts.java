package routes.affinity;

import io.github.resilience4j.retry.Retry;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.camel.AsyncCallback;
import org.apache.camel.Exchange;
import org.jspecify.annotations.Nullable;
import routes.error.ErrorCode;
import routes.error.FailedStep;
import routes.error.GatewayException;
import routes.net.TimerWheel;
import routes.queue.Pool;
import routes.queue.Queue;
import routes.relay.AnswerFacts;
import routes.replica.Replica;
import routes.request.InferenceRequest;
import routes.request.PrefixLevels;

/**
 * One request's attempts on the replicas of a route, one after another.
 *
 * <p><b>Threading:</b> event-loop confined, on the request's loop.
 */
final class Attempts extends TimerWheel.Entry implements InferenceRequest.Retries, AsyncCallback {

    private static final int LONGEST_RETRY_AFTER = 60;
    private static final int SERVICE_UNAVAILABLE = 503;
    private static final int TOO_MANY_REQUESTS = 429;

    private final AffinityBalancer balancer;
    private final Exchange exchange;
    private final InferenceRequest request;
    private final AsyncCallback callback;
    private final Affinities.OfPool affinity;
    private final PrefixLevels levels;
    private final Choice choice = new Choice();
    private List<Replica> tried = List.of();
    private Retry.@Nullable AsyncContext<Integer> retry;

    // ---- of the attempt that runs
    private @Nullable Replica replica;
    private @Nullable Breaker breaker;
    private boolean insteadOfAnswer;
    private boolean sameReplica;

    Attempts(AffinityBalancer balancer, Exchange exchange, InferenceRequest request, AsyncCallback callback) {
        this.balancer = balancer;
        this.exchange = exchange;
        this.request = request;
        this.callback = callback;
        this.affinity = balancer.affinityOf(balancer.poolOf(request));
        this.levels = request.prefix();
    }

    void begin() {
        balancer.budget().earn();
        request.retries(this);
        next();
    }

    // ---- which replica

    private void next() {
        if (request.isFinished()) {
            stop();
            return;
        }
        Fleet fleet = balancer.fleet();
        Replica[] pool = fleet.replicas();
        long failed = triedOf(pool);
        long refused = 0;
        while (true) {
            long among = candidates(pool, failed | refused);
            boolean nobodyElse = among == 0 && refused != 0;
            if (nobodyElse) {
                among = candidates(pool, failed);
            }
            int chosen = choose(pool, among, request.answers(), choice);
            if (chosen < 0) {
                refuse(Queue.NOBODY);
                return;
            }
            if (isFull(pool[chosen], request.answers()) || pool[chosen].isWanted()) {
                new Waiting(this, !tried.isEmpty()).enter();
                return;
            }
            if (!request.lease().tryTakeSlots(pool[chosen], request.answers())) {
                // another event loop took them in between
                continue;
            }
            if (fleet.breaker(chosen).tryBegin()) {
                go(fleet, chosen, fleet.breaker(chosen));
                return;
            }
            if (nobodyElse) {
                go(fleet, chosen, null);
                return;
            }
            request.lease().giveBackSlots();
            refused |= 1L << chosen;
        }
    }

    /** The replica whose slots the queue has given. */
    void granted(Replica granted) {
        request.lease().adoptSlots(granted, request.answers());
        Fleet fleet = balancer.fleet();
        int chosen = fleet.indexOf(granted);
        if (chosen < 0) {
            // it has left meanwhile
            request.lease().giveBackSlots();
            next();
            return;
        }
        Breaker of = fleet.breaker(chosen);
        go(fleet, chosen, of.tryBegin() ? of : null);
    }

    /**
     * What the strategy says to the queue, about those that there are now; asked under its lock.
     *
     * @param slots 0 for as if there were always enough
     * @param waiting who asks
     */
    int choose(int slots, Waiting waiting) {
        Replica[] now = balancer.candidates().replicas();
        int chosen = choose(now, candidates(now, triedOf(now)), slots, choice);
        if (chosen < 0) {
            return Queue.NOBODY;
        }
        if (isFull(now[chosen], slots)) {
            waiting.hopesFor(now[chosen]);
            return Queue.WAIT;
        }
        return chosen;
    }

    private int choose(Replica[] pool, long among, int slots, Choice to) {
        return affinity.strategy().choose(levels, pool, among, slots, System.nanoTime(), to);
    }

    private static boolean isFull(Replica replica, int slots) {
        return !replica.hasFree(replica.slotsFor(slots));
    }

    /** Those that are fit, or if there are none those that are the last choice. */
    private static long candidates(Replica[] pool, long without) {
        long fit = 0;
        long last = 0;
        for (int i = 0; i < pool.length; i++) {
            if ((without & 1L << i) == 0) {
                switch (pool[i].fitness()) {
                    case FIT -> fit |= 1L << i;
                    case LAST_CHOICE -> last |= 1L << i;
                    case NONE -> {}
                }
            }
        }
        return fit == 0 ? last : fit;
    }

    private boolean hasRoom(long tried) {
        Replica[] now = balancer.fleet().replicas();
        for (long rest = candidates(now, tried); rest != 0; rest &= rest - 1) {
            if (!isFull(now[Long.numberOfTrailingZeros(rest)], request.answers())) {
                return true;
            }
        }
        return false;
    }

    /** Whether it waits for one that is worth it while another one has room. */
    boolean waitsByChoice() {
        return !choice.isImpatient() && hasRoom(triedOf(balancer.fleet().replicas()));
    }

    Choice choice() {
        return choice;
    }

    /** Chooses again, but waits for nobody while another one has room. */
    void goElsewhere() {
        choice.losesPatience();
        next();
    }

    /** Those that are no choice: tried, or not the only one that the request can go to. */
    private long triedOf(Replica[] now) {
        // SEAM mustGoTo
        Replica only = request.mustGoTo();
        if (only != null) {
            return othersThan(only, now);
        }
        long mask = 0;
        for (int i = 0; i < now.length && !tried.isEmpty(); i++) {
            mask |= tried.contains(now[i]) ? 1L << i : 0;
        }
        return mask;
    }

    private long othersThan(Replica only, Replica[] now) {
        long mask = 0;
        for (int i = 0; i < now.length; i++) {
            mask |= now[i] != only || tried.contains(only) ? 1L << i : 0;
        }
        return mask;
    }

    /** @param permission the breaker that lets the attempt pass; null when it goes there for want of anybody else */
    private void go(Fleet fleet, int chosen, @Nullable Breaker permission) {
        Replica to = fleet.replicas()[chosen];
        replica = to;
        breaker = permission;
        insteadOfAnswer = false;
        affinity.strategy().dispatched(levels, to, choice, System.nanoTime());
        affinity.counts().sent(choice.why());
        request.chosen(to, choice.why().text());
        fleet.sender(chosen).process(exchange, this);
    }

    // ---- how it went

    @Override
    public void answered() {
        breakerSawAnswer();
        if (!request.isStream()) {
            choice.firstToken();
        }
        Retry.AsyncContext<Integer> counted = retry;
        if (counted != null) {
            counted.onComplete();
        }
    }

    @Override
    public void firstToken() {
        choice.firstToken();
    }

    private void breakerSawAnswer() {
        Breaker of = breaker;
        breaker = null;
        if (of != null) {
            of.answered();
        }
    }

    @Override
    public boolean insteadOf(int status, int retryAfterSeconds) {
        rest(status, retryAfterSeconds);
        sameReplica = retryAfterSeconds == 0;
        insteadOfAnswer = (sameReplica || balancer.retries().isRetried(status))
                && request.countedAttempts() < balancer.retries().maxAttempts()
                && (sameReplica || hasRoomElsewhere())
                && balancer.budget().trySpend()
                && (sameReplica || counted().onResult(status) >= 0);
        breakerSawAnswer();
        return insteadOfAnswer;
    }

    /** A replica that asks for a rest gets it: others are asked first. */
    private void rest(int status, int retryAfterSeconds) {
        Replica of = replica;
        if (of != null && retryAfterSeconds > 0 && (status == SERVICE_UNAVAILABLE || status == TOO_MANY_REQUESTS)) {
            long seconds = Math.min(retryAfterSeconds, LONGEST_RETRY_AFTER);
            of.rest(System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds));
            // a little later, so that it is over by then
            request.loop().schedule(of::rested, TimeUnit.SECONDS.toMillis(seconds) + 1, TimeUnit.MILLISECONDS);
        }
    }

    private boolean hasRoomElsewhere() {
        Fleet fleet = balancer.fleet();
        int here = replica == null ? -1 : fleet.indexOf(replica);
        return hasRoom(triedOf(fleet.replicas()) | (here < 0 ? 0 : 1L << here));
    }

    private Retry.AsyncContext<Integer> counted() {
        Retry.AsyncContext<Integer> counted = retry;
        if (counted == null) {
            counted = balancer.retries().begin();
            retry = counted;
        }
        return counted;
    }

    /** The attempt is over. */
    @Override
    public void done(boolean doneSync) {
        GatewayException error = exchange.getException() instanceof GatewayException e ? e : null;
        tellBreaker(error);
        request.lease().giveBackSlots();
        account();
        long waitMillis = error == null || request.isFinished() || request.isAnswering() ? -1 : nextIn(error);
        if (waitMillis < 0) {
            request.retries(null);
            callback.done(false);
            return;
        }
        FailedStep.forgive(exchange);
        if (waitMillis == 0) {
            next();
        } else {
            request.pending(this::requestEnded);
            TimerWheel.of(request.loop()).arm(this, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMillis));
        }
    }

    private void account() {
        choice.ended(System.nanoTime());
        AnswerFacts facts = request.facts();
        long cached = facts.cachedTokens();
        long prompt = facts.promptTokens();
        if (request.isAnswering() && cached >= 0 && prompt > 0) {
            // the choice counts in estimated tokens, the replica in its own
            double perToken = (double) levels.totalTokens() / prompt;
            affinity.strategy().reported(choice, Math.round(cached * perToken));
            affinity.counts().reported(prompt, Math.round(choice.warmTokens() / perToken), cached);
        }
    }

    private void tellBreaker(@Nullable GatewayException error) {
        Breaker of = breaker;
        breaker = null;
        if (of == null) {
            return;
        }
        if (error != null && RetryPolicy.isRetried(error.code())) {
            of.failed(error);
        } else {
            of.givenUp();
        }
    }

    /** Milliseconds until the next attempt; -1 when the failure is final. */
    private long nextIn(GatewayException error) {
        Replica of = replica;
        if (of == null) {
            return -1;
        }
        if (insteadOfAnswer && error.code() == ErrorCode.UPSTREAM_ERROR) {
            if (!sameReplica) {
                remember(of);
            }
            return 0;
        }
        if (!RetryPolicy.isRetried(error.code())
                || request.countedAttempts() >= balancer.retries().maxAttempts()) {
            return -1;
        }
        remember(of);
        Replica[] now = balancer.fleet().replicas();
        boolean elsewhere = candidates(now, triedOf(now)) != 0;
        if (!elsewhere) {
            tried = List.of();
            if (candidates(now, triedOf(now)) == 0) {
                return -1;
            }
        }
        if (!balancer.budget().trySpend()) {
            return -1;
        }
        long wait = counted().onError(error);
        return wait < 0 || !elsewhere ? wait : 0;
    }

    private void remember(Replica failed) {
        if (tried.isEmpty()) {
            tried = new ArrayList<>(2);
        }
        tried.add(failed);
    }

    /** The wait before the next attempt is over. */
    @Override
    protected void expired(long nowNanos) {
        request.pending(null);
        next();
    }

    private void requestEnded() {
        TimerWheel.of(request.loop()).cancel(this);
        stop();
    }

    // ---- ends

    void refuse(int answer) {
        if (answer == Queue.NOBODY && request.mustGoTo() != null) {
            fail(new GatewayException(ErrorCode.RESPONSE_UNAVAILABLE));
            return;
        }
        fail(answer == Queue.FULL ? overloaded(ErrorCode.QUEUE_FULL) : new GatewayException(ErrorCode.NO_REPLICA));
    }

    void fail(GatewayException error) {
        request.retries(null);
        exchange.setException(error);
        callback.done(false);
    }

    /** The request has ended: nothing comes after. */
    void stop() {
        request.retries(null);
        exchange.setRouteStop(true);
        callback.done(false);
    }

    /** Tells the client how long the queue is now. */
    GatewayException overloaded(ErrorCode code) {
        Pool pool = request.pool();
        double seconds = pool == null ? 0 : Math.ceil(pool.estimatedWaitSeconds());
        int retryAfter = (int) Math.max(code.retryAfterSeconds(), Math.min(LONGEST_RETRY_AFTER, seconds));
        return new GatewayException(code, code.text(), null, retryAfter);
    }

    InferenceRequest request() {
        return request;
    }

    AffinityBalancer balancer() {
        return balancer;
    }
}
