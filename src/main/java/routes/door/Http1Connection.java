package routes.door;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.socket.SocketChannel;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import org.apache.camel.component.netty.http.NettyHttpConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import routes.door.AnswerWriter.Content;
import routes.door.AnswerWriter.Ending;
import routes.error.ErrorBody;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.net.ReadBuffers;
import routes.net.TimerWheel;
import routes.request.Api;
import routes.request.Client;
import routes.request.InferenceRequest;
import routes.request.RequestHead;
import routes.request.RequestIds;

/**
 * One client's connection: reads requests one at a time, in order, and answers them in that order. What is sent ahead
 * waits, within bounds.
 *
 * <p><b>Threading:</b> event-loop confined. <b>Ownership:</b> owns bytes not yet understood and a body being read.
 * <b>Failure:</b> a head or body that can't be framed is answered and the connection closed; nothing after it is read.
 */
final class Http1Connection extends ChannelInboundHandlerAdapter implements Client {

    private static final Logger LOG = LoggerFactory.getLogger(Http1Connection.class);
    private static final String JSON = "application/json";
    private static final String HEALTH = "/health";

    private enum Phase {
        /** Waiting for a request's head, or for the rest of it. */
        HEAD,
        /** A request is being served; its body waits until a step asks for it. */
        BUSY,
        /** A step asked for the body. */
        BODY,
        /** The unread body of an answered request is thrown away. */
        SKIP,
        /** Camel's stock handler serves the request. */
        STOCK,
        /** The last answer is out; what still arrives is thrown away. */
        LINGER
    }

    private final DoorPort port;
    private final DoorLimits limits;
    private final ReadBuffers reads;
    private final HeadParser heads;
    private final Deadline deadline = new Deadline();
    private @Nullable ChannelHandlerContext context;
    private @Nullable AnswerWriter answers;
    private @Nullable TimerWheel timers;
    private @Nullable StockRequests stock;
    private InferenceRequest.@Nullable Origin origin;

    private Phase phase = Phase.HEAD;
    private @Nullable ByteBuf unread;
    private boolean proceeding;
    private @Nullable RequestHead head;
    private @Nullable InferenceRequest active;
    private @Nullable BodyReader reader;
    private @Nullable BodyCollector collector;
    private boolean bodyRead;
    private boolean answered;
    private boolean broken;
    private long skip;

    Http1Connection(DoorPort port, ReadBuffers reads) {
        this.port = port;
        this.limits = port.door().limits();
        this.reads = reads;
        this.heads = new HeadParser(limits.sizes().head(), limits.sizes().fields());
    }

