package routes.telemetry;

import java.util.Collection;
import java.util.Locale;

/** What has to be up for the gateway to be ready, beside itself. */
public enum ReadyWhen {
    /** Nothing. */
    LISTENING {
        @Override
        boolean holds(Collection<Boolean> pools) {
            return true;
        }
    },
    /** A replica of some pool. */
    ANY_POOL {
        @Override
        boolean holds(Collection<Boolean> pools) {
            return pools.isEmpty() || pools.contains(true);
        }
    },
    /** A replica of every pool. */
    ALL_POOLS {
        @Override
        boolean holds(Collection<Boolean> pools) {
            return !pools.contains(false);
        }
    };

    /** @param pools whether each pool can serve; those of which nobody knows are not among them */
    abstract boolean holds(Collection<Boolean> pools);

    /**
     * @param text such as {@code any-pool}
     * @throws IllegalArgumentException when it is none of them
     */
    public static ReadyWhen of(String text) {
        for (ReadyWhen each : values()) {
            if (each.name().toLowerCase(Locale.ROOT).replace('_', '-').equals(text)) {
                return each;
            }
        }
        throw new IllegalArgumentException(
                "gateway.ready-when: '" + text + "' (expected: listening, any-pool or all-pools)");
    }
}
