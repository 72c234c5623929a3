package routes.auth;

import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.apache.camel.AsyncCallback;
import org.apache.camel.Exchange;
import org.apache.camel.support.AsyncProcessorSupport;
import org.jspecify.annotations.Nullable;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.net.Ascii;
import routes.request.ApiKey;
import routes.request.InferenceRequest;
import routes.request.RequestHead;
import routes.request.RequestHead.Known;

/**
 * The step {@code auth}: finds out whose key the request carries, in {@code Authorization: Bearer} or {@code x-api-key}, and
 * reserves the place of its usage line. Needs no body.
 *
 * <p><b>Threading:</b> returns to the request's event loop wherever it was called, so that a request that ends meanwhile
 * can't leave a place behind.
 */
public final class AuthStep extends AsyncProcessorSupport {

    private static final String SCHEME = "bearer ";

    private final Keys keys;
    private final BooleanSupplier reserveUsage;

    /** @param reserveUsage takes the place of one usage line; false when there is none */
    public AuthStep(Keys keys, BooleanSupplier reserveUsage) {
        this.keys = keys;
        this.reserveUsage = reserveUsage;
    }

    @Override
    public boolean process(Exchange exchange, AsyncCallback callback) {
        if (!(exchange.getMessage().getBody() instanceof InferenceRequest request)) {
            callback.done(true);
            return true;
        }
        if (request.loop().inEventLoop()) {
            recognise(exchange, request);
            callback.done(true);
            return true;
        }
        request.loop().execute(() -> {
            recognise(exchange, request);
            callback.done(false);
        });
        return false;
    }

    private void recognise(Exchange exchange, InferenceRequest request) {
        if (request.isFinished() || request.caller() != null) {
            return;
        }
        try {
            ApiKey key = authenticate(request.head());
            if (!reserveUsage.getAsBoolean()) {
                throw new GatewayException(ErrorCode.USAGE_BACKLOG);
            }
            request.authenticated(key);
        } catch (GatewayException e) {
            exchange.setException(e);
        }
    }

    private ApiKey authenticate(RequestHead head) throws GatewayException {
        if (head.repeated(Known.AUTHORIZATION) || head.repeated(Known.X_API_KEY)) {
            throw new GatewayException(
                    ErrorCode.CONFLICTING_API_KEYS, "The request carries more than one API key: send one.");
        }
        ApiKey bearer = head.has(Known.AUTHORIZATION) ? bearer(head) : null;
        boolean byApiKey = head.has(Known.X_API_KEY);
        if (!byApiKey) {
            if (bearer == null) {
                throw new GatewayException(
                        head.has(Known.AUTHORIZATION) ? ErrorCode.INVALID_API_KEY : ErrorCode.MISSING_API_KEY);
            }
            return bearer;
        }
        ApiKey other = find(head.bytes(), head.valueStart(Known.X_API_KEY), head.valueLength(Known.X_API_KEY));
        if (head.has(Known.AUTHORIZATION) && !Objects.equals(bearer, other)) {
            throw new GatewayException(ErrorCode.CONFLICTING_API_KEYS);
        }
        if (other == null) {
            throw new GatewayException(ErrorCode.INVALID_API_KEY);
        }
        return other;
    }

    private @Nullable ApiKey bearer(RequestHead head) {
        byte[] bytes = head.bytes();
        int start = head.valueStart(Known.AUTHORIZATION);
        int length = head.valueLength(Known.AUTHORIZATION);
        if (length <= SCHEME.length() || !Ascii.equalsIgnoreCase(bytes, start, start + SCHEME.length(), SCHEME)) {
            return null;
        }
        int skip = SCHEME.length();
        while (skip < length && bytes[start + skip] == ' ') {
            skip++;
        }
        return find(bytes, start + skip, length - skip);
    }

    private @Nullable ApiKey find(byte[] bytes, int start, int length) {
        return keys.find(bytes, start, length, System.currentTimeMillis());
    }
}
