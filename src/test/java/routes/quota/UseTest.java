package routes.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static routes.quota.Agreed.terms;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import routes.error.GatewayException;

class UseTest {

    private final FakeTime time = new FakeTime();
    private final Quotas quotas = new Quotas(time, time);

    private Quota quota(String key, Terms own, Terms shared) {
        return quotas.quota(key, own, "t", shared, Prices.NONE);
    }

    @Test
    void whoHasUsedMostThisMonthComesFirst() throws Exception {
        Terms limited = terms(Term.TOKENS_PER_MONTH, 1000);
        quota("little", limited, Terms.NONE).reserve("m", 1, 10).settle(10, 0, 5);
        quota("much", limited, limited).reserve("m", 1, 200);

        assertThat(quotas.use()).extracting(Use::name).containsExactly("much", "t", "little");
        assertThat(quotas.use().get(0)).isEqualTo(new Use("much", false, 1, 200, 200, 0, 0));
        assertThat(quotas.use().get(2)).isEqualTo(new Use("little", false, 0, 15, 15, 0, 0));
    }

    @Test
    void aNewDayBeginsWithoutARequest() throws Exception {
        quota("k", terms(Term.TOKENS_PER_MONTH, 1000), Terms.NONE).reserve("m", 1, 10);
        time.pass(Duration.ofDays(1));

        assertThat(quotas.use().get(0).tokensToday()).isZero();
    }

    @Test
    void aRefusalCountsOnceForTheLimitThatRefused() throws Exception {
        Quota quota = quota("k", terms(Term.REQUESTS_PER_MINUTE, 1), Terms.NONE);
        quota.reserve("m", 1, 1);

        assertThatThrownBy(quota::precheck).isInstanceOf(GatewayException.class);

        assertThat(quotas.refusals().get("requests-per-minute").getAsLong()).isEqualTo(1);
        assertThat(quotas.refusals().get("tokens-per-day").getAsLong()).isZero();
        assertThat(quotas.refusals()).doesNotContainKey("priority");
    }
}
