package routes.request;

import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.net.TimerWheel;
import routes.queue.Pool;
import routes.queue.Waiter.Claim;
import routes.relay.AnswerFacts;
import routes.replica.Replica;

/**
 * One inference request, from its head to the last byte of its answer; the body of its Camel exchange.
 *
 * <p>Its getters are for routes ({@code ${body.model}}); the other methods for the stages, and never named as a property:
 * Simple would call them.
 *
 * <p><b>Threading:</b> confined to its event loop, {@link #loop()}; readable elsewhere by steps that the exchange was
 * handed to. <b>Ownership:</b> owns the buffered prompt and its {@link Lease}. <b>Failure:</b> ends exactly once, in
 * {@link #finish}; whatever comes later is ignored.
 */
public final class InferenceRequest extends TimerWheel.Entry {

    /** What a connection passes on of itself. */
    public record Origin(Client client, EventLoop loop, BodyBudget budget, Consumer<InferenceRequest> onFinish) {}

    /** What an answer is expected to have at most, when the client did not bound it lower. */
    private static final int USUAL_ANSWER_TOKENS = 256;

    private final Origin origin;
    private final Api api;
    private final RequestHead head;
    private final RequestIds ids;
    private final Lease lease;
    private final AnswerFacts facts;
    private final long startNanos;
    private final long startMillis;

    private @Nullable ApiKey caller;
    private @Nullable ByteBuf body;
    private int bodyBytes;
    private @Nullable Prompt prompt;
    private @Nullable StoredResponse storedResponse;
    private @Nullable Replica mustGoTo;
    private PrefixLevels prefix = PrefixLevels.NONE;
    private long ownSalt;
    private boolean saltsTenant;
    private Timeouts timeouts = Timeouts.NONE;
    private long clientTotalNanos;
    private @Nullable Pool pool;
    private @Nullable Pool fallbackFrom;
    private @Nullable Replica replica;
    private @Nullable String affinity;
    private int attempts;
    private int staleAttempts;
    private @Nullable Retries retries;
    private @Nullable Pending pending;
    private @Nullable Runnable onWritable;
    private @Nullable Trace trace;

    private boolean answering;
    private int status;
    private long answerBytes;
    private boolean hasWaited;
    private long waitsSinceNanos;
    private long waitedNanos;
    private long connectNanos = -1;
    private long firstByteNanos;
    private long firstTokenNanos;
    private long endNanos;
    private @Nullable Outcome outcome;
    private @Nullable ErrorCode errorCode;

    /** @param startNanos when the head was complete, of {@link System#nanoTime()} */
    public InferenceRequest(Origin origin, Api api, RequestHead head, RequestIds ids, long startNanos) {
        this.origin = origin;
        this.api = api;
        this.head = head;
        this.ids = ids;
        this.startNanos = startNanos;
        this.startMillis = System.currentTimeMillis();
        this.lease = new Lease(origin.budget());
        this.facts = new AnswerFacts(api.dialect());
    }

    // ---- what came in

    public Client client() {
        return origin.client();
    }

    public EventLoop loop() {
        return origin.loop();
    }

    public Api target() {
        return api;
    }

    public RequestHead head() {
        return head;
    }

    public Lease lease() {
        return lease;
    }

    public AnswerFacts facts() {
        return facts;
    }

    /** The id that the client sees. */
    public String getRequestId() {
        return ids.toClient();
    }

    /** The id of its usage line. */
    public String getRecordId() {
        return ids.unique();
    }

    /** A fresh id for the upstream's next attempt. */
    public String upstreamRequestId() {
        return ids.toUpstream(attempts);
    }

    /** It is traced. */
    public void trace(Trace as) {
        trace = as;
    }

    /** Its place in a trace; null when it isn't traced. */
    public @Nullable Trace trace() {
        return trace;
    }

    // ---- what the stages find out

    public void authenticated(ApiKey key) {
        caller = key;
    }

    public @Nullable ApiKey caller() {
        return caller;
    }

    /** Keeps the body until the first byte of an answer goes out. Takes ownership. */
    public void body(ByteBuf bytes) {
        if (isFinished()) {
            bytes.release();
            return;
        }
        body = bytes;
        bodyBytes = bytes.readableBytes();
    }

    /** The body's bytes; null once they were released. Borrowed; do not retain beyond a write. */
    public @Nullable ByteBuf body() {
        return body;
    }

    /**
     * @param of the prompt, without a salt
     * @param salt what the client's own salt adds to each level; 0 for none
     */
    public void understood(Prompt read, PrefixLevels of, long salt) {
        prompt = read;
        prefix = of;
        ownSalt = salt;
    }

    public @Nullable Prompt prompt() {
        return prompt;
    }

