package routes.request;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The table of paths that the front door serves: method, what the body is, and whether usage can be asked for. */
public enum Api {
    CHAT_COMPLETIONS("/v1/chat/completions", "POST", Body.JSON, true),
    COMPLETIONS("/v1/completions", "POST", Body.JSON, true),
    EMBEDDINGS("/v1/embeddings", "POST", Body.JSON, false),
    MODELS("/v1/models", "GET", Body.NONE, false),
    /** {@code /v1/models/{id}}; ids may hold slashes. */
    MODEL("/v1/models/", "GET", Body.NONE, false);

    /** What a request's body is. */
    public enum Body {
        /** No body is read. */
        NONE,
        /** A JSON object that names its model at the top level. */
        JSON
    }

    private static final Map<String, Api> EXACT = new HashMap<>();

    static {
        for (Api api : values()) {
            EXACT.put(api.path, api);
        }
        EXACT.remove(MODEL.path);
    }

    private final String path;
    private final String method;
    private final Body body;
    private final boolean streamUsage;
    private final String label = name().toLowerCase(Locale.ROOT);

    Api(String path, String method, Body body, boolean streamUsage) {
        this.path = path;
        this.method = method;
        this.body = body;
        this.streamUsage = streamUsage;
    }

    /** The API at a normalised path, whatever the method; null when the door doesn't serve it. */
    public static @Nullable Api at(String path) {
        Api exact = EXACT.get(path);
        if (exact != null) {
            return exact;
        }
        return path.length() > MODEL.path.length() && path.startsWith(MODEL.path) ? MODEL : null;
    }

    /** The path, or for {@link #MODEL} its beginning. */
    public String path() {
        return path;
    }

    public String method() {
        return method;
    }

    public Body body() {
        return body;
    }

    /** Whether {@code stream_options.include_usage} exists here. */
    public boolean streamUsage() {
        return streamUsage;
    }

    /** Whether its prompts begin alike, so that a replica that has computed one's beginning saves work for the next. */
    public boolean isPrefixed() {
        return this == CHAT_COMPLETIONS || this == COMPLETIONS;
    }

    /** The name in usage lines and metrics, such as {@code chat_completions}. */
    public String label() {
        return label;
    }
}
