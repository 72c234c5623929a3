package routes.request;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import routes.relay.Dialect;

/** The table of paths that the front door serves: method, what the body is, and whether usage can be asked for. */
public enum Api {
    CHAT_COMPLETIONS("/v1/chat/completions", "POST", Body.JSON, true),
    COMPLETIONS("/v1/completions", "POST", Body.JSON, true),
    EMBEDDINGS("/v1/embeddings", "POST", Body.JSON, false),
    MODELS("/v1/models", "GET", Body.NONE, false),
    /** {@code /v1/models/{id}}; ids may hold slashes. */
    MODEL("/v1/models/", "GET", Body.NONE, false),
    RESPONSES("/v1/responses", "POST", Body.JSON, Dialect.RESPONSES),
    /** {@code /v1/responses/{id}}. */
    STORED_RESPONSE("/v1/responses/", "GET", Body.NONE, Dialect.STORED_RESPONSE),
    /** {@code /v1/responses/{id}/cancel}. */
    RESPONSE_CANCEL("/v1/responses/{id}/cancel", "POST", Body.NONE, Dialect.STORED_RESPONSE),
    MESSAGES("/v1/messages", "POST", Body.JSON, Dialect.MESSAGES),
    MESSAGES_COUNT_TOKENS("/v1/messages/count_tokens", "POST", Body.JSON, Dialect.MESSAGES),
    EMBED_V2("/v2/embed", "POST", Body.JSON, Dialect.EMBED),
    POOLING("/pooling", "POST", Body.JSON, Dialect.COMPLETIONS),
    CLASSIFY("/classify", "POST", Body.JSON, Dialect.COMPLETIONS),
    RERANK("/rerank", "POST", Body.JSON, Dialect.COMPLETIONS),
    RERANK_V1("/v1/rerank", "POST", Body.JSON, Dialect.COMPLETIONS),
    RERANK_V2("/v2/rerank", "POST", Body.JSON, Dialect.COMPLETIONS),
    SCORE("/score", "POST", Body.JSON, Dialect.COMPLETIONS),
    SCORE_V1("/v1/score", "POST", Body.JSON, Dialect.COMPLETIONS),
    TOKENIZE("/tokenize", "POST", Body.JSON, Dialect.COMPLETIONS),
    DETOKENIZE("/detokenize", "POST", Body.JSON, Dialect.COMPLETIONS),
    AUDIO_TRANSCRIPTIONS("/v1/audio/transcriptions", "POST", Body.FORM, Dialect.COMPLETIONS),
    AUDIO_TRANSLATIONS("/v1/audio/translations", "POST", Body.FORM, Dialect.COMPLETIONS);

    /** What a request's body is. */
    public enum Body {
        /** No body is read. */
        NONE(),
        /** A JSON object that names its model at the top level. */
        JSON(4),
        /** A multipart form with a part {@code model} and a file. */
        FORM(256);

        private final int bytesPerToken;

        Body() {
            this(1);
        }

        Body(int bytesPerToken) {
            this.bytesPerToken = bytesPerToken;
        }

        /**
         * How many bytes of a body are about one token of its prompt: a rule of thumb for English text and code, and for
         * speech, of which models make 50 to 100 tokens a second.
         */
        public int bytesPerToken() {
            return bytesPerToken;
        }
    }

    private static final String CANCEL = "/cancel";
    private static final int LONGEST_ID = 256;

    private static final Map<String, Api> EXACT = new HashMap<>();

    static {
        for (Api api : values()) {
            EXACT.put(api.path, api);
        }
        EXACT.remove(MODEL.path);
        EXACT.remove(STORED_RESPONSE.path);
        EXACT.remove(RESPONSE_CANCEL.path);
    }

    private final String path;
    private final String method;
    private final Body body;
    private final boolean streamUsage;
    private final Dialect dialect;
    private final String label = name().toLowerCase(Locale.ROOT);

    Api(String path, String method, Body body, boolean streamUsage) {
        this(path, method, body, streamUsage, Dialect.COMPLETIONS);
    }