    /** It asks for a response that a replica keeps, rather than for a new answer. */
    public void asksFor(StoredResponse stored) {
        storedResponse = stored;
    }

    /** The response that it asks for; null for every other request. */
    public @Nullable StoredResponse storedResponse() {
        return storedResponse;
    }

    /** Only this replica can serve it; null for any. */
    public void mustGoTo(@Nullable Replica only) {
        mustGoTo = only;
    }

    public @Nullable Replica mustGoTo() {
        return mustGoTo;
    }

    /** The prefix whose cache is worth keeping warm; shared among requests with the same salt only, if they have one. */
    public PrefixLevels prefix() {
        CacheSalt ofTenant = cacheSalt();
        return prefix.salted(ofTenant == null ? ownSalt : ofTenant.hash());
    }

    /** Whether the model's route keeps tenants apart in its replicas' prefix caches, also those whose keys don't ask. */
    public void saltTenant(boolean apart) {
        saltsTenant = apart;
    }

    /** What the body has to carry as its {@code cache_salt}, whatever the client wrote; null when that stays. */
    public @Nullable CacheSalt cacheSalt() {
        ApiKey key = caller;
        CacheSalt salt = key == null ? null : key.cacheSalt();
        return salt != null && (saltsTenant || salt.everywhere()) ? salt : null;
    }

    /** The pool of the model that serves it, whatever alias was asked for. */
    public void servedBy(Pool of) {
        pool = of;
    }

    /** The pool could not serve it; another one will. */
    public void fallsBackFrom(Pool first) {
        if (fallbackFrom == null) {
            fallbackFrom = first;
        }
    }

    /** The pool that serves it; null before it was found. */
    public @Nullable Pool pool() {
        return pool;
    }

    /** Slots that it needs: one for each answer that is asked for. */
    public int answers() {
        Prompt read = prompt;
        return read == null ? 1 : read.n();
    }

    /** What it asks of the queue. */
    public Claim claim() {
        ApiKey key = caller;
        if (key == null) {
            return new Claim(0, "", 1, expectedTokens());
        }
        return new Claim(key.quota().priority(), key.tenant(), key.quota().weight(), expectedTokens());
    }

    /** Tokens of the prompt, estimated, and the most that the answers may have, or as many again as a guess. */
    private long expectedTokens() {
        long prompt = promptTokensEstimate();
        Prompt read = this.prompt;
        long answer = read == null || read.maxTokens() < 0
                ? USUAL_ANSWER_TOKENS
                : Math.min(read.maxTokens(), USUAL_ANSWER_TOKENS);
        return prompt + answer * answers();
    }

    /** Tokens of the prompt as far as its bytes tell. */
    public long promptTokensEstimate() {
        return bodyBytes / api.body().bytesPerToken() + 1L;
    }

    /** Waits for a slot from here on. */
    public void waitBegins(long nowNanos) {
        waitsSinceNanos = nowNanos;
        hasWaited = true;
    }

    /** Does not wait any more; nothing when it did not. */
    public void waitEnds(long nowNanos) {
        if (waitsSinceNanos == 0) {
            return;
        }
        waitedNanos += nowNanos - waitsSinceNanos;
        waitsSinceNanos = 0;
    }

    /** @param why such as {@code home} or {@code spill_full} */
    public void chosen(Replica chosen, String why) {
        replica = chosen;
        affinity = why;
    }

    public void attemptBegins(Replica to) {
        replica = to;
        attempts++;
    }

    /** The attempt met a pooled connection that the replica had closed meanwhile: no fault of anybody's, not counted. */
    public void attemptWasStale() {
        staleAttempts++;
    }

    /** Attempts that count against the limit of tries. */
    public int countedAttempts() {
        return attempts - staleAttempts;
    }

    public void connected(long nanos) {
        connectNanos = nanos;
    }

    // ---- how long it may take

    /** What holds from here on: the gateway's own at first, then those of its model. The total counts from the head. */
    public void timeouts(Timeouts of) {
        boolean same = of.totalNanos() == timeouts.totalNanos();
        timeouts = of;
        if (clientTotalNanos == 0 && !same) {
            armTotal(of.totalNanos());
        }
    }

    /** The client's own limit for the whole request, whatever its model allows. */
    public void timeoutOfClient(long totalNanos) {
        clientTotalNanos = totalNanos;
        armTotal(totalNanos);
    }

    private void armTotal(long nanos) {
        if (!isFinished()) {
            TimerWheel.of(loop()).arm(this, startNanos + nanos);
        }
    }

    /** From sending a streaming request to the first event of its answer. */
    public long headNanos() {
        return timeouts.headNanos();
    }

