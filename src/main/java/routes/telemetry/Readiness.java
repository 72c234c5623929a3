package routes.telemetry;

import java.util.Map;
import java.util.function.BooleanSupplier;
import org.apache.camel.health.HealthCheckResultBuilder;
import org.apache.camel.impl.health.AbstractHealthCheck;

/**
 * The readiness check {@code gateway}: down until the gateway listens and again while it drains, so that load balancers
 * look elsewhere.
 */
public final class Readiness extends AbstractHealthCheck {

    private final BooleanSupplier listening;
    private final BooleanSupplier draining;

    public Readiness(BooleanSupplier listening, BooleanSupplier draining) {
        super("dromedary", "gateway");
        this.listening = listening;
        this.draining = draining;
    }

    @Override
    public boolean isLiveness() {
        return false;
    }

    @Override
    protected void doCall(HealthCheckResultBuilder builder, Map<String, Object> options) {
        if (draining.getAsBoolean()) {
            builder.message("draining").down();
        } else if (!listening.getAsBoolean()) {
            builder.message("starting").down();
        } else {
            builder.up();
        }
    }
}