    // ---- the channel

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
        answers = new AnswerWriter(ctx);
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        timers = TimerWheel.of(ctx.channel().eventLoop());
        port.addChannel(ctx.channel());
        port.door().opened(this);
        deadline.arm(limits.headerNanos());
        ctx.fireChannelActive();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        port.removeChannel(ctx.channel());
        port.door().closed(this);
        timers().cancel(deadline);
        broken = true;
        dropInput();
        answers().release();
        InferenceRequest request = active;
        if (request != null) {
            request.clientGone();
        }
        if (stock != null) {
            ctx.fireChannelInactive();
        }
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // the read went into the body's own buffer, not into one with equal bytes
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf in = (ByteBuf) message;
        BodyCollector body = collector;
        if (body != null && body.hasLength() && in == body.target()) {
            in.release();
            if (body.isFull()) {
                unread = body.takeExcess();
                bodyComplete(body);
                proceed();
            }
            return;
        }
        if (phase == Phase.LINGER) {
            linger(in);
            return;
        }
        ByteBuf before = unread;
        if (before == null) {
            unread = in;
        } else {
            before.writeBytes(in);
            in.release();
        }
        proceed();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        if (stock != null && phase == Phase.STOCK) {
            ctx.fireChannelReadComplete();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        InferenceRequest request = active;
        boolean writable = ctx.channel().isWritable();
        if (phase == Phase.BUSY && request != null) {
            if (writable) {
                deadline.disarm();
                request.clientWritable();
            } else {
                deadline.stalled();
            }
        } else if (phase == Phase.HEAD && writable) {
            awaitHead();
            proceed();
        }
        if (stock != null) {
            ctx.fireChannelWritabilityChanged();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        // Camel's executor for ordinary routes ends before the connections that used it
        boolean ending =
                cause instanceof RejectedExecutionException && port.door().isDraining();
        if (!(cause instanceof IOException) && !ending) {
            LOG.error("A client's connection failed", cause);
        }
        ctx.close();
    }

    /** Ends the request in flight; from any thread. */
    void breakOff() {
        ctx().channel().eventLoop().execute(() -> {
            InferenceRequest request = active;
            if (request != null) {
                request.fail(new GatewayException(ErrorCode.DRAINING));
            }
        });
    }

    // ---- input

    /** Goes on with what has been read, as far as it reaches. */
    private void proceed() {
        if (proceeding) {
            return;
        }
        proceeding = true;
        try {
            boolean more = true;
            while (more && unread != null) {
                more = switch (phase) {
                    case HEAD -> ctx().channel().isWritable() && readHead(unread);
                    case BODY -> feedBody(unread);
                    case SKIP -> skipBody(unread);
                    case STOCK -> feedStock(unread);
                    case BUSY -> false;
                    case LINGER -> {
                        dropInput();
                        yield false;
                    }
                };
            }
        } catch (GatewayException e) {
            refuse(e);
        } finally {
            proceeding = false;
        }
        keepUnread();
    }

    /** Whether what is read is used at once. */
    private boolean takesInput() {
        return switch (phase) {
            case HEAD -> ctx().channel().isWritable();
            case STOCK -> !bodyRead;
            case BUSY -> false;
            case BODY, SKIP, LINGER -> true;
        };
    }

    /** What is left must be appendable, must not move under a body that is a slice of it, and is bounded. */
    private void keepUnread() {
        ByteBuf rest = unread;
        if (rest == null) {
            return;
        }
        if (!rest.isReadable()) {
            unread = null;
            rest.release();
            return;
        }
        boolean full = rest.readableBytes() > DoorLimits.AHEAD_BYTES && !takesInput();
        ctx().channel().config().setAutoRead(!full);
        if (rest.maxCapacity() != Integer.MAX_VALUE || rest.refCnt() > 1) {
            ByteBuf larger = ctx().alloc().directBuffer(Math.max(1024, rest.readableBytes() * 2));
            larger.writeBytes(rest);
            rest.release();
            unread = larger;
        } else {
            rest.discardSomeReadBytes();
        }
    }

    private boolean readHead(ByteBuf in) throws GatewayException {
        boolean first = !heads.inside();
        RequestHead parsed = heads.parse(in);
        if (parsed == null) {
            if (first && heads.inside()) {
                deadline.arm(limits.headerNanos());
            }
            return false;
        }
        deadline.disarm();
        head = parsed;
        answered = false;
        bodyRead = parsed.contentLength() <= 0 && !parsed.chunked();
        phase = Phase.BUSY;
        begin(parsed);
        return true;
    }

    private void begin(RequestHead parsed) throws GatewayException {
        String path = parsed.path();
        Api api = Api.at(path);
        boolean ours = api != null && takes(api, parsed);
        Cors cors = port.door().cors();
        if (cors != null) {
            answers().lines(cors.lines(parsed));
        }
        NettyHttpConsumer consumer = port.doorConsumer();
        if (api != null && ours && consumer != null) {
            serve(consumer, api, parsed);
        } else if (StockRequests.match(port, parsed)) {
            phase = Phase.STOCK;
            if (!bodyRead) {
                deadline.arm(limits.bodyNanos());
            }
            StockRequests bridge = stock;
            if (bridge == null) {
                bridge = StockRequests.attach(ctx(), port, this::stockDone);
                stock = bridge;
            }
            bridge.begin(parsed);
        } else if (path.equals(HEALTH)
                && (parsed.method() == RequestHead.Method.GET || parsed.method() == RequestHead.Method.HEAD)) {
            whole(port.door().isDraining() ? 503 : 200, List.of(), new byte[0]);
            answeredWithoutRequest();
        } else if (api != null && !ours || path.equals(HEALTH)) {
            otherMethod(parsed, api == null ? "GET, HEAD" : api.methods(), cors);
        } else {
            // while the gateway stops, its routes are gone before its connections are
            ErrorCode code = port.door().isDraining() ? ErrorCode.DRAINING : ErrorCode.NOT_FOUND;
            refuseRequest(new GatewayException(code), List.of());
        }
    }

    private static boolean takes(Api api, RequestHead parsed) {
        return api.method().equals(parsed.methodName())
                || parsed.method() == RequestHead.Method.HEAD && api.answersHead();
    }

    /** A method that the path doesn't take; OPTIONS asks which those are, where browsers may. */
    private void otherMethod(RequestHead parsed, String methods, @Nullable Cors cors) {
        if (cors == null) {
            refuseMethod(methods);
        } else if (parsed.method() == RequestHead.Method.OPTIONS) {
            whole(204, cors.preflight(parsed, methods + ", OPTIONS"), new byte[0]);
            answeredWithoutRequest();
        } else {
            refuseMethod(methods + ", OPTIONS");
        }
    }

    private void refuseMethod(String methods) {
        refuseRequest(
                new GatewayException(ErrorCode.METHOD_NOT_ALLOWED, "This path takes " + methods + " only."),
                List.of(Map.entry("allow", methods)));
    }

    private void serve(NettyHttpConsumer consumer, Api api, RequestHead parsed) throws GatewayException {
        Door door = port.door();
        if (parsed.unknownExpectation()) {
            throw new GatewayException(ErrorCode.EXPECTATION_FAILED);
        }
        if (door.isDraining()) {
            throw new GatewayException(ErrorCode.DRAINING);
        }
        long ofClient = ofClient(parsed);
        if (ofClient < 0) {
            return;
        }
        long now = System.nanoTime();
        InferenceRequest request = new InferenceRequest(
                origin(door), api, parsed, RequestIds.of(parsed.header(RequestHead.Known.X_REQUEST_ID)), now);
        active = request;
        door.begun(request);
        request.timeouts(limits.answering().timeouts());
        if (ofClient != 0) {
            request.timeoutOfClient(ofClient);
        }
        DoorExchange.run(consumer, request);
    }

    /** The client's own limit for its request, nanoseconds; 0 for none, -1 when it makes no sense and was refused. */
    private long ofClient(RequestHead parsed) {
        try {
            return limits.answering().header().nanos(parsed);
        } catch (GatewayException e) {
            refuseRequest(e, List.of());
            return -1;
        }
    }

    /** The same for all requests of this connection. */
    private InferenceRequest.Origin origin(Door door) {
        InferenceRequest.Origin known = origin;
        if (known == null) {
            known = new InferenceRequest.Origin(this, ctx().channel().eventLoop(), door.budget(), door::finished);
            origin = known;
        }
        return known;
    }

    /** A request that can't be understood: the answer, then nothing more from this connection. */
    private void refuse(GatewayException error) {
        InferenceRequest request = active;
        BodyReader waiting = reader;
        if (waiting != null && request != null) {
            broken(waiting, error);
            return;
        }
        if (request == null && !answered) {
            broken = true;
            whole(error.code().status(), errorHeaders(error), ErrorBody.render(error, path()));
            answeredWithoutRequest();
        }
    }

    /** The body can't be framed or doesn't arrive: the reader's route answers, and the connection closes after it. */
    private void broken(BodyReader waiting, GatewayException error) {
        broken = true;
        reader = null;
        stopCollecting();
        phase = Phase.BUSY;
        waiting.failed(error);
    }

    /** A request that was understood and is refused before it becomes an exchange. */
    private void refuseRequest(GatewayException error, List<Map.Entry<String, String>> more) {
        List<Map.Entry<String, String>> headers = new ArrayList<>(errorHeaders(error));
        headers.addAll(more);
        whole(error.code().status(), headers, ErrorBody.render(error, path()));
        answeredWithoutRequest();
    }

    // ---- bodies

    @Override
    public void readBody(BodyReader waiting) {
        RequestHead of = head;
        InferenceRequest request = active;
        if (of == null || request == null) {
            waiting.failed(new GatewayException(ErrorCode.INTERNAL));
            return;
        }
        try {
            if (of.contentLength() > limits.sizes().body()) {
                throw BodyCollector.tooLarge(limits.sizes().body());
            }
            if (bodyRead) {
                waiting.complete(Unpooled.EMPTY_BUFFER);
                return;
            }
            reader = waiting;
            phase = Phase.BODY;
            ByteBuf in = unread;
            if (of.chunked()) {
                collector = BodyCollector.ofChunks(
                        ctx().alloc(), request.lease(), limits.sizes().body());
            } else if (in == null || in.readableBytes() < of.contentLength()) {
                collector = BodyCollector.ofLength(ctx().alloc(), request.lease(), (int) of.contentLength());
            }
            if (of.expectContinue() && (in == null || !in.isReadable())) {
                answers().sendContinue();
            }
            deadline.arm(limits.bodyNanos());
            ctx().channel().config().setAutoRead(true);
            proceed();
        } catch (GatewayException e) {
            broken(waiting, e);
        }
    }

    private boolean feedBody(ByteBuf in) throws GatewayException {
        BodyCollector body = collector;
        RequestHead of = head;
        if (body == null) {
            // all of it stands in the read that brought the head
            if (of == null || !takeBudget(of)) {
                throw new GatewayException(ErrorCode.BODY_BUDGET_EXHAUSTED);
            }
            ByteBuf bytes = in.readRetainedSlice((int) of.contentLength());
            bodyRead = true;
            deliver(bytes);
            return true;
        }
        if (body.feed(in)) {
            bodyComplete(body);
            return true;
        }
        if (body.hasLength()) {
            reads.readInto(body.target());
        }
        return false;
    }

    private boolean takeBudget(RequestHead of) {
        InferenceRequest request = active;
        return request != null && request.lease().tryTakeBody(of.contentLength());
    }

    private void bodyComplete(BodyCollector body) {
        bodyRead = true;
        ByteBuf bytes = body.take();
        stopCollecting();
        deliver(bytes);
    }

    private void deliver(ByteBuf bytes) {
        deadline.disarm();
        phase = Phase.BUSY;
        BodyReader waiting = reader;
        reader = null;
        if (waiting == null) {
            bytes.release();
        } else {
            waiting.complete(bytes);
        }
    }

    private void stopCollecting() {
        BodyCollector body = collector;
        collector = null;
        reads.readInto(null);
        if (body != null) {
            body.release();
        }
    }

    private boolean skipBody(ByteBuf in) {
        int length = (int) Math.min(skip, in.readableBytes());
        in.skipBytes(length);
        skip -= length;
        if (skip > 0) {
            return false;
        }
        nextRequest();
        return true;
    }

    private boolean feedStock(ByteBuf in) throws GatewayException {
        StockRequests bridge = stock;
        if (bridge != null && !bodyRead) {
            bodyRead = bridge.feed(in);
            if (bodyRead) {
                deadline.disarm();
            }
        }
        return phase != Phase.STOCK;
    }

    private void stockDone(boolean reuse) {
        if (phase != Phase.STOCK) {
            return;
        }
        if (reuse && bodyRead) {
            nextRequest();
            proceed();
        } else {
            close();
        }
    }

    // ---- answers

    @Override
    public BodyFraming head(AnswerHead answer) {
        InferenceRequest request = active;
        BodyFraming framing = request == null
                ? answers().head(answer, "", null, ending())
                : answers()
                        .head(
                                answer,
                                request.getRequestId(),
                                request.getFallbackFrom() == null ? null : request.getPool(),
                                ending());
        if (framing == null) {
            broken = true;
            return BodyFraming.PLAIN;
        }
        return framing;
    }

    @Override
    public void write(ByteBuf bytes) {
        if (broken && !ctx().channel().isActive()) {
            bytes.release();
            return;
        }
        answers().write(bytes);
    }

    @Override
    public void flush() {
        answers().flush();
    }

    @Override
    public boolean isWritable() {
        return ctx().channel().isWritable();
    }

    @Override
    public void end() {
        answers().flush();
        answered = true;
    }

    @Override
    public void abort() {
        boolean plain = broken;
        broken = true;
        if (!(ctx().channel() instanceof SocketChannel socket) || !socket.isActive()) {
            return;
        }
        if (plain) {
            // only a reset tells a body that ends with its connection from a complete one
            socket.config().setSoLinger(0);
        }
        if (socket.isWritable()) {
            answers().flush();
            ctx().writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(done -> socket.close());
        } else {
            socket.close();
        }
    }

    @Override
    public void answer(int status, String contentType, byte[] body, List<Map.Entry<String, String>> headers) {
        InferenceRequest request = active;
        List<Map.Entry<String, String>> all = new ArrayList<>(headers);
        if (request != null) {
            all.add(Map.entry("x-request-id", request.getRequestId()));
        }
        answers().whole(status, all, new Content(contentType, body, headOnly()), ending());
        end();
    }

    @Override
    public void answer(GatewayException error) {
        answer(error.code().status(), JSON, ErrorBody.render(error, path()), errorHeaders(error));
    }

    @Override
    public void finished(InferenceRequest request) {
        if (active != request) {
            return;
        }
        active = null;
        reader = null;
        boolean collecting = collector != null;
        stopCollecting();
        if (!ctx().channel().isActive() || !answered && broken) {
            return;
        }
        if (!answered || broken || collecting) {
            close();
            return;
        }
        goOn();
    }

    private void whole(int status, List<Map.Entry<String, String>> headers, byte[] body) {
        answers().whole(status, headers, new Content(JSON, body, headOnly()), ending());
        end();
    }

    private void answeredWithoutRequest() {
        if (broken) {
            close();
        } else {
            goOn();
        }
    }

    /** After an answer: the next request, once the rest of this one is out of the way; or the end. */
    private void goOn() {
        if (!reusable()) {
            close();
            return;
        }
        if (!bodyRead) {
            skip = head == null ? 0 : head.contentLength();
            phase = Phase.SKIP;
            deadline.arm(limits.bodyNanos());
        } else {
            nextRequest();
        }
        proceed();
    }

    private void nextRequest() {
        head = null;
        bodyRead = true;
        answered = false;
        phase = Phase.HEAD;
        reads.startSmall();
        answers().lines(null);
        awaitHead();
        ctx().channel().config().setAutoRead(true);
    }

    /** A client that sends ahead has to take its answers before the next request is read. */
    private void awaitHead() {
        if (ctx().channel().isWritable()) {
            deadline.arm(unread != null && unread.isReadable() ? limits.headerNanos() : limits.idleNanos());
        } else {
            deadline.stalled();
        }
    }

    private Ending ending() {
        RequestHead of = head;
        return new Ending(of != null && of.http10(), reusable());
    }

    /** Whether another request may follow on this connection. */
    private boolean reusable() {
        RequestHead of = head;
        if (broken
                || of == null
                || !of.keepAlive()
                || collector != null
                || port.door().isDraining()) {
            return false;
        }
        return bodyRead || !of.chunked() && !of.expectContinue() && of.contentLength() <= DoorLimits.SKIP_BYTES;
    }

    /** Closes after what was written has left, so that the client can read it even while it still sends. */
    private void close() {
        phase = Phase.LINGER;
        boolean quiet = bodyRead && (unread == null || !unread.isReadable()) && !broken;
        dropInput();
        skip = DoorLimits.LINGER_BYTES;
        deadline.stalled();
        ctx().channel().config().setAutoRead(true);
        ctx().writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(done -> allSent(quiet));
    }

    private void allSent(boolean quiet) {
        if (quiet || !(ctx().channel() instanceof SocketChannel socket)) {
            ctx().close();
        } else if (socket.isActive()) {
            deadline.arm(DoorLimits.LINGER_NANOS);
            socket.shutdownOutput();
        }
    }

    private void linger(ByteBuf in) {
        skip -= in.readableBytes();
        in.release();
        if (skip < 0) {
            ctx().close();
        }
    }

    private void dropInput() {
        ByteBuf rest = unread;
        unread = null;
        if (rest != null) {
            rest.release();
        }
        reader = null;
        stopCollecting();
    }

    private boolean headOnly() {
        return head != null && head.method() == RequestHead.Method.HEAD;
    }

    private @Nullable String path() {
        return head == null ? null : head.path();
    }

    private static List<Map.Entry<String, String>> errorHeaders(GatewayException error) {
        if (error.code().status() == 401) {
            return List.of(Map.entry("www-authenticate", "Bearer"));
        }
        if (error.retryAfterSeconds() <= 0) {
            return error.headers();
        }
        List<Map.Entry<String, String>> headers = new ArrayList<>(error.headers());
        headers.add(Map.entry("retry-after", Integer.toString(error.retryAfterSeconds())));
        return headers;
    }

    private ChannelHandlerContext ctx() {
        ChannelHandlerContext ctx = context;
        if (ctx == null) {
            throw new IllegalStateException("not in a pipeline");
        }
        return ctx;
    }

    private AnswerWriter answers() {
        AnswerWriter writer = answers;
        if (writer == null) {
            throw new IllegalStateException("not in a pipeline");
        }
        return writer;
    }

    private TimerWheel timers() {
        TimerWheel wheel = timers;
        if (wheel == null) {
            wheel = TimerWheel.of(ctx().channel().eventLoop());
            timers = wheel;
        }
        return wheel;
    }

    /** The connection's one deadline: for a head, a body, the next request, a client that takes nothing, or the end. */
    private final class Deadline extends TimerWheel.Entry {
        private long unsentBefore;

        void arm(long nanos) {
            timers().arm(this, System.nanoTime() + nanos);
        }

        /** For a client that has to take something first. */
        void stalled() {
            unsentBefore = unsent();
            timers().arm(this, System.nanoTime() + limits.answering().stallNanos());
        }

        void disarm() {
            timers().cancel(this);
        }

        @Override
        protected void expired(long nowNanos) {
            switch (phase) {
                case HEAD -> {
                    if (!ctx().channel().isWritable()) {
                        goOnOrClose();
                    } else if (heads.inside()) {
                        refuse(new GatewayException(ErrorCode.REQUEST_TIMEOUT));
                    } else {
                        ctx().close();
                    }
                }
                case BODY -> {
                    BodyReader waiting = reader;
                    if (waiting != null) {
                        broken(waiting, new GatewayException(ErrorCode.REQUEST_TIMEOUT));
                    }
                }
                case BUSY -> {
                    if (active != null && !ctx().channel().isWritable()) {
                        goOnOrClose();
                    }
                }
                case LINGER -> {
                    if (unsent() > 0) {
                        goOnOrClose();
                    } else {
                        ctx().close();
                    }
                }
                default -> ctx().close();
            }
        }

        private void goOnOrClose() {
            if (unsent() == unsentBefore) {
                ctx().close();
            } else {
                stalled();
            }
        }

        private long unsent() {
            ChannelOutboundBuffer out = ctx().channel().unsafe().outboundBuffer();
            return out == null ? 0 : out.totalPendingWriteBytes() - out.currentProgress();
        }
    }
}