    Api(String path, String method, Body body, Dialect dialect) {
        this(path, method, body, false, dialect);
    }

    Api(String path, String method, Body body, boolean streamUsage, Dialect dialect) {
        this.path = path;
        this.method = method;
        this.body = body;
        this.streamUsage = streamUsage;
        this.dialect = dialect;
    }

    /** The API at a normalised path, whatever the method; null when the door doesn't serve it. */
    public static @Nullable Api at(String path) {
        Api exact = EXACT.get(path);
        if (exact != null) {
            return exact;
        }
        if (path.startsWith(STORED_RESPONSE.path)) {
            boolean cancel = path.endsWith(CANCEL) && path.length() > STORED_RESPONSE.path.length() + CANCEL.length();
            Api of = cancel ? RESPONSE_CANCEL : STORED_RESPONSE;
            return isId(of.responseId(path)) ? of : null;
        }
        return path.length() > MODEL.path.length() && path.startsWith(MODEL.path) ? MODEL : null;
    }

    /** The id in the path of a stored response. */
    public String responseId(String path) {
        return path.substring(
                STORED_RESPONSE.path.length(), path.length() - (this == RESPONSE_CANCEL ? CANCEL.length() : 0));
    }

    private static boolean isId(String text) {
        return !text.isEmpty()
                && text.length() <= LONGEST_ID
                && text.chars()
                        .allMatch(c -> c >= 'a' && c <= 'z'
                                || c >= 'A' && c <= 'Z'
                                || c >= '0' && c <= '9'
                                || c == '_'
                                || c == '-');
    }

    /** The path; for {@link #MODEL} and {@link #STORED_RESPONSE} its beginning, for {@link #RESPONSE_CANCEL} its pattern. */
    public String path() {
        return path;
    }

    public String method() {
        return method;
    }

    /** Whether HEAD is answered too: where the gateway itself answers GET. */
    public boolean answersHead() {
        return this == MODELS || this == MODEL;
    }

    /** The methods that it takes, such as {@code GET, HEAD}. */
    public String methods() {
        return answersHead() ? method + ", HEAD" : method;
    }

    public Body body() {
        return body;
    }

    /** Whether {@code stream_options.include_usage} exists here. */
    public boolean streamUsage() {
        return streamUsage;
    }

    /** How its answers are told. */
    public Dialect dialect() {
        return dialect;
    }

    /** Whether it is about a response that a replica keeps, whose id stands in the path. */
    public boolean isAboutStoredResponse() {
        return dialect == Dialect.STORED_RESPONSE;
    }

    /** Whether prompts and answers cost tokens here. */
    public boolean costsTokens() {
        return this != MESSAGES_COUNT_TOKENS
                && this != TOKENIZE
                && this != DETOKENIZE
                && dialect != Dialect.STORED_RESPONSE;
    }

    /** Whether replicas know {@code cache_salt} here; elsewhere they ignore or refuse it. */
    public boolean knowsCacheSalt() {
        return switch (this) {
            case MESSAGES, MESSAGES_COUNT_TOKENS, EMBED_V2, TOKENIZE, DETOKENIZE -> false;
            default -> body == Body.JSON;
        };
    }

    /** Whether its body is no more than material to be scored, embedded or counted: it asks for one answer, never a stream. */
    public boolean isMaterial() {
        return switch (this) {
            case EMBED_V2, POOLING, CLASSIFY, RERANK, RERANK_V1, RERANK_V2, SCORE, SCORE_V1, TOKENIZE, DETOKENIZE ->
                true;
            default -> false;
        };
    }

    /** Whether its prompts begin alike, so that a replica that has computed one's beginning saves work for the next. */
    public boolean isPrefixed() {
        return this == CHAT_COMPLETIONS || this == COMPLETIONS || this == RESPONSES || this == MESSAGES;
    }

    /** The name in usage lines and metrics, such as {@code chat_completions}. */
    public String label() {
        return label;
    }
}
