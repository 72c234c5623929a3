package routes.error;

import org.apache.camel.Exchange;
import org.apache.camel.ExchangePropertyKey;

/** A step that failed and is followed by another try. */
public final class FailedStep {

    private FailedStep() {}

    /** The exchange goes on as if the step had not failed. */
    public static void forgive(Exchange exchange) {
        exchange.setException(null);
        exchange.removeProperty(ExchangePropertyKey.EXCEPTION_CAUGHT);
        exchange.getExchangeExtension().setRedeliveryExhausted(false);
    }
}
