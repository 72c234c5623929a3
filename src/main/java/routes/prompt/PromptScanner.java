package routes.prompt;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import routes.error.ErrorBody;
import routes.error.ErrorCode;
import routes.error.GatewayException;
import routes.request.Api;
import routes.request.Prompt;

/**
 * Reads a request's JSON body in one pass.
 *
 * <p>Keys count only where the API defines them, in the body's own object, in {@code stream_options} or {@code metadata}
 * and as a message's {@code role} or an item's {@code type}; the same words anywhere else are content. A value that a replica might coerce, such as a stream of
 * {@code "true"}, is refused instead of guessed.
 *
 * <p><b>Threading</b>: holds no state between scans. <b>Ownership</b>: borrows the body; neither its indices nor its
 * content change. <b>Failure</b>: the first thing found wrong, in the order of the bytes; a missing model last.
 */
public final class PromptScanner {

    private static final int MAX_MODEL_BYTES = 512;
    private static final int MAX_KEPT_CHARS = 256;
    private static final int MAX_ID_BYTES = 256;
    private static final int MAX_N = 1024;
    private static final int EXCERPT_BYTES = 65;

    /** Enclosing arrays and objects of a member of the body, of a message, and of a message's member. */
    private static final int IN_BODY = 1;

    private static final int IN_MESSAGES = 2;
    private static final int IN_MESSAGE = 3;

    private final ByteBuffer view;
    private final Field[] fields;
    private final JsonWalk walk;
    private final Prompt.Draft draft = new Prompt.Draft();
    private int seen;
    private long maxTokens = -1;
    private long maxCompletionTokens = -1;

    private PromptScanner(ByteBuffer view, Field[] fields) {
        this.view = view;
        this.fields = fields;
        this.walk = new JsonWalk(view);
    }

    /** As {@link #scan(ByteBuf, Api)}, of a chat. */
    public static Prompt scan(ByteBuf body) throws GatewayException {
        return scan(body, Api.CHAT_COMPLETIONS);
    }

    /**
     * Reads the readable bytes of a body.
     *
     * @param api whose fields count
     * @throws GatewayException INVALID_JSON, INVALID_FIELD, DUPLICATE_FIELD, MISSING_MODEL, or MODEL_NOT_FOUND for a
     *     name that is too long to be one
     */
    public static Prompt scan(ByteBuf body, Api api) throws GatewayException {
        int length = body.readableBytes();
        if (length == 0) {
            throw new GatewayException(ErrorCode.INVALID_JSON, "The body is empty: send a JSON object.");
        }
        ByteBuffer view = body.nioBuffer(body.readerIndex(), length).order(ByteOrder.LITTLE_ENDIAN);
        // A view of a part may start in the middle of its buffer; offsets are the body's.
        ByteBuffer all = view.position() == 0 ? view : view.slice().order(ByteOrder.LITTLE_ENDIAN);
        return new PromptScanner(all, fieldsOf(api)).scan();
    }

    private static Field[] fieldsOf(Api api) {
        if (api.isMaterial()) {
            return Field.OF_MATERIAL;
        }
        return switch (api.dialect()) {
            case COMPLETIONS -> Field.OF_COMPLETIONS;
            case RESPONSES, STORED_RESPONSE -> Field.OF_RESPONSES;
            case MESSAGES -> Field.OF_MESSAGES;
            case EMBED -> Field.OF_MATERIAL;
        };
    }

    private Prompt scan() throws GatewayException {
        int open = walk.blank(0);
        if (walk.peek(open) != '{') {
            throw JsonWalk.invalid("no '{'", open);
        }
        draft.insertAt(open + 1);
        int at = walk.first(open, '}');
        while (at >= 0) {
            at = walk.next(member(at), '}');
        }
        int rest = walk.blank(~at);
        if (rest != view.limit()) {
            throw JsonWalk.invalid("something behind the closing '}'", rest);
        }
        if (!has(Field.MODEL)) {
            throw new GatewayException(ErrorCode.MISSING_MODEL, ErrorCode.MISSING_MODEL.text(), Field.MODEL.key());
        }
        draft.maxTokens(maxCompletionTokens >= 0 ? maxCompletionTokens : maxTokens);
        return draft.finish();
    }

    private int member(int keyAt) throws GatewayException {
        int start = walk.key(keyAt);
        Field field = Field.of(fields, view, walk.keyStart(), walk.keyEnd());
        if (field == null) {
            return walk.value(start, IN_BODY);
        }
        if (has(field)) {
            throw duplicate(field.key());
        }
        seen |= 1 << field.ordinal();
        return switch (field) {
            case STREAM_OPTIONS -> streamOptions(start);
            case MESSAGES -> messages(start);
            case INPUT -> input(start);
            case METADATA -> metadata(start);
            default -> {
                int end = walk.value(start, IN_BODY);
                keep(field, start, end);
                yield end;
            }
        };
    }

    private boolean has(Field field) {
        return (seen & 1 << field.ordinal()) != 0;
    }