    /** Longest silence of a streamed answer after its first event. */
    public long stallNanos() {
        return timeouts.stallNanos();
    }

    // ---- another try

    /** Decides whether a failed attempt is followed by another one. */
    public interface Retries {
        /**
         * The replica answered with a status that the next one may not; nothing of it has gone to the client.
         *
         * @param retryAfterSeconds as the replica asked for; -1 when it did not; 0 when the same replica may be asked again
         *     at once, with another credential
         * @return whether the attempt shall end with {@link ErrorCode#UPSTREAM_ERROR}, so that another one follows, rather
         *     than relay the answer
         */
        boolean insteadOf(int status, int retryAfterSeconds);

        /** The answer begins: it is the last attempt. */
        void answered();

        /** The first token of a stream has come. */
        void firstToken();
    }

    /** Whoever makes the attempts can make another one; null when there is nobody. */
    public void retries(@Nullable Retries by) {
        retries = by;
    }

    /** See {@link Retries#insteadOf}. */
    public boolean triesAgainInsteadOf(int status, int retryAfterSeconds) {
        Retries by = retries;
        return by != null && by.insteadOf(status, retryAfterSeconds);
    }

    // ---- pending stages

    /**
     * A stage keeps the exchange until later. The latest call counts; null when it goes on.
     *
     * @param stage called if the request ends meanwhile
     */
    public void pending(@Nullable Pending stage) {
        pending = stage;
    }

    /** @param action run when the client can take more of the answer; null for nobody */
    public void onWritable(@Nullable Runnable action) {
        onWritable = action;
    }

    /** The client keeps up again. */
    public void clientWritable() {
        Runnable action = onWritable;
        if (action != null) {
            action.run();
        }
    }

    // ---- the answer

    /** The first byte of an answer goes to the client: no retry from here on, and the prompt's memory is free. */
    public void answerBegins(int withStatus, long nowNanos) {
        answering = true;
        status = withStatus;
        firstByteNanos = nowNanos;
        releaseBody();
        Retries by = retries;
        if (by != null) {
            by.answered();
        }
    }

    public boolean isAnswering() {
        return answering;
    }

    public void countAnswerBytes(long bytes) {
        answerBytes += bytes;
    }

    public void firstToken(long nowNanos) {
        if (firstTokenNanos != 0) {
            return;
        }
        firstTokenNanos = nowNanos;
        Retries by = retries;
        if (by != null) {
            by.firstToken();
        }
    }

    // ---- the end

    public boolean isFinished() {
        return outcome != null;
    }

    /** The client is gone, in whatever phase. */
    public void clientGone() {
        if (finish(Outcome.CLIENT_CLOSED, null)) {
            resumePending();
        }
    }

    /** Ends the request with an error: answers it, or breaks the answer off when it had begun. */
    public void fail(GatewayException error) {
        if (isFinished()) {
            return;
        }
        lease.giveBackPlaces();
        if (answering) {
            client().abort();
        } else {
            status = error.code().status();
            client().answer(error);
        }
        finish(
                answering && error.code() == ErrorCode.DRAINING ? Outcome.TIMEOUT : outcomeOf(error.code()),
                error.code());
        resumePending();
    }

    /** The total time-out. */
    @Override
    protected void expired(long nowNanos) {
        fail(new GatewayException(ErrorCode.UPSTREAM_TIMEOUT));
    }

    /**
     * Ends the request: gives back all that it holds and has its usage line written. Only the first call counts.
     *
     * @return whether this was the first call
     */
    public boolean finish(Outcome how, @Nullable ErrorCode code) {
        if (outcome != null) {
            return false;
        }
        outcome = how;
        errorCode = code;
        endNanos = System.nanoTime();
        TimerWheel.of(loop()).cancel(this);
        onWritable = null;
        releaseBody();
        settle(how, code);
        lease.close();
        origin.onFinish().accept(this);
        client().finished(this);
        return true;
    }

    /** Charges the key for what was used; nothing when the request was refused or no replica had it. */
    private void settle(Outcome how, @Nullable ErrorCode code) {
        boolean unheard = code == ErrorCode.UPSTREAM_CONNECT_FAILED || code == ErrorCode.UPSTREAM_RESET;
        if (attempts == 0 || !answering && (how == Outcome.REJECTED || how == Outcome.INTERNAL || unheard)) {
            lease.grant().refund();
            lease.correctQueue(0);
            return;
        }
        boolean free = !api.costsTokens() || how == Outcome.UPSTREAM_ERROR && facts.events() == 0;
        long prompt = free ? Math.max(0, facts.promptTokens()) : promptTokens();
        long completion = answerTokens();
        lease.grant().settle(prompt, facts.cachedTokens(), completion);
        lease.correctQueue(prompt + completion);
    }

