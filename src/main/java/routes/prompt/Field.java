package routes.prompt;

import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The keys of the body's own object that decide how a request is handled. Each may stand there once. */
enum Field {
    // -- chats, completions and their like
    MODEL,
    STREAM,
    STREAM_OPTIONS,
    N,
    MAX_TOKENS,
    MAX_COMPLETION_TOKENS,
    USER,
    PROMPT_CACHE_KEY,
    CACHE_SALT,
    PRIORITY,
    MESSAGES,
    PROMPT,
    INPUT,
    TOOLS,

    // -- responses
    INSTRUCTIONS,
    PREVIOUS_RESPONSE_ID,
    MAX_OUTPUT_TOKENS,
    BACKGROUND,
    STORE,
    REQUEST_ID,

    // -- messages
    SYSTEM,
    METADATA;

    /** Those of chats, completions and their like. */
    static final Field[] OF_COMPLETIONS = EnumSet.range(MODEL, TOOLS).toArray(Field[]::new);

    static final Field[] OF_RESPONSES = {
        MODEL,
        STREAM,
        USER,
        PROMPT_CACHE_KEY,
        CACHE_SALT,
        PRIORITY,
        INPUT,
        TOOLS,
        INSTRUCTIONS,
        PREVIOUS_RESPONSE_ID,
        MAX_OUTPUT_TOKENS,
        BACKGROUND,
        STORE,
        REQUEST_ID
    };

    /** Those of material that is scored, embedded or counted. */
    static final Field[] OF_MATERIAL = {MODEL, USER, CACHE_SALT};

    static final Field[] OF_MESSAGES = {MODEL, STREAM, MAX_TOKENS, MESSAGES, TOOLS, SYSTEM, METADATA};

    private final String key = name().toLowerCase(Locale.ROOT);
    private final char first = key.charAt(0);

    /** The field's name in JSON. */
    String key() {
        return key;
    }

    /**
     * The field that a key's text names, however it is escaped; null for all other keys.
     *
     * @param known those that the API has
     */
    static @Nullable Field of(Field[] known, ByteBuffer view, int from, int to) {
        if (from == to) {
            return null;
        }
        byte first = view.get(from);
        for (Field field : known) {
            if ((first == field.first || first == '\\') && names(field.key, view, from, to)) {
                return field;
            }
        }
        return null;
    }

    /**
     * Whether a key's text is {@code word}, however it is escaped.
     *
     * @param word letters and underscores
     */
    static boolean names(String word, ByteBuffer view, int from, int to) {
        int at = from;
        for (int i = 0; i < word.length(); i++) {
            if (at >= to) {
                return false;
            }
            int c = view.get(at++);
            if (c == '\\') {
                c = escaped(view, at, to);
                at += 5;
            }
            if (c != word.charAt(i)) {
                return false;
            }
        }
        return at == to;
    }

    private static int escaped(ByteBuffer view, int at, int to) {
        if (to - at < 5 || view.get(at) != 'u') {
            return -1;
        }
        int value = 0;
        for (int i = 1; i <= 4; i++) {
            byte b = view.get(at + i);
            int digit = b < 0 ? -1 : Character.digit(b, 16);
            if (digit < 0) {
                return -1;
            }
            value = value << 4 | digit;
        }
        return value;
    }
}