    private void keep(Field field, int start, int end) throws GatewayException {
        switch (field) {
            case MODEL -> draft.model(model(start, end), start, end);
            case STREAM -> draft.stream(flag(field, start));
            case N -> draft.n(count(start, end));
            case MAX_TOKENS -> maxTokens = tokens(field, start, end);
            case MAX_COMPLETION_TOKENS, MAX_OUTPUT_TOKENS -> maxCompletionTokens = tokens(field, start, end);
            case PRIORITY -> {
                if (!isNull(start)) {
                    draft.priority(integer(field, "an integer", start, end));
                }
            }
            case USER -> draft.user(text(start, end));
            case PROMPT_CACHE_KEY -> draft.promptCacheKey(text(start, end));
            case CACHE_SALT -> draft.cacheSalt(start, end);
            case TOOLS -> draft.tools(start, end);
            case PROMPT -> draft.prompt(start, end);
            case INSTRUCTIONS -> {
                if (!isNull(start)) {
                    require(view.get(start) == '"', field, "a string");
                    draft.system(start, end);
                }
            }
            case SYSTEM -> {
                if (!isNull(start)) {
                    require(view.get(start) == '"' || view.get(start) == '[', field, "a string or a list of blocks");
                    draft.system(start, end);
                }
            }
            case PREVIOUS_RESPONSE_ID -> {
                if (!isNull(start)) {
                    int bytes = end - start - 2;
                    require(view.get(start) == '"' && bytes > 0 && bytes <= MAX_ID_BYTES, field, "a response's id");
                    draft.previousResponseId(JsonText.decode(view, start + 1, end - 1, MAX_ID_BYTES));
                }
            }
            case BACKGROUND -> draft.background(flag(field, start));
            case STORE -> draft.store(isNull(start) || flag(field, start));
            case REQUEST_ID -> require(isNull(start), field, "left out: replicas choose the ids of responses");
            case STREAM_OPTIONS, MESSAGES, INPUT, METADATA -> throw new AssertionError(field);
        }
    }

    private static void require(boolean fits, Field field, String shape) throws GatewayException {
        if (!fits) {
            throw invalidField(field, shape);
        }
    }

    // -- values

    private String model(int start, int end) throws GatewayException {
        if (view.get(start) != '"' || end - start == 2) {
            throw invalidField(Field.MODEL, "a string that is not empty");
        }
        if (end - start - 2 > MAX_MODEL_BYTES) {
            byte[] beginning = new byte[EXCERPT_BYTES];
            view.get(start + 1, beginning);
            String excerpt = ErrorBody.excerpt(new String(beginning, StandardCharsets.ISO_8859_1));
            throw new GatewayException(
                    ErrorCode.MODEL_NOT_FOUND,
                    "The model '" + excerpt + "' does not exist or you do not have access to it.",
                    Field.MODEL.key());
        }
        return JsonText.decode(view, start + 1, end - 1, MAX_MODEL_BYTES);
    }

    private boolean flag(Field field, int start) throws GatewayException {
        return switch (view.get(start)) {
            case 't' -> true;
            case 'f', 'n' -> false;
            default -> throw invalidField(field, "true or false");
        };
    }

    private int count(int start, int end) throws GatewayException {
        if (isNull(start)) {
            return 1;
        }
        String shape = "an integer from 1 to " + MAX_N;
        long n = integer(Field.N, shape, start, end);
        if (n < 1 || n > MAX_N) {
            throw invalidField(Field.N, shape);
        }
        return (int) n;
    }

    private long tokens(Field field, int start, int end) throws GatewayException {
        if (isNull(start)) {
            return -1;
        }
        String shape = "an integer, 0 or more";
        long tokens = integer(field, shape, start, end);
        if (tokens < 0) {
            throw invalidField(field, shape);
        }
        return tokens;
    }

    /** An integer as JSON writes it: no fraction, exponent, plus sign or leading zero. */
    private long integer(Field field, String shape, int start, int end) throws GatewayException {
        boolean negative = view.get(start) == '-';
        int first = negative ? start + 1 : start;
        if (first == end || end - first > 1 && view.get(first) == '0') {
            throw invalidField(field, shape);
        }
        // Counted below zero, where there is room for the smallest long.
        long value = 0;
        for (int at = first; at < end; at++) {
            int digit = view.get(at) - '0';
            if (digit < 0 || digit > 9 || value < (Long.MIN_VALUE + digit) / 10) {
                throw invalidField(field, shape);
            }
            value = value * 10 - digit;
        }
        if (!negative && value == Long.MIN_VALUE) {
            throw invalidField(field, shape);
        }
        return negative ? value : -value;
    }

    private @Nullable String text(int start, int end) throws GatewayException {
        return view.get(start) == '"' ? JsonText.decode(view, start + 1, end - 1, MAX_KEPT_CHARS) : null;
    }

    private boolean isNull(int start) {
        return view.get(start) == 'n';
    }

    // -- objects that are looked into

