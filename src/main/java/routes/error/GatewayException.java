package routes.error;

import java.io.Serial;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A request ends with an error of the catalogue. Carries no stack trace: it is an answer, not a fault of the program.
 * The message goes to the client, so it never holds a key, an address, a class name or raw client input.
 */
public final class GatewayException extends Exception {

    @Serial
    private static final long serialVersionUID = 1L;

    private final ErrorCode code;
    private final int retryAfterSeconds;
    private final @Nullable String param;
    private final transient List<Map.Entry<String, String>> headers;

    public GatewayException(ErrorCode code) {
        this(code, code.text(), null);
    }

    public GatewayException(ErrorCode code, String message) {
        this(code, message, null);
    }

    /** @param param the field of the body at fault, such as {@code model}, or null */
    public GatewayException(ErrorCode code, String message, @Nullable String param) {
        this(code, message, param, code.retryAfterSeconds());
    }

    /** @param retryAfterSeconds for {@code Retry-After}; 0 leaves the header out */
    public GatewayException(ErrorCode code, String message, @Nullable String param, int retryAfterSeconds) {
        this(code, message, param, retryAfterSeconds, List.of());
    }

    /** @param headers further headers of the answer, names in lower case */
    public GatewayException(
            ErrorCode code,
            String message,
            @Nullable String param,
            int retryAfterSeconds,
            List<Map.Entry<String, String>> headers) {
        super(message, null, false, false);
        this.code = code;
        this.param = param;
        this.retryAfterSeconds = retryAfterSeconds;
        this.headers = headers;
    }

    public ErrorCode code() {
        return code;
    }

    public int retryAfterSeconds() {
        return retryAfterSeconds;
    }

    public List<Map.Entry<String, String>> headers() {
        return headers;
    }

    public @Nullable String param() {
        return param;
    }
}
