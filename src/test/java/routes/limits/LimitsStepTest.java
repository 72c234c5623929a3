package routes.limits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.apache.camel.Exchange;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.support.DefaultExchange;
import org.junit.jupiter.api.Test;
import routes.error.GatewayException;
import routes.quota.Prices;
import routes.quota.Quotas;
import routes.quota.Term;
import routes.quota.Terms;
import routes.request.Api;
import routes.request.ApiKey;

final class LimitsStepTest {

    private static final ApiKey PLAIN = new ApiKey("k", "t", ApiKey.ALL_MODELS, ApiKey.NEVER);

    private final Terms oneAtOnce = Terms.of(Map.of(Term.CONCURRENT_REQUESTS, 1L));
    private final ApiKey key = PLAIN.with(new Quotas().quota("k", oneAtOnce, "t", Terms.NONE, Prices.NONE));

    @Test
    void aKeyWithNothingLeftIsRefusedBeforeTheBody() throws GatewayException {
        LimitsStep.check(Api.CHAT_COMPLETIONS, key);
        key.quota().reserve("m", 1, 1);

        assertThatThrownBy(() -> LimitsStep.check(Api.EMBEDDINGS, key)).isInstanceOf(GatewayException.class);
    }

    @Test
    void theListOfModelsIsForKeysWithNothingLeftToo() throws GatewayException {
        key.quota().reserve("m", 1, 1);

        LimitsStep.check(Api.MODELS, key);
        LimitsStep.check(Api.MODEL, key);
    }

    @Test
    void whoHasNoLimitsOrIsUnknownPasses() throws GatewayException {
        LimitsStep.check(Api.CHAT_COMPLETIONS, PLAIN);
        LimitsStep.check(Api.CHAT_COMPLETIONS, null);
    }

    @Test
    void whatIsNoInferencePasses() throws Exception {
        try (DefaultCamelContext context = new DefaultCamelContext()) {
            Exchange exchange = new DefaultExchange(context);
            exchange.getMessage().setBody("text");

            assertThat(new LimitsStep()
                            .process(exchange, doneSync -> assertThat(doneSync).isTrue()))
                    .isTrue();

            assertThat(exchange.getException()).isNull();
        }
    }
}
