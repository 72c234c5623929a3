package routes.affinity;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.EventExecutor;
import java.util.List;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.replica.ReplicaAddress;
import routes.replica.Replicas;

class BreakerTest {

    private static final EventExecutor LOOP = new DefaultEventExecutor();
    private static final GatewayException WHY = new GatewayException(ErrorCode.UPSTREAM_RESET);
    private static final CircuitBreakerConfig CONFIG = CircuitBreakerConfig.custom()
            .slidingWindowSize(8)
            .minimumNumberOfCalls(4)
            .failureRateThreshold(50)
            .build();

    /** Weighted so that some runs open the breaker and others never do. */
    @Property
    void opensWhenOneThatHearsOfEveryCallWould(
            @ForAll @Size(max = 60) List<Boolean> calls, @ForAll boolean mostlyGood) {
        CircuitBreaker told = CircuitBreaker.of("told", CONFIG);
        CircuitBreaker asked = CircuitBreaker.of("asked", CONFIG);
        Breaker breaker =
                new Breaker(asked, new Replicas().replica(ReplicaAddress.parse("http://127.0.0.1:1"), 1), LOOP);
        for (int i = 0; i < calls.size() && told.getState() == CircuitBreaker.State.CLOSED; i++) {
            if (calls.get(i) || mostlyGood && i % 3 > 0) {
                told.onSuccess(0, TimeUnit.NANOSECONDS);
                breaker.answered();
            } else {
                told.onError(0, TimeUnit.NANOSECONDS, WHY);
                breaker.failed(WHY);
            }
            assertThat(asked.getState()).as("after call %d of %s", i, calls).isEqualTo(told.getState());
        }
    }
}
