package routes.request;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** How a request ended: a closed set that serves usage lines and metrics alike. */
public enum Outcome {
    /** The answer is complete and says so. */
    SUCCESS,
    /** The client left, or took nothing for too long. */
    CLIENT_CLOSED,
    /** The replica's answer had begun and broke off. */
    UPSTREAM_ABORTED,
    /** The replica refused, answered with an error, or could not be reached. */
    UPSTREAM_ERROR,
    /** A total or stall time-out. */
    TIMEOUT,
    /** The gateway itself refused. */
    REJECTED,
    /** A fault of the gateway or of a step in a route. */
    INTERNAL;

    private final String label = name().toLowerCase(Locale.ROOT);

    /** The value in usage lines and metrics, such as {@code client_closed}. */
    @JsonValue
    public String label() {
        return label;
    }

    @Override
    public String toString() {
        return label;
    }
}
