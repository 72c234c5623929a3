package routes.affinity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.retry.RetryRegistry;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.camel.model.Resilience4jConfigurationDefinition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import routes.config.Settings;

class RetryTest {

    private static RetryPolicy policy(String name, String value) {
        return new RetryPolicy(
                new Settings(key -> Optional.ofNullable(Map.of(name, value).get(key))), RetryRegistry.ofDefaults());
    }

    private static long spent(RetryBudget budget, int most) {
        return IntStream.range(0, most).filter(i -> budget.trySpend()).count();
    }

    @Test
    void aBudgetIsAShareOfTheRequests() {
        RetryBudget budget = new RetryBudget(20);
        assertThat(spent(budget, 100)).as("for quiet times").isEqualTo(10);
        for (int i = 0; i < 50; i++) {
            budget.earn();
        }
        assertThat(spent(budget, 100)).isEqualTo(10);
    }

    @Test
    void whatIsNotSpentIsNotSavedForEver() {
        RetryBudget budget = new RetryBudget(100);
        for (int i = 0; i < 10_000; i++) {
            budget.earn();
        }
        assertThat(spent(budget, 10_000)).isBetween(100L, 101L);
    }

    @Test
    void aBudgetOfNothingAllowsNothing() {
        assertThat(spent(new RetryBudget(0), 10)).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "gateway.retry-statuses, 404",
        "gateway.retry-statuses, '503, busy'",
        "gateway.retry-budget, 101",
        "gateway.retry-budget, -1",
        "gateway.max-attempts, 0"
    })
    void whatMakesNoSenseIsRefusedByName(String name, String value) {
        assertThatThrownBy(() -> policy(name, value))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(name)
                .hasMessageContaining("expected");
    }

    @Test
    void noStatusesIsAChoice() {
        assertThat(policy("gateway.retry-statuses", "").isRetried(503)).isFalse();
    }

    @Test
    void breakersAreConfiguredAsCamelConfiguresThem() {
        CircuitBreakerConfig own = Breakers.configured(null);
        assertThat(own.getMinimumNumberOfCalls()).isEqualTo(5);
        Resilience4jConfigurationDefinition given = new Resilience4jConfigurationDefinition();
        given.setMinimumNumberOfCalls("7");
        given.setSlidingWindowSize("9");
        given.setFailureRateThreshold("30");
        given.setPermittedNumberOfCallsInHalfOpenState("2");
        given.setWaitDurationInOpenState("11");
        given.setSlidingWindowType("TIME_BASED");
        CircuitBreakerConfig config = Breakers.configured(given);
        assertThat(config.getMinimumNumberOfCalls()).isEqualTo(7);
        assertThat(config.getSlidingWindowSize()).isEqualTo(9);
        assertThat(config.getFailureRateThreshold()).isEqualTo(30);
        assertThat(config.getPermittedNumberOfCallsInHalfOpenState()).isEqualTo(2);
        assertThat(config.getWaitIntervalFunctionInOpenState().apply(1)).isEqualTo(11_000);
        assertThat(config.getSlidingWindowType()).isEqualTo(CircuitBreakerConfig.SlidingWindowType.TIME_BASED);
    }
}
