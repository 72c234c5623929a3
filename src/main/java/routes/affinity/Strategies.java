package routes.affinity;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** The strategies by name. */
enum Strategies {
    NESTED,
    RENDEZVOUS,
    ROUND_ROBIN,
    LEAST_LOADED;

    /** As in routes, such as {@code round-robin}. */
    String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** @throws IllegalArgumentException for a name that there is not */
    static Strategies named(String text) {
        return Arrays.stream(values())
                .filter(each -> each.text().equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("strategy: '" + text + "' (expected: "
                        + Arrays.stream(values()).map(Strategies::text).collect(Collectors.joining(", ")) + ")"));
    }

    Strategy create(Tuning tuning, long nowNanos) {
        return switch (this) {
            case NESTED -> new NestedRendezvous(tuning, nowNanos);
            case RENDEZVOUS -> new FirstFree(FirstFree.Order.RENDEZVOUS);
            case ROUND_ROBIN -> new FirstFree(FirstFree.Order.ROUND_ROBIN);
            case LEAST_LOADED -> new FirstFree(FirstFree.Order.LEAST_LOADED);
        };
    }
}
