package routes.vllm;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.FastThreadLocal;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import routes.error.ErrorBody;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.net.TimerWheel;
import routes.quota.Grant;
import routes.relay.AnswerFacts;
import routes.relay.AnswerRelay;
import routes.relay.Content;
import routes.relay.Framing;
import routes.relay.RelayPlan;
import routes.relay.RelayState;
import routes.request.Client;
import routes.request.InferenceRequest;
import routes.request.Outcome;

/**
 * One keep-alive connection to a replica: sends one call at a time and relays its answer to the client as it comes.
 *
 * <p><b>Threading:</b> event-loop confined, on the loop of its clients. <b>Ownership:</b> owns the call it carries until
 * the call is over. <b>Failure:</b> before an answer's first byte the call fails, and a connection from the pool is
 * replaced by a fresh one once; after it the client's answer is broken off.
 */
final class UpstreamConnection extends ChannelInboundHandlerAdapter {

    private static final Logger LOG = LoggerFactory.getLogger(UpstreamConnection.class);
    private static final int MOST_READS_OVER_BUDGET = 64;
    private static final FastThreadLocal<byte[]> SCRATCH = new FastThreadLocal<>() {
        @Override
        protected byte[] initialValue() {
            return new byte[65_536];
        }
    };

    private final UpstreamPool pool;
    private final AnswerHeadParser head = new AnswerHeadParser();
    private final Idle idle = new Idle();
    private final Silence silence = new Silence();
    private @Nullable ChannelHandlerContext context;
    private @Nullable InetSocketAddress address;
    private long expiresNanos;

    private @Nullable Call call;
    private boolean fromPool;
    private boolean bytesSeen;
    private boolean reset;
    private @Nullable ByteBuf headBytes;
    private @Nullable AnswerRelay relay;
    private boolean dirty;
    private long sentNanos;
    private long lastReadNanos;
    private long spentTokens;
    private boolean overBudget;
    private int readsOverBudget;

    UpstreamConnection(UpstreamPool pool) {
        this.pool = pool;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
    }

    // ---- in the pool

    /**
     * It can be used from here on.
     *
     * @param to where it leads
     * @param untilNanos when it is too old for another call, of {@link System#nanoTime()}
     */
    void established(InetSocketAddress to, long untilNanos) {
        address = to;
        expiresNanos = untilNanos;
    }

    boolean leadsTo(@Nullable InetSocketAddress wanted) {
        return Objects.equals(address, wanted);
    }

    long expiresNanos() {
        return expiresNanos;
    }

    void close() {
        pool.timers().cancel(idle);
        ctx().close();
    }

    /** Stays in the pool until this time at the latest. */
    void idle(long untilNanos) {
        pool.timers().arm(idle, untilNanos);
    }

    /** Leaves the pool; false when it can't be used. */
    boolean wake() {
        pool.timers().cancel(idle);
        return ctx().channel().isActive();
    }

    // ---- a call

    void send(Call next, boolean pooled) {
        InferenceRequest request = next.request();
        ByteBuf body = request.body();
        if (body == null) {
            pool.giveBack(this);
            next.failed(ErrorCode.INTERNAL);
            return;
        }
        call = next;
        fromPool = pooled;
        bytesSeen = false;
        head.reset();
        request.pending(this::cancelled);
        next.endpoint().writer().write(ctx(), next, body);
        if (request.isStream()) {
            sentNanos = System.nanoTime();
            pool.timers().arm(silence, sentNanos + request.headNanos());
        }
    }

    /** The request has ended meanwhile: the engine stops when its connection closes. */
    private void cancelled() {
        Call ended = detach();
        ctx().close();
        if (ended != null) {
            ended.over();
        }
    }

    private @Nullable Call detach() {
        Call ended = call;
        call = null;
        dirty = false;
        pool.timers().cancel(silence);
        AnswerRelay over = relay;
        relay = null;
        if (over != null) {
            over.release();
        }
        ByteBuf bytes = headBytes;
        headBytes = null;
        if (bytes != null) {
            bytes.release();
        }
        if (ended != null) {
            ended.request().onWritable(null);
            ended.request().pending(null);
        }
        return ended;
    }

