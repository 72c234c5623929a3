package routes.vllm;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import routes.net.Ascii;
import routes.net.HeadBytes;
import routes.relay.Dialect;
import routes.replica.ReplicaAddress;
import routes.request.Api;
import routes.request.Edits;
import routes.request.InferenceRequest;
import routes.request.RequestHead;
import routes.request.RequestHead.Known;
import routes.request.StoredResponse;
import routes.request.Trace;

/**
 * Writes requests to one endpoint. Only headers on a fixed list and on the configured one go upstream, and none that the
 * client's {@code Connection} names; credentials are the endpoint's own. The body leaves as slices of the client's bytes with the edits in between.
 *
 * <p><b>Threading:</b> immutable.
 */
final class RequestWriter {

    /** A piece of a body up to this size is copied behind the head rather than sent as a buffer of its own. */
    private static final int COPIED_BYTES = 4096;

    /** Bytes of edits that are expected; a buffer grows beyond. */
    private static final int EDIT_ROOM = 128;

    private static final byte[] ACCEPT = ascii("accept: ");
    private static final byte[] CONTENT_TYPE = ascii("content-type: ");
    private static final byte[] TRACEPARENT = ascii("traceparent: ");
    private static final byte[] TRACESTATE = ascii("tracestate: ");
    private static final byte[] REQUEST_ID = ascii("x-request-id: ");
    private static final byte[] CONTENT_LENGTH = ascii("content-length: ");
    private static final byte[] CRLF = ascii("\r\n");
    private static final byte[] END = ascii("\r\n\r\n");

    /** What versions and features an Anthropic client speaks. */
    private static final List<String> OF_MESSAGES = List.of("anthropic-version", "anthropic-beta");

    /** Request line and headers that are the same for all requests; without the line where it holds an id. */
    private final byte[][] beginnings = new byte[Api.values().length][];

    private final String basePath;
    private final String[] forwarded;
    private final String[] forwardedOfMessages;

    /**
     * @param ownHeaders headers of the endpoint, by their names in lower case
     * @param forwardHeaders names of further headers of clients, in lower case
     */
    RequestWriter(ReplicaAddress address, Map<String, String> ownHeaders, Set<String> forwardHeaders) {
        StringBuilder own = new StringBuilder();
        ownHeaders.forEach(
                (name, value) -> own.append(name).append(": ").append(value).append("\r\n"));
        basePath = address.basePath();
        for (Api api : Api.values()) {
            String line = api.isAboutStoredResponse() ? "" : api.method() + ' ' + basePath + api.path();
            beginnings[api.ordinal()] = ascii(line + " HTTP/1.1\r\nhost: " + address.authority() + "\r\n" + own
                    + (api.body() == Api.Body.JSON ? "content-type: application/json\r\n" : "")
                    + "accept-encoding: identity\r\n");
        }
        forwarded = forwardHeaders.toArray(new String[0]);
        Set<String> ofMessages = new LinkedHashSet<>(forwardHeaders);
        ofMessages.addAll(OF_MESSAGES);
        forwardedOfMessages = ofMessages.toArray(new String[0]);
    }

    /** Writes and flushes one request. The body is borrowed: slices of it are retained until they are sent. */
    void write(ChannelHandlerContext ctx, Call call, ByteBuf body) {
        Edits edits = call.edits();
        int length = body.readableBytes() + edits.delta();
        HeadBytes text = head(call, length);
        ByteBuf out = ctx.alloc().directBuffer(text.length() + Math.min(length, COPIED_BYTES) + EDIT_ROOM);
        text.writeTo(out);
        if (length <= COPIED_BYTES) {
            edits.writeTo(body, out);
        } else {
            int from = 0;
            for (int i = 0; i < edits.count(); i++) {
                out = piece(ctx, out, body, from, edits.at(i));
                out.writeBytes(edits.inserted(i));
                from = edits.at(i) + edits.removed(i);
            }
            out = piece(ctx, out, body, from, body.readableBytes());
        }
        if (out.isReadable()) {
            ctx.write(out, ctx.voidPromise());
        } else {
            out.release();
        }
        ctx.flush();
    }

