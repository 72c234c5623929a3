package routes.error;

import java.util.Locale;

/**
 * The catalogue of errors: what clients read in {@code error.code}, usage lines in {@code error_code} and metrics in the
 * {@code code} label. The set is closed; later versions only add.
 */
public enum ErrorCode {
    // -- the request as HTTP
    BAD_REQUEST(400, Type.INVALID_REQUEST, 0, "The request is not valid HTTP/1.1."),
    NOT_FOUND(404, Type.INVALID_REQUEST, 0, "There is nothing at this path."),
    METHOD_NOT_ALLOWED(405, Type.INVALID_REQUEST, 0, "This path does not take this method."),
    REQUEST_TIMEOUT(408, Type.INVALID_REQUEST, 0, "The request did not arrive in time."),
    BODY_TOO_LARGE(413, Type.INVALID_REQUEST, 0, "The request body is larger than this gateway accepts."),
    UNSUPPORTED_MEDIA_TYPE(415, Type.INVALID_REQUEST, 0, "The body is not of the media type that this path takes."),
    EXPECTATION_FAILED(417, Type.INVALID_REQUEST, 0, "The only expectation supported is 100-continue."),
    HEAD_TOO_LARGE(431, Type.INVALID_REQUEST, 0, "The request line and headers are larger than this gateway accepts."),
    UNKNOWN_TRANSFER_CODING(501, Type.INVALID_REQUEST, 0, "The only transfer coding supported is chunked."),
    HTTP_VERSION(505, Type.INVALID_REQUEST, 0, "This gateway speaks HTTP/1.1 and HTTP/1.0."),

    // -- who asks
    MISSING_API_KEY(
            401, Type.AUTHENTICATION, 0, "No API key: send it as 'Authorization: Bearer KEY' or as 'x-api-key: KEY'."),
    INVALID_API_KEY(401, Type.AUTHENTICATION, 0, "The API key is not valid."),
    CONFLICTING_API_KEYS(401, Type.AUTHENTICATION, 0, "Authorization and x-api-key carry different keys: send one."),

    // -- what is asked
    INVALID_JSON(400, Type.INVALID_REQUEST, 0, "The body is not a JSON object."),
    INVALID_FORM(400, Type.INVALID_REQUEST, 0, "The body is not a multipart form."),
    INVALID_FIELD(400, Type.INVALID_REQUEST, 0, "A field of the body has the wrong type."),
    DUPLICATE_FIELD(400, Type.INVALID_REQUEST, 0, "A field that decides how the request is handled appears twice."),
    MISSING_MODEL(400, Type.INVALID_REQUEST, 0, "The body needs a 'model'."),
    MODEL_NOT_FOUND(404, Type.INVALID_REQUEST, 0, "The model does not exist or you do not have access to it."),

    RESPONSE_NOT_FOUND(404, Type.INVALID_REQUEST, 0, "There is no such response."),

    // -- what the key is allowed; Retry-After says when it is allowed again
    RATE_LIMIT_EXCEEDED(429, Type.RATE_LIMIT, 1, "This key has used up its requests per minute."),
    TOKEN_LIMIT_EXCEEDED(429, Type.RATE_LIMIT, 1, "This key has used up its tokens per minute."),
    CONCURRENCY_LIMIT_EXCEEDED(429, Type.RATE_LIMIT, 1, "This key has as many requests running as it may have."),
    BUDGET_EXHAUSTED(429, Type.QUOTA, 1, "This key has used up its budget."),

    // -- the gateway's own room
    BODY_BUDGET_EXHAUSTED(
            503, Type.OVERLOADED, 1, "The gateway holds as many request bodies as it can; try again soon."),
    USAGE_BACKLOG(503, Type.OVERLOADED, 2, "The gateway can not record more usage right now; try again soon."),
    DRAINING(503, Type.OVERLOADED, 5, "The gateway is shutting down; try again."),

    // -- replicas
    NO_CAPACITY(503, Type.OVERLOADED, 1, "The gateway is busy; try again soon."),
    QUEUE_FULL(503, Type.OVERLOADED, 1, "Every replica of this model is busy and its queue is full; try again soon."),
    QUEUE_TIMEOUT(503, Type.OVERLOADED, 1, "Every replica of this model was busy for as long as a request may wait."),
    NO_REPLICA(503, Type.OVERLOADED, 5, "No replica of this model can be reached; try again later."),
    RESPONSE_UNAVAILABLE(
            503,
            Type.OVERLOADED,
            5,
            "The replica that may hold this response can not be reached; try again later, or send the conversation itself."),
    UPSTREAM_CONNECT_FAILED(502, Type.UPSTREAM, 1, "The model's server could not be reached."),
    UPSTREAM_RESET(502, Type.UPSTREAM, 1, "The model's server closed the connection before it answered."),
    UPSTREAM_INVALID(502, Type.UPSTREAM, 0, "The model's server answered with something that is not HTTP."),
    UPSTREAM_UNAUTHORIZED(502, Type.UPSTREAM, 0, "The model's server refused the gateway's own key."),
    UPSTREAM_TIMEOUT(504, Type.UPSTREAM, 1, "The model's server did not answer in time."),

    /** The replica's own error status or error event, relayed as it came; only in usage lines. */
    UPSTREAM_ERROR(502, Type.UPSTREAM, 0, "The model's server answered with an error."),
    /** The replica's answer broke off after it had begun; only in usage lines. */
    UPSTREAM_INCOMPLETE(502, Type.UPSTREAM, 0, "The model's server ended its answer early."),

    INTERNAL(500, Type.INTERNAL, 0, "The gateway failed to handle the request.");

    private final int status;
    private final Type type;
    private final int retryAfterSeconds;
    private final String text;

    ErrorCode(int status, Type type, int retryAfterSeconds, String text) {
        this.status = status;
        this.type = type;
        this.retryAfterSeconds = retryAfterSeconds;
        this.text = text;
    }

    /** HTTP status of the answer. */
    public int status() {
        return status;
    }

    /** OpenAI's {@code error.type}. */
    public String type() {
        return type.openAi;
    }

    /** Anthropic's {@code error.type}, for answers on {@code /v1/messages}. */
    public String anthropicType() {
        return switch (status) {
            case 401 -> "authentication_error";
            case 404, 405 -> "not_found_error";
            case 413 -> "request_too_large";
            case 429 -> "rate_limit_error";
            case 503 -> "overloaded_error";
            case 504 -> "timeout_error";
            default -> status >= 500 ? "api_error" : "invalid_request_error";
        };
    }

    /** Seconds for {@code Retry-After}; 0 when trying again would not help. */
    public int retryAfterSeconds() {
        return retryAfterSeconds;
    }

    /** What the client is told when the place that failed has nothing more precise to say. */
    public String text() {
        return text;
    }

    /** The value on the wire, such as {@code model_not_found}. */
    public String code() {
        return name().toLowerCase(Locale.ROOT);
    }

    private enum Type {
        INVALID_REQUEST("invalid_request_error"),
        AUTHENTICATION("authentication_error"),
        RATE_LIMIT("rate_limit_error"),
        QUOTA("insufficient_quota"),
        OVERLOADED("overloaded_error"),
        UPSTREAM("upstream_error"),
        INTERNAL("internal_error");

        private final String openAi;

        Type(String openAi) {
            this.openAi = openAi;
        }
    }
}