    private int streamOptions(int start) throws GatewayException {
        byte b = walk.peek(start);
        if (b != '{') {
            int end = walk.value(start, IN_BODY);
            draft.streamOptions(b == 'n' ? Prompt.StreamOptions.NULL : Prompt.StreamOptions.OTHER, start, end);
            return end;
        }
        int at = walk.first(start, '}');
        if (at < 0) {
            draft.streamOptionsEmpty();
        }
        boolean found = false;
        while (at >= 0) {
            int value = walk.key(at);
            boolean includeUsage = Field.names("include_usage", view, walk.keyStart(), walk.keyEnd());
            int end = walk.value(value, IN_BODY + 1);
            if (includeUsage) {
                if (found) {
                    throw duplicate("stream_options.include_usage");
                }
                found = true;
                draft.includeUsage(view.get(value) == 't', value, end);
            }
            at = walk.next(end, '}');
        }
        draft.streamOptions(Prompt.StreamOptions.OBJECT, start, ~at);
        return ~at;
    }

    /** {@code metadata}, of which one member says who the user is. */
    private int metadata(int start) throws GatewayException {
        if (walk.peek(start) != '{') {
            int end = walk.value(start, IN_BODY);
            require(isNull(start), Field.METADATA, "an object");
            return end;
        }
        boolean found = false;
        int at = walk.first(start, '}');
        while (at >= 0) {
            int value = walk.key(at);
            boolean user = Field.names("user_id", view, walk.keyStart(), walk.keyEnd());
            int end = walk.value(value, IN_BODY + 1);
            if (user) {
                if (found) {
                    throw duplicate("metadata.user_id");
                }
                found = true;
                draft.user(text(value, end));
            }
            at = walk.next(end, '}');
        }
        return ~at;
    }

    /** What a response is made of: a text, or a list of messages and other items. Elsewhere whatever it is. */
    private int input(int start) throws GatewayException {
        boolean items = fields == Field.OF_RESPONSES;
        if (items && walk.peek(start) == '[') {
            return messages(start);
        }
        int end = walk.value(start, IN_BODY);
        require(!items || view.get(start) == '"', Field.INPUT, "a string or a list of items");
        draft.prompt(start, end);
        return end;
    }

    private int messages(int start) throws GatewayException {
        if (walk.peek(start) != '[') {
            int end = walk.value(start, IN_BODY);
            draft.messages(start, end);
            return end;
        }
        boolean items = fields == Field.OF_RESPONSES;
        int firstEnd = -1;
        int firstUserEnd = -1;
        int lastTurnStart = -1;
        int at = walk.first(start, ']');
        while (at >= 0) {
            int message = at;
            Role role = Role.NONE;
            int end;
            if (walk.peek(message) == '{') {
                at = walk.first(message, '}');
                while (at >= 0) {
                    int value = walk.key(at);
                    boolean names = Field.names("role", view, walk.keyStart(), walk.keyEnd());
                    boolean type = items && Field.names("type", view, walk.keyStart(), walk.keyEnd());
                    int valueEnd = walk.value(value, IN_MESSAGE);
                    if (names) {
                        role = Role.of(view, value, valueEnd);
                    } else if (type && isToolOutput(value, valueEnd)) {
                        role = Role.TOOL;
                    }
                    at = walk.next(valueEnd, '}');
                }
                end = ~at;
            } else {
                end = walk.value(message, IN_MESSAGES);
            }
            if (firstEnd < 0) {
                firstEnd = end;
            }
            if (role == Role.USER && firstUserEnd < 0) {
                firstUserEnd = end;
            }
            if (role != Role.NONE) {
                lastTurnStart = message;
            }
            at = walk.next(end, ']');
        }
        draft.messages(start, ~at);
        draft.turns(firstUserEnd < 0 ? firstEnd : firstUserEnd, lastTurnStart);
        return ~at;
    }

    /** What a tool said stands in an item of its own, which has no role. */
    private boolean isToolOutput(int start, int end) {
        return view.get(start) == '"' && Field.names("function_call_output", view, start + 1, end - 1);
    }

    private static GatewayException duplicate(String key) {
        return new GatewayException(ErrorCode.DUPLICATE_FIELD, "'" + key + "' appears twice: send it once.", key);
    }

    private static GatewayException invalidField(Field field, String shape) {
        return new GatewayException(
                ErrorCode.INVALID_FIELD, "'" + field.key() + "' has to be " + shape + ".", field.key());
    }

    /** Whose turn a message is, as far as it matters here. */
    private enum Role {
        NONE,
        USER,
        TOOL;

        private final String text = name().toLowerCase(Locale.ROOT);

        static Role of(ByteBuffer view, int start, int end) {
            if (view.get(start) == '"') {
                if (Field.names(USER.text, view, start + 1, end - 1)) {
                    return USER;
                }
                if (Field.names(TOOL.text, view, start + 1, end - 1)) {
                    return TOOL;
                }
            }
            return NONE;
        }
    }
}
