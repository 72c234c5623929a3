package routes.vllm;

import org.apache.camel.AsyncCallback;
import org.apache.camel.Exchange;
import org.jspecify.annotations.Nullable;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.request.Edits;
import routes.request.InferenceRequest;
import routes.request.Prompt;

/**
 * One attempt on its way: what is sent, and who goes on afterwards. Goes on exactly once.
 *
 * <p><b>Threading:</b> event-loop confined.
 */
final class Call {

    private final InferenceRequest request;
    private final VllmEndpoint endpoint;
    private final Edits edits;
    private final Exchange exchange;
    private final AsyncCallback callback;
    private final @Nullable Credential credential;
    private boolean over;
    private boolean renewed;

    Call(InferenceRequest request, VllmEndpoint endpoint, Edits edits, Exchange exchange, AsyncCallback callback) {
        this.request = request;
        this.endpoint = endpoint;
        this.edits = edits;
        this.exchange = exchange;
        this.callback = callback;
        this.credential = endpoint.credentials().next();
    }

    InferenceRequest request() {
        return request;
    }

    VllmEndpoint endpoint() {
        return endpoint;
    }

    Edits edits() {
        return edits;
    }

    /** The key that the gateway shows to the server; null for none. */
    @Nullable
    Credential credential() {
        return credential;
    }

    /** Whether we asked for usage and the client didn't, so that the usage-only event is not for it. */
    boolean hidesUsage() {
        Prompt prompt = request.prompt();
        return edits.injects() && prompt != null && !prompt.usageAsked();
    }

    boolean isOver() {
        return over;
    }

    /** Whether a stale connection may be replaced by a fresh one; true once. */
    boolean mayRenew() {
        if (renewed || over) {
            return false;
        }
        renewed = true;
        return true;
    }

    /** Nothing of an answer went to the client: the exchange goes on with an error. */
    void failed(ErrorCode code) {
        if (!over) {
            exchange.setException(new GatewayException(code));
        }
        over();
    }

    /** The exchange goes on. */
    void over() {
        if (!over) {
            over = true;
            request.pending(null);
            callback.done(false);
        }
    }
}