    /** Tokens of the prompt: as the replica counted them, else the estimate. */
    public long promptTokens() {
        return facts.promptTokens() >= 0 ? facts.promptTokens() : promptTokensEstimate();
    }

    /** Tokens of the answer so far: as the replica counted them last, and one for each of its events since. */
    public long answerTokens() {
        long counted = Math.max(0, facts.completionTokens());
        boolean complete = facts.usageFinal() || outcome == Outcome.SUCCESS && facts.completionTokens() >= 0;
        return complete || !api.costsTokens() ? counted : counted + facts.uncountedEvents();
    }

    /** The answer of the gateway's own is complete. */
    public void answered(int withStatus) {
        answering = true;
        status = withStatus;
        finish(Outcome.SUCCESS, null);
    }

    private void resumePending() {
        Pending stage = pending;
        pending = null;
        if (stage != null) {
            stage.cancel();
        }
    }

    private void releaseBody() {
        ByteBuf bytes = body;
        if (bytes != null) {
            body = null;
            bytes.release();
        }
        lease.giveBackBody();
    }

    private static Outcome outcomeOf(ErrorCode code) {
        return switch (code) {
            case UPSTREAM_TIMEOUT -> Outcome.TIMEOUT;
            case UPSTREAM_CONNECT_FAILED, UPSTREAM_RESET, UPSTREAM_INVALID, UPSTREAM_UNAUTHORIZED ->
                Outcome.UPSTREAM_ERROR;
            case UPSTREAM_INCOMPLETE -> Outcome.UPSTREAM_ABORTED;
            case INTERNAL -> Outcome.INTERNAL;
            default -> Outcome.REJECTED;
        };
    }

    // ---- for routes and usage lines

    public String getApi() {
        return api.label();
    }

    public @Nullable String getTenant() {
        return caller == null ? null : caller.tenant();
    }

    public @Nullable String getKeyId() {
        return caller == null ? null : caller.id();
    }

    /** The model as the client wrote it; null before the body was read. */
    public @Nullable String getModel() {
        return prompt == null ? null : prompt.model();
    }

    /** The pool that serves it; null before it was found. */
    public @Nullable String getPool() {
        return pool == null ? null : pool.name();
    }

    /** The pool that should have served it; null when that one did. */
    public @Nullable String getFallbackFrom() {
        return fallbackFrom == null ? null : fallbackFrom.name();
    }

    public @Nullable String getUser() {
        return prompt == null ? null : prompt.user();
    }

    public boolean isStream() {
        return prompt != null ? prompt.stream() : storedResponse != null && storedResponse.stream();
    }

    /** The replica tried last; null when none was. */
    public @Nullable Replica getReplica() {
        return replica;
    }

    public @Nullable String getAffinity() {
        return affinity;
    }

    public int getAttempts() {
        return attempts;
    }

    public int getBodyBytes() {
        return bodyBytes;
    }

    public long getAnswerBytes() {
        return answerBytes;
    }

    /** HTTP status sent to the client; 0 before, 499 when the client left first. */
    public int getStatus() {
        return status == 0 && outcome == Outcome.CLIENT_CLOSED ? 499 : status;
    }

    /** How it ended; null while it runs. */
    public @Nullable Outcome getOutcome() {
        return outcome;
    }

    public @Nullable ErrorCode getErrorCode() {
        return errorCode;
    }

    public long getStartMillis() {
        return startMillis;
    }

    /** Nanoseconds that it waited for slots; -1 when it did not. */
    public long getQueuedNanos() {
        if (!hasWaited) {
            return -1;
        }
        long until = outcome == null ? System.nanoTime() : endNanos;
        return waitedNanos + (waitsSinceNanos == 0 ? 0 : until - waitsSinceNanos);
    }

    /** Nanoseconds until the connection to the replica stood; 0 for one from the pool, -1 when none was used. */
    public long getConnectNanos() {
        return connectNanos;
    }

    /** Nanoseconds from the head to the answer's first byte; -1 when there was none. */
    public long getFirstByteNanos() {
        return firstByteNanos == 0 ? -1 : firstByteNanos - startNanos;
    }

    /** Nanoseconds from the head to the first token of a stream; -1 when there was none. */
    public long getFirstTokenNanos() {
        return firstTokenNanos == 0 ? -1 : firstTokenNanos - startNanos;
    }

    /** Nanoseconds from the head to the end; -1 while it runs. */
    public long getDurationNanos() {
        return outcome == null ? -1 : endNanos - startNanos;
    }

    /** Names the request for logs: its id, never its content. */
    @Override
    public String toString() {
        return "InferenceRequest[" + getRequestId() + ' ' + api.label() + ']';
    }
}
