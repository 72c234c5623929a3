package routes.telemetry;

import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import routes.error.ErrorCode;
import routes.request.Outcome;

/**
 * How many requests ended how; every value stands from the start, so that counting looks nothing up.
 *
 * <p><b>Threading:</b> any thread.
 */
final class Counters {

    private final LongAdder[] outcomes = adders(Outcome.values().length);
    private final LongAdder[] errors = adders(ErrorCode.values().length);

    void count(Outcome outcome, @Nullable ErrorCode error) {
        outcomes[outcome.ordinal()].increment();
        if (error != null) {
            errors[error.ordinal()].increment();
        }
    }

    long of(Outcome outcome) {
        return outcomes[outcome.ordinal()].sum();
    }

    long of(ErrorCode error) {
        return errors[error.ordinal()].sum();
    }

    private static LongAdder[] adders(int count) {
        LongAdder[] adders = new LongAdder[count];
        for (int i = 0; i < count; i++) {
            adders[i] = new LongAdder();
        }
        return adders;
    }
}