    // ---- reading

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf in = (ByteBuf) message;
        Call current = call;
        if (current == null) {
            in.release();
            ctx.close();
            return;
        }
        bytesSeen = true;
        AnswerRelay running = relay;
        if (running != null) {
            relay(current, running, in);
            return;
        }
        ByteBuf bytes = headBytes == null ? in : append(headBytes, in);
        headBytes = null;
        boolean complete;
        try {
            complete = head.parse(bytes);
        } catch (AnswerHeadParser.Malformed e) {
            bytes.release();
            if (pool.mayWarn()) {
                LOG.warn("Replica {} answered with something that is not HTTP: {}", pool.replica(), e.getMessage());
            }
            failed(ErrorCode.UPSTREAM_INVALID);
            return;
        }
        if (!complete) {
            headBytes = bytes;
            return;
        }
        begin(current, bytes);
    }

    private ByteBuf append(ByteBuf before, ByteBuf in) {
        ByteBuf joined = before;
        if (before.maxWritableBytes() < in.readableBytes()) {
            joined = ctx().alloc().directBuffer((before.readableBytes() + in.readableBytes()) * 2);
            joined.writeBytes(before);
            before.release();
        }
        joined.writeBytes(in);
        in.release();
        return joined;
    }

    private void begin(Call current, ByteBuf rest) {
        InferenceRequest request = current.request();
        if (head.status() >= 400) {
            ErrorCode instead = insteadOfError(current);
            if (instead != null) {
                discard(rest, instead);
                return;
            }
        }
        Content content = head.content();
        boolean cut = content == Content.SSE && head.status() == 200 && current.hidesUsage();
        if (cut) {
            head.resize();
        }
        request.answerBegins(head.status(), System.nanoTime());
        Client.BodyFraming framing = request.client().head(head);
        dirty = true;
        spentTokens = 0;
        overBudget = false;
        readsOverBudget = 0;
        if (head.bodyless()) {
            boolean extraBytes = rest.isReadable();
            rest.release();
            completed(current, head.keepAlive() && !extraBytes);
            return;
        }
        boolean length = framing == Client.BodyFraming.PLAIN && head.contentLength() >= 0;
        Framing toClient =
                framing == Client.BodyFraming.CHUNKED ? Framing.CHUNKED : length ? Framing.LENGTH : Framing.CLOSE;
        Framing fromReplica = head.framing();
        AnswerRelay started = new AnswerRelay(
                new RelayPlan(fromReplica, fromReplica == Framing.LENGTH ? head.length() : -1, toClient, content, cut),
                request.facts(),
                ctx().alloc(),
                SCRATCH.get());
        relay = started;
        if (content != Content.SSE) {
            pool.timers().cancel(silence);
        }
        if (rest.isReadable() || fromReplica == Framing.LENGTH && head.length() == 0) {
            relay(current, started, rest);
        } else {
            rest.release();
        }
    }

    /** What the attempt ends with rather than relay an error; null to relay it. */
    private @Nullable ErrorCode insteadOfError(Call current) {
        int status = head.status();
        int retryAfter = head.retryAfterSeconds();
        Credential ours = current.credential();
        boolean keyRefused = ours != null && status == 401;
        boolean otherKey = false;
        if (ours != null && (keyRefused || status == 429)) {
            otherKey = current.endpoint().credentials().refused(ours, keyRefused ? -1 : retryAfter);
        }
        if (ours != null && keyRefused && pool.mayWarn()) {
            LOG.warn("Replica {} refused the gateway's key, number {} of its list", pool.replica(), ours.number());
        }
        // another replica may know a response that this one doesn't
        boolean asksAround = current.request().storedResponse() != null;
        boolean mayPass = status == 429 || status >= 500 || otherKey || asksAround;
        // zero means that the same replica may be asked again, which is so for another key only
        int wait = otherKey ? 0 : retryAfter == 0 ? -1 : retryAfter;
        if (mayPass && current.request().triesAgainInsteadOf(status, wait)) {
            return ErrorCode.UPSTREAM_ERROR;
        }
        return keyRefused ? ErrorCode.UPSTREAM_UNAUTHORIZED : null;
    }

    /** The client sees nothing of this answer. Takes ownership of what has come of its body. */
    private void discard(ByteBuf rest, ErrorCode code) {
        boolean whole = head.framing() == Framing.LENGTH && rest.readableBytes() == head.length();
        rest.release();
        if (head.status() >= 500) {
            pool.replica().countError();
        }
        Call ended = detach();
        reuseOrClose(whole && head.keepAlive());
        if (ended != null) {
            ended.failed(code);
        }
    }

    private void relay(Call current, AnswerRelay running, ByteBuf in) {
        InferenceRequest request = current.request();
        AnswerFacts facts = request.facts();
        boolean before = facts.firstToken();
        boolean silent = !facts.begun();
        RelayState state = running.relay(in, this::toClient);
        dirty = true;
        lastReadNanos = System.nanoTime();
        if (!before && facts.firstToken()) {
            request.firstToken(lastReadNanos);
        }
        if (silent && facts.begun()) {
            pool.timers().arm(silence, lastReadNanos + request.stallNanos());
        }
        switch (state) {
            case MORE -> {
                if (isOverBudget(request)) {
                    endForBudget(current, running);
                } else if (!request.client().isWritable()) {
                    pause(request);
                }
            }
            case END -> completed(current, head.keepAlive() && !running.extraBytes());
            case MALFORMED -> brokenOff(current);
        }
    }

    /** Charges what a stream has brought so far, where the key's terms end streams whose budget is used up. */
    private boolean isOverBudget(InferenceRequest request) {
        Grant grant = request.lease().grant();
        if (!grant.endsStream() || overBudget) {
            return overBudget;
        }
        long tokens = request.answerTokens();
        if (tokens > spentTokens) {
            overBudget = !grant.spend(tokens - spentTokens);
            spentTokens = tokens;
        }
        return overBudget;
    }

    private static byte[] budgetEvent(InferenceRequest request) {
        return ErrorBody.event(
                new GatewayException(ErrorCode.BUDGET_EXHAUSTED), request.head().path());
    }

    /** Ends the stream between two events; a replica whose reads never end there is not waited for for ever. */
    private void endForBudget(Call current, AnswerRelay running) {
        if (running.endWith(budgetEvent(current.request()), this::toClient)) {
            endedByBudget(current);
        } else if (++readsOverBudget > MOST_READS_OVER_BUDGET) {
            current.request().fail(new GatewayException(ErrorCode.BUDGET_EXHAUSTED));
        }
    }

    /** The client has its last event; the engine stops when its connection closes. */
    private void endedByBudget(Call current) {
        InferenceRequest request = current.request();
        detach();
        ctx().close();
        request.lease().giveBackPlaces();
        request.client().end();
        request.finish(Outcome.REJECTED, ErrorCode.BUDGET_EXHAUSTED);
        current.over();
    }

    private void toClient(ByteBuf bytes) {
        Call current = call;
        if (current == null) {
            bytes.release();
            return;
        }
        current.request().countAnswerBytes(bytes.readableBytes());
        current.request().client().write(bytes);
    }

    /** The client doesn't keep up: what the replica sends stays in the replica's socket. */
    private void pause(InferenceRequest request) {
        ctx().channel().config().setAutoRead(false);
        request.onWritable(() -> {
            lastReadNanos = System.nanoTime();
            sentNanos = lastReadNanos;
            ctx().channel().config().setAutoRead(true);
        });
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        Call current = call;
        if (dirty && current != null) {
            dirty = false;
            current.request().client().flush();
        }
    }

    // ---- ends

    private void completed(Call current, boolean reuse) {
        InferenceRequest request = current.request();
        AnswerRelay finished = relay;
        boolean events = finished != null && head.content() == Content.SSE;
        detach();
        reuseOrClose(reuse);
        request.lease().giveBackPlaces();
        request.client().end();
        conclude(request, head.status(), events);
        current.over();
    }

    private void reuseOrClose(boolean reuse) {
        ChannelOutboundBuffer unsent = ctx().channel().unsafe().outboundBuffer();
        ctx().channel().config().setAutoRead(true);
        if (reuse && unsent != null && unsent.isEmpty()) {
            pool.giveBack(this);
        } else {
            ctx().close();
        }
    }

    private void conclude(InferenceRequest request, int status, boolean events) {
        AnswerFacts facts = request.facts();
        if (status >= 500) {
            pool.replica().countError();
        }
        if (status >= 400 || facts.errorSeen()) {
            request.finish(Outcome.UPSTREAM_ERROR, ErrorCode.UPSTREAM_ERROR);
        } else if (events && (!facts.sawDone() || facts.finishReason() == null)) {
            pool.replica().countError();
            request.finish(Outcome.UPSTREAM_ABORTED, ErrorCode.UPSTREAM_INCOMPLETE);
        } else if ("abort".equals(facts.finishReason())) {
            request.finish(Outcome.UPSTREAM_ERROR, ErrorCode.UPSTREAM_ERROR);
        } else {
            request.finish(Outcome.SUCCESS, null);
        }
    }

    /** The answer broke off after it had begun: the client sees a broken connection, never a tidy end. */
    private void brokenOff(Call current) {
        detach();
        ctx().close();
        pool.replica().countError();
        current.request().fail(new GatewayException(ErrorCode.UPSTREAM_INCOMPLETE));
        current.over();
    }

    private void failed(ErrorCode code) {
        Call ended = detach();
        ctx().close();
        pool.replica().countError();
        if (ended != null) {
            ended.failed(code);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        pool.timers().cancel(idle);
        Call current = call;
        if (current == null) {
            pool.remove(this);
            return;
        }
        AnswerRelay running = relay;
        if (running != null) {
            boolean cut = head.framing() == Framing.CLOSE && (reset || isTruncated() || endsTooSoon(current));
            RelayState state = cut ? RelayState.MALFORMED : running.upstreamClosed(this::toClient);
            if (state == RelayState.END) {
                completed(current, false);
            } else {
                brokenOff(current);
            }
        } else if (fromPool && !bytesSeen && current.mayRenew()) {
            detach();
            current.request().attemptWasStale();
            pool.connect(current);
        } else {
            failed(ErrorCode.UPSTREAM_RESET);
        }
    }

    /** A stream that only its connection's end delimits is complete when it said so. */
    private boolean endsTooSoon(Call current) {
        return head.content() == Content.SSE && !current.request().facts().sawDone();
    }

    /** Over TLS the replica says that it closes; without that anybody may have cut the connection. */
    private boolean isTruncated() {
        SslHandler tls = ctx().pipeline().get(SslHandler.class);
        return tls != null && !tls.sslCloseFuture().isSuccess();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == SslCloseCompletionEvent.SUCCESS) {
            if (call == null) {
                pool.remove(this);
            }
            ctx.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        reset = true;
        Throwable fault = cause instanceof DecoderException && cause.getCause() != null ? cause.getCause() : cause;
        if (!(fault instanceof IOException)) {
            LOG.error("A connection to replica {} failed", pool.replica(), cause);
        }
        ctx.close();
    }

    private ChannelHandlerContext ctx() {
        ChannelHandlerContext ctx = context;
        if (ctx == null) {
            throw new IllegalStateException("not in a pipeline");
        }
        return ctx;
    }

    /** Closes a connection that has been idle for longer than the pool keeps one. */
    private final class Idle extends TimerWheel.Entry {
        @Override
        protected void expired(long nowNanos) {
            pool.remove(UpstreamConnection.this);
            ctx().close();
        }
    }

    /** Ends a streaming request whose replica has been silent for too long, before its first event or after one. */
    private final class Silence extends TimerWheel.Entry {
        @Override
        protected void expired(long nowNanos) {
            Call current = call;
            if (current == null) {
                return;
            }
            InferenceRequest request = current.request();
            boolean begun = request.facts().begun();
            long limit = begun ? request.stallNanos() : request.headNanos();
            long since = begun ? lastReadNanos : sentNanos;
            if (!ctx().channel().config().isAutoRead()) {
                pool.timers().arm(this, nowNanos + limit);
            } else if (nowNanos - since >= limit) {
                request.fail(new GatewayException(ErrorCode.UPSTREAM_TIMEOUT));
            } else {
                pool.timers().arm(this, since + limit);
            }
        }
    }
}
