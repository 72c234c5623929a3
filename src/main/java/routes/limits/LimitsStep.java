package routes.limits;

import org.apache.camel.AsyncCallback;
import org.apache.camel.Exchange;
import org.apache.camel.support.AsyncProcessorSupport;
import org.jspecify.annotations.Nullable;
import routes.error.GatewayException;
import routes.request.Api;
import routes.request.ApiKey;
import routes.request.InferenceRequest;

/**
 * The step {@code limits}: refuses a request before its body is read when its key has nothing left for even the smallest
 * one. Takes nothing, so a request that fails later has cost nothing. Paths that take no body ask for no tokens and pass.
 *
 * <p><b>Threading:</b> any; returns at once.
 */
public final class LimitsStep extends AsyncProcessorSupport {

    @Override
    public boolean process(Exchange exchange, AsyncCallback callback) {
        if (exchange.getMessage().getBody() instanceof InferenceRequest request && !request.isFinished()) {
            try {
                check(request.target(), request.caller());
            } catch (GatewayException e) {
                exchange.setException(e);
            }
        }
        callback.done(true);
        return true;
    }

    static void check(Api api, @Nullable ApiKey caller) throws GatewayException {
        if (caller != null && api.body() != Api.Body.NONE) {
            caller.quota().precheck();
        }
    }
}