    private HeadBytes head(Call call, int length) {
        InferenceRequest request = call.request();
        RequestHead head = request.head();
        HeadBytes out = HeadBytes.begin();
        StoredResponse stored = request.storedResponse();
        if (stored != null) {
            out.put(request.target().method()).put(" ").put(basePath).put(stored.target());
        }
        out.put(beginnings[request.target().ordinal()]);
        if (request.target().body() == Api.Body.FORM) {
            // names the boundary
            copy(out, CONTENT_TYPE, head, Known.CONTENT_TYPE);
        }
        Credential credential = call.credential();
        if (credential != null) {
            out.put(credential.line());
        }
        Set<String> ofConnection = ofConnection(head);
        if (!ofConnection.contains("accept")) {
            copy(out, ACCEPT, head, Known.ACCEPT);
        }
        Trace trace = request.trace();
        if (trace == null || !trace.writeTo(out)) {
            trace(out, head, ofConnection);
        }
        boolean messages = request.target().dialect() == Dialect.MESSAGES;
        for (String name : messages ? forwardedOfMessages : forwarded) {
            String value = ofConnection.contains(name) ? null : head.header(name);
            if (value != null) {
                out.put(name).put(": ").put(value).put(CRLF);
            }
        }
        out.put(REQUEST_ID).put(request.upstreamRequestId()).put(CRLF);
        return out.put(CONTENT_LENGTH).put(length).put(END);
    }

    private static void trace(HeadBytes out, RequestHead head, Set<String> ofConnection) {
        boolean goesOn = head.has(Known.TRACEPARENT)
                && !head.repeated(Known.TRACEPARENT)
                && !ofConnection.contains("traceparent")
                && TraceParent.isWellFormed(
                        head.bytes(), head.valueStart(Known.TRACEPARENT), head.valueLength(Known.TRACEPARENT));
        if (goesOn) {
            copy(out, TRACEPARENT, head, Known.TRACEPARENT);
            if (!ofConnection.contains("tracestate")) {
                copy(out, TRACESTATE, head, Known.TRACESTATE);
            }
        } else {
            TraceParent.begin(out);
        }
    }

    /** Names of the headers that end here because {@code Connection} lists them, in lower case. */
    private static Set<String> ofConnection(RequestHead head) {
        if (!head.has(Known.CONNECTION)) {
            return Set.of();
        }
        int start = head.valueStart(Known.CONNECTION);
        int end = start + head.valueLength(Known.CONNECTION);
        boolean usual = Ascii.equalsIgnoreCase(head.bytes(), start, end, "keep-alive")
                || Ascii.equalsIgnoreCase(head.bytes(), start, end, "close");
        if (usual && !head.repeated(Known.CONNECTION)) {
            return Set.of();
        }
        Set<String> names = new HashSet<>();
        head.forEach((name, value) -> {
            if (name.equalsIgnoreCase("connection")) {
                names.addAll(UpstreamHeaders.tokens(value));
            }
        });
        return names;
    }

    private static void copy(HeadBytes out, byte[] name, RequestHead head, Known header) {
        if (head.has(header)) {
            out.put(name)
                    .put(head.bytes(), head.valueStart(header), head.valueLength(header))
                    .put(CRLF);
        }
    }

    /** Adds a part of the body; returns the buffer that the next bytes go into. */
    private static ByteBuf piece(ChannelHandlerContext ctx, ByteBuf out, ByteBuf body, int from, int to) {
        int start = body.readerIndex() + from;
        if (to - from <= COPIED_BYTES) {
            return out.writeBytes(body, start, to - from);
        }
        ctx.write(out, ctx.voidPromise());
        ctx.write(body.retainedSlice(start, to - from), ctx.voidPromise());
        return ctx.alloc().directBuffer(256);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
