package routes.prompt;

import io.netty.buffer.ByteBuf;
import java.util.Locale;
import org.apache.camel.AsyncCallback;
import org.apache.camel.Exchange;
import org.apache.camel.support.AsyncProcessorSupport;
import org.jspecify.annotations.Nullable;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.request.Api;
import routes.request.Client.BodyReader;
import routes.request.InferenceRequest;
import routes.request.PrefixLevels;
import routes.request.Prompt;
import routes.request.RequestHead.Known;
import routes.request.StoredResponse;

/**
 * The step {@code prompt}: waits for the request's body and reads from it what the gateway needs to know, in one pass.
 *
 * <p><b>Threading:</b> returns to the request's event loop wherever it was called.
 */
public final class PromptStep extends AsyncProcessorSupport {

    private final @Nullable String sessionHeader;

    /** @param sessionHeader lower-case name of the header that names a conversation; empty for none */
    public PromptStep(String sessionHeader) {
        this.sessionHeader = sessionHeader.isEmpty() ? null : sessionHeader;
    }

    @Override
    public boolean process(Exchange exchange, AsyncCallback callback) {
        if (!(exchange.getMessage().getBody() instanceof InferenceRequest request)) {
            callback.done(true);
            return true;
        }
        if (!request.loop().inEventLoop()) {
            request.loop().execute(() -> read(exchange, request, callback));
            return false;
        }
        read(exchange, request, callback);
        return false;
    }

    private void read(Exchange exchange, InferenceRequest request, AsyncCallback callback) {
        if (request.isFinished()) {
            exchange.setRouteStop(true);
            callback.done(false);
            return;
        }
        if (request.target().body() == Api.Body.NONE) {
            readTarget(exchange, request);
            callback.done(false);
            return;
        }
        String type = request.head().header(Known.CONTENT_TYPE);
        boolean form = request.target().body() == Api.Body.FORM;
        if (request.head().repeated(Known.CONTENT_TYPE) || !(form ? isForm(type) : type == null || isJson(type))) {
            exchange.setException(new GatewayException(
                    ErrorCode.UNSUPPORTED_MEDIA_TYPE,
                    form
                            ? "The body must be a form: send 'Content-Type: multipart/form-data' with its boundary."
                            : "The body must be JSON: send 'Content-Type: application/json'."));
            callback.done(false);
            return;
        }
        if (request.head().has(Known.CONTENT_ENCODING)) {
            exchange.setException(new GatewayException(
                    ErrorCode.UNSUPPORTED_MEDIA_TYPE,
                    "The body must not be compressed: send it without Content-Encoding."));
            callback.done(false);
            return;
        }
        request.pending(() -> {
            exchange.setRouteStop(true);
            callback.done(false);
        });
        request.client().readBody(new BodyReader() {
            @Override
            public void complete(ByteBuf body) {
                request.pending(null);
                request.body(body);
                Exception failure = understand(request, body);
                if (failure != null) {
                    exchange.setException(failure);
                }
                callback.done(false);
            }

            @Override
            public void failed(GatewayException error) {
                request.pending(null);
                exchange.setException(error);
                callback.done(false);
            }
        });
    }

    /** Where there is no body, the path and the query say what is asked for. */
    private static void readTarget(Exchange exchange, InferenceRequest request) {
        if (request.target().isAboutStoredResponse()) {
            try {
                request.asksFor(StoredResponse.of(request.target(), request.head()));
            } catch (GatewayException e) {
                exchange.setException(e);
            }
        }
    }

    /** Returns what went wrong rather than throwing it, so that the exchange goes on in any case. */
    private @Nullable Exception understand(InferenceRequest request, ByteBuf body) {
        try {
            if (request.target().body() == Api.Body.FORM) {
                understandForm(request, body);
                return null;
            }
            Prompt prompt = PromptScanner.scan(body, request.target());
            String session = sessionHeader == null ? null : request.head().header(sessionHeader);
            request.understood(prompt, Prefix.of(request.target(), body, prompt, session), Prefix.ofSalt(body, prompt));
            return null;
        } catch (GatewayException | RuntimeException e) {
            return e;
        }
    }

    /** A file begins like no other: there is no prefix to keep. */
    private static void understandForm(InferenceRequest request, ByteBuf body) throws GatewayException {
        HeaderValue type = HeaderValue.parse(String.valueOf(request.head().header(Known.CONTENT_TYPE)));
        if (type == null) {
            throw new GatewayException(ErrorCode.INVALID_FORM, "The Content-Type is not well-formed.");
        }
        int tokens = body.readableBytes() / Api.Body.FORM.bytesPerToken() + 1;
        request.understood(FormScanner.scan(body, type), PrefixLevels.of(0, new int[0], new long[0], tokens, 0), 0);
    }

    private static boolean isForm(@Nullable String type) {
        return type != null && mediaType(type).equals("multipart/form-data");
    }

    /** {@code application/json}, with or without parameters, and {@code application/…+json}. */
    private static boolean isJson(String type) {
        if (type.equals("application/json")) {
            return true;
        }
        String media = mediaType(type);
        return media.equals("application/json") || media.startsWith("application/") && media.endsWith("+json");
    }

    private static String mediaType(String type) {
        int end = type.indexOf(';');
        return (end < 0 ? type : type.substring(0, end)).trim().toLowerCase(Locale.ROOT);
    }
}
