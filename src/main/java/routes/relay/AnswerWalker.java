package routes.relay;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A walk over one JSON object that picks what its {@link Dialect} tells of an answer, such as {@code usage}, {@code
 * choices[*].finish_reason} and {@code error} at the top level, and builds no tree. A read may end at any byte.
 *
 * <p>Only few places matter: the root, {@code usage} with its two details, {@code choices} and its elements, and what
 * stands for them in other dialects. The place that surrounds each of them is known, so there is no stack; everything
 * else is skipped by counting brackets outside strings. Checks as much JSON as it takes to know where it stands, no more.
 *
 * <p><b>Threading</b>: event-loop confined.
 */
final class AnswerWalker {

    static final int MAX_REASON_CHARS = 32;

    private static final int MAX_CAPTURE = 192;
    private static final int MAX_COUNT_DIGITS = 15;

    private static final int BEFORE_VALUE = 0;
    private static final int BEFORE_FIRST_ELEMENT = 1;
    private static final int BEFORE_FIRST_KEY = 2;
    private static final int BEFORE_KEY = 3;
    private static final int IN_KEY = 4;
    private static final int BEFORE_COLON = 5;
    private static final int AFTER_VALUE = 6;
    private static final int IN_STRING = 7;
    private static final int IN_REASON = 8;
    private static final int IN_COUNT = 9;
    private static final int IN_SCALAR = 10;
    private static final int IN_NESTED = 11;
    private static final int IN_NESTED_STRING = 12;
    private static final int COMPLETE = 13;
    private static final int BROKEN = 14;

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long ONES = 0x0101010101010101L;
    private static final long HIGHS = 0x8080808080808080L;
    private static final long SPACES = ' ' * ONES;
    private static final long QUOTES = '"' * ONES;
    private static final long BACKSLASHES = '\\' * ONES;
    /** The bits in which all four brackets are equal. */
    private static final long BRACKET_MASK = 0xd9d9d9d9d9d9d9d9L;

    private static final long BRACKETS = 0x59 * ONES;

    /** Reasons that need no string of their own. */
    private static final Reason[] USUAL_REASONS = reasons("stop", "length", "tool_calls", "abort", "content_filter");

    /** Types of events that need no string of their own; the most frequent first. */
    private static final Reason[] USUAL_TYPES = reasons(
            "response.output_text.delta",
            "content_block_delta",
            "response.reasoning_text.delta",
            "response.function_call_arguments.delta",
            "message_delta",
            "ping");

    /** Where the walk stands: the innermost container that matters. */
    enum Place {
        NOWHERE,
        ROOT,
        USAGE,
        PROMPT_DETAILS,
        COMPLETION_DETAILS,
        CHOICES,
        CHOICE,

        // -- responses
        RESPONSE_EVENT(Member.TYPE, Member.RESPONSE, Member.ERROR),
        RESPONSE(Member.ID, Member.STATUS, Member.USAGE, Member.ERROR, Member.INCOMPLETE),
        INCOMPLETE(Member.REASON),
        RESPONSE_USAGE(
                Member.INPUT_TOKENS,
                Member.OUTPUT_TOKENS,
                Member.TOTAL_TOKENS,
                Member.INPUT_DETAILS,
                Member.OUTPUT_DETAILS),
        INPUT_DETAILS(Member.CACHED_TOKENS),
        OUTPUT_DETAILS(Member.REASONING_TOKENS),

        // -- messages
        MESSAGE_EVENT(Member.TYPE, Member.MESSAGE, Member.DELTA, Member.USAGE, Member.ERROR),
        MESSAGE(Member.STOP_REASON, Member.USAGE, Member.ERROR),
        DELTA(Member.STOP_REASON),
        MESSAGE_USAGE(Member.INPUT_TOKENS, Member.OUTPUT_TOKENS, Member.CACHE_READ, Member.CACHE_CREATION),

        // -- embeddings as Cohere has them
        EMBED(Member.META, Member.ERROR),
        META(Member.TOKENS, Member.BILLED_UNITS),
        META_TOKENS(Member.INPUT_TOKENS);

        /** Of the places that aren't looked up by hand. */
        private final Member[] members;

        Place(Member... members) {
            this.members = members;
        }

        private Member named(byte[] bytes, int from, int to) {
            for (Member each : members) {
                if (each.is(bytes, from, to)) {
                    return each;
                }
            }
            return Member.OTHER;
        }
    }

    /** Whose value comes next. */
    private enum Member {
        OTHER(""),
        USAGE("usage"),
        CHOICES("choices"),
        ERROR("error"),
        FINISH_REASON("finish_reason", true),
        TYPE("type", true),
        ID("id", true),
        STATUS("status", true),
        REASON("reason", true),
        STOP_REASON("stop_reason", true),
        PROMPT_DETAILS("prompt_tokens_details"),
        COMPLETION_DETAILS("completion_tokens_details"),
        INPUT_DETAILS("input_tokens_details"),
        OUTPUT_DETAILS("output_tokens_details"),
        RESPONSE("response"),
        INCOMPLETE("incomplete_details"),
        MESSAGE("message"),
        DELTA("delta"),
        META("meta"),
        TOKENS("tokens"),
        BILLED_UNITS("billed_units"),
        PROMPT_TOKENS("prompt_tokens"),
        COMPLETION_TOKENS("completion_tokens"),
        TOTAL_TOKENS("total_tokens"),
        CACHED_TOKENS("cached_tokens"),
        REASONING_TOKENS("reasoning_tokens"),
        INPUT_TOKENS("input_tokens"),
        OUTPUT_TOKENS("output_tokens"),
        CACHE_READ("cache_read_input_tokens"),
        CACHE_CREATION("cache_creation_input_tokens");

        private final byte[] name;
        /** Whether its text is of interest. */
        private final boolean text;

        Member(String name) {
            this(name, false);
        }

        Member(String name, boolean text) {
            this.name = name.getBytes(StandardCharsets.US_ASCII);
            this.text = text;
        }

        boolean is(byte[] bytes, int from, int to) {
            return Arrays.equals(bytes, from, to, name, 0, name.length);
        }

        boolean isCount() {
            return compareTo(PROMPT_TOKENS) >= 0;
        }
    }

    private static final class Reason {
        private final String text;
        private final byte[] bytes;

        Reason(String text) {
            this.text = text;
            this.bytes = text.getBytes(StandardCharsets.US_ASCII);
        }
    }

    private final Place root;
    private int state;
    private Place place = Place.NOWHERE;
    /** What surrounds the usage of a message. */
    private Place usageIn = Place.NOWHERE;

    private Member member = Member.OTHER;
    private long depth;

    private boolean escaped;
    private boolean escapes;
    private byte @Nullable [] capture;
    private int captured;

    private long count;
    private int countDigits;

    private long promptTokens;
    private long completionTokens;
    private long totalTokens;
    private long cachedTokens;
    private long reasoningTokens;
    private long cacheCreationTokens;
    private @Nullable String finishReason;
    private @Nullable String type;
    private @Nullable String id;
    private @Nullable String status;
    private boolean usage;
    private boolean choicesEmpty;
    private boolean choicesFilled;
    private boolean error;

    AnswerWalker() {
        this(Place.ROOT);
    }

    /** @param root what the outermost object is */
    AnswerWalker(Place root) {
        this.root = root;
        begin();
    }

    /** Forgets everything: a new document begins. */
    void begin() {
        state = BEFORE_VALUE;
        place = Place.NOWHERE;
        member = Member.OTHER;
        escaped = false;
        finishReason = null;
        type = null;
        id = null;
        status = null;
        usage = false;
        choicesEmpty = false;
        choicesFilled = false;
        error = false;
        forgetCounts();
    }

    /** Whether the root was closed and nothing stood behind it. */
    boolean complete() {
        return state == COMPLETE;
    }

    /** Whether this can not become JSON any more. */
    boolean broken() {
        return state == BROKEN;
    }

    /** Whether {@code usage} was an object. */
    boolean usageSeen() {
        return usage;
    }

    /** Whether {@code choices} has an element; known as soon as its first one begins. */
    boolean choicesFilled() {
        return choicesFilled;
    }

    /** Whether this is the event that {@code include_usage} asks for: usage, {@code "choices":[]}, and no error. */
    boolean usageOnly() {
        return state == COMPLETE && usage && choicesEmpty && !choicesFilled && !error;
    }

    boolean errorSeen() {
        return error;
    }

    @Nullable
    String finishReason() {
        return finishReason;
    }

    /** The type that an event of responses or messages says it is of; null without one. */
    @Nullable
    String type() {
        return type;
    }

    /** The response's id; null without one, or for one that is too long. */
    @Nullable
    String id() {
        return id;
    }

    /** The response's status; null without one. */
    @Nullable
    String status() {
        return status;
    }

    /** {@code cache_creation_input_tokens} of a message; -1 when unknown. */
    long cacheCreationTokens() {
        return cacheCreationTokens;
    }

    boolean hasCounts() {
        return promptTokens >= 0 || completionTokens >= 0 || totalTokens >= 0;
    }

    long promptTokens() {
        return promptTokens;
    }

    long completionTokens() {
        return completionTokens;
    }

    long totalTokens() {
        return totalTokens;
    }

    long cachedTokens() {
        return cachedTokens;
    }

    long reasoningTokens() {
        return reasoningTokens;
    }

    /**
     * Walks on until a line or the bytes end. A line's end is white space to JSON; what it means to an event is for the
     * caller.
     *
     * @return the position of the first CR or LF, else {@code to}
     */
    int walk(byte[] bytes, int from, int to) {
        int p = from;
        while (p < to) {
            byte c = bytes[p];
            if (c == '\n' || c == '\r') {
                if (state == IN_COUNT || state == IN_SCALAR) {
                    endScalar();
                }
                return p;
            }
            switch (state) {
                case BEFORE_VALUE, BEFORE_FIRST_ELEMENT -> {
                    p++;
                    if (c != ' ' && c != '\t') {
                        value(c);
                    }
                }
                case BEFORE_FIRST_KEY, BEFORE_KEY -> {
                    p++;
                    if (c == '"') {
                        beginString(IN_KEY);
                    } else if (c == '}' && state == BEFORE_FIRST_KEY) {
                        close();
                    } else if (c != ' ' && c != '\t') {
                        state = BROKEN;
                    }
                }
                case IN_KEY -> p = key(bytes, p, to);
                case BEFORE_COLON -> {
                    p++;
                    if (c == ':') {
                        state = BEFORE_VALUE;
                    } else if (c != ' ' && c != '\t') {
                        state = BROKEN;
                    }
                }
                case AFTER_VALUE -> {
                    p++;
                    afterValue(c);
                }
                case IN_STRING -> {
                    p = stringEnd(bytes, p, to);
                    if (p < to && bytes[p] == '"') {
                        endValue();
                        p = nextKey(bytes, p + 1, to);
                    }
                }
                case IN_REASON -> p = reason(bytes, p, to);
                case IN_COUNT -> p = count(bytes, p, to);
                case IN_SCALAR -> p = scalar(bytes, p, to);
                case IN_NESTED -> p = nested(bytes, p, to);
                case IN_NESTED_STRING -> {
                    p = stringEnd(bytes, p, to);
                    if (p < to && bytes[p] == '"') {
                        p++;
                        state = IN_NESTED;
                    }
                }
                case COMPLETE -> {
                    p++;
                    if (c != ' ' && c != '\t') {
                        state = BROKEN;
                    }
                }
                default -> p++;
            }
        }
        return p;
    }

    private void value(byte c) {
        if (place == Place.CHOICES) {
            if (c == ']' && state == BEFORE_FIRST_ELEMENT) {
                choicesEmpty = true;
                close();
                return;
            }
            choicesFilled = true;
        } else if (member == Member.ERROR && c != 'n') {
            error = true;
        }
        switch (c) {
            case '"' -> beginString(member.text ? IN_REASON : IN_STRING);
            case '{' -> object();
            case '[' -> {
                if (member == Member.CHOICES) {
                    enter(Place.CHOICES, BEFORE_FIRST_ELEMENT);
                } else {
                    nest();
                }
            }
            case '-', 'n', 't', 'f', 'N', 'I' -> state = IN_SCALAR;
            default -> {
                if (c < '0' || c > '9') {
                    state = BROKEN;
                } else if (member.isCount()) {
                    count = (long) c - '0';
                    countDigits = 1;
                    state = IN_COUNT;
                } else {
                    state = IN_SCALAR;
                }
            }
        }
    }

    private void object() {
        if (place == Place.NOWHERE) {
            enter(root, BEFORE_FIRST_KEY);
        } else if (place == Place.CHOICES) {
            enter(Place.CHOICE, BEFORE_FIRST_KEY);
        } else if (member == Member.USAGE) {
            forgetCounts();
            enter(usagePlace(), BEFORE_FIRST_KEY);
        } else if (member == Member.PROMPT_DETAILS) {
            enter(Place.PROMPT_DETAILS, BEFORE_FIRST_KEY);
        } else if (member == Member.COMPLETION_DETAILS) {
            enter(Place.COMPLETION_DETAILS, BEFORE_FIRST_KEY);
        } else if (member == Member.OTHER) {
            nest();
        } else {
            objectOfDialect();
        }
    }

    private void objectOfDialect() {
        switch (member) {
            case RESPONSE -> enter(Place.RESPONSE, BEFORE_FIRST_KEY);
            case INCOMPLETE -> enter(Place.INCOMPLETE, BEFORE_FIRST_KEY);
            case INPUT_DETAILS -> enter(Place.INPUT_DETAILS, BEFORE_FIRST_KEY);
            case OUTPUT_DETAILS -> enter(Place.OUTPUT_DETAILS, BEFORE_FIRST_KEY);
            case MESSAGE -> enter(Place.MESSAGE, BEFORE_FIRST_KEY);
            case DELTA -> enter(Place.DELTA, BEFORE_FIRST_KEY);
            case META -> enter(Place.META, BEFORE_FIRST_KEY);
            case TOKENS, BILLED_UNITS -> enter(Place.META_TOKENS, BEFORE_FIRST_KEY);
            default -> nest();
        }
    }

    private Place usagePlace() {
        if (place == Place.ROOT) {
            return Place.USAGE;
        }
        if (place == Place.RESPONSE) {
            return Place.RESPONSE_USAGE;
        }
        usageIn = place;
        return Place.MESSAGE_USAGE;
    }

    private void enter(Place inner, int next) {
        place = inner;
        member = Member.OTHER;
        state = next;
    }

    private void nest() {
        depth = 1;
        state = IN_NESTED;
    }

    private void afterValue(byte c) {
        boolean array = place == Place.CHOICES;
        if (c == ',') {
            state = array ? BEFORE_VALUE : BEFORE_KEY;
        } else if (c == (array ? ']' : '}')) {
            close();
        } else if (c != ' ' && c != '\t') {
            state = BROKEN;
        }
    }

    private void close() {
        usage |= place == Place.USAGE
                || place == Place.RESPONSE_USAGE
                || place == Place.MESSAGE_USAGE
                || place == Place.META_TOKENS;
        place = place == root
                ? Place.NOWHERE
                : switch (place) {
                    case USAGE, CHOICES -> Place.ROOT;
                    case PROMPT_DETAILS, COMPLETION_DETAILS -> Place.USAGE;
                    case CHOICE -> Place.CHOICES;
                    case RESPONSE -> Place.RESPONSE_EVENT;
                    case RESPONSE_USAGE, INCOMPLETE -> Place.RESPONSE;
                    case INPUT_DETAILS, OUTPUT_DETAILS -> Place.RESPONSE_USAGE;
                    case MESSAGE, DELTA -> Place.MESSAGE_EVENT;
                    case MESSAGE_USAGE -> usageIn;
                    case META -> Place.EMBED;
                    case META_TOKENS -> Place.META;
                    case ROOT, RESPONSE_EVENT, MESSAGE_EVENT, EMBED, NOWHERE -> Place.NOWHERE;
                };
        endValue();
    }

    private void endValue() {
        member = Member.OTHER;
        state = place == Place.NOWHERE ? COMPLETE : AFTER_VALUE;
    }

    private void beginString(int next) {
        state = next;
        escapes = false;
        captured = 0;
    }

    private int key(byte[] bytes, int from, int to) {
        int p = stringEnd(bytes, from, to);
        if (p == to || bytes[p] != '"') {
            capture(bytes, from, p);
            return p;
        }
        if (captured == 0 && !escapes) {
            member = memberNamed(bytes, from, p);
        } else {
            capture(bytes, from, p);
            member = captured > MAX_CAPTURE ? Member.OTHER : memberNamed(capturedText());
        }
        if (member != Member.OTHER) {
            forget(member);
        }
        p++;
        if (p + 1 < to && bytes[p] == ':' && bytes[p + 1] > ' ') {
            value(bytes[p + 1]);
            return p + 2;
        }
        state = BEFORE_COLON;
        return p;
    }

    /** Where a member follows a value without white space, the usual case, its key begins at once. */
    private int nextKey(byte[] bytes, int p, int to) {
        if (p + 1 < to && bytes[p] == ',' && bytes[p + 1] == '"' && state == AFTER_VALUE && place != Place.CHOICES) {
            beginString(IN_KEY);
            return p + 2;
        }
        return p;
    }

    private Member memberNamed(String name) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        return memberNamed(bytes, 0, bytes.length);
    }

    private Member memberNamed(byte[] bytes, int from, int to) {
        return switch (place) {
            case ROOT ->
                switch (to - from) {
                    case 5 ->
                        Member.USAGE.is(bytes, from, to)
                                ? Member.USAGE
                                : Member.ERROR.is(bytes, from, to) ? Member.ERROR : Member.OTHER;
                    case 7 -> Member.CHOICES.is(bytes, from, to) ? Member.CHOICES : Member.OTHER;
                    default -> Member.OTHER;
                };
            case CHOICE -> Member.FINISH_REASON.is(bytes, from, to) ? Member.FINISH_REASON : Member.OTHER;
            case USAGE -> usageMember(bytes, from, to);
            case PROMPT_DETAILS -> Member.CACHED_TOKENS.is(bytes, from, to) ? Member.CACHED_TOKENS : Member.OTHER;
            case COMPLETION_DETAILS ->
                Member.REASONING_TOKENS.is(bytes, from, to) ? Member.REASONING_TOKENS : Member.OTHER;
            case CHOICES, NOWHERE -> Member.OTHER;
            default -> place.named(bytes, from, to);
        };
    }

    private static Member usageMember(byte[] bytes, int from, int to) {
        Member candidate =
                switch (to - from) {
                    case 12 -> Member.TOTAL_TOKENS;
                    case 13 -> Member.PROMPT_TOKENS;
                    case 17 -> Member.COMPLETION_TOKENS;
                    case 21 -> Member.PROMPT_DETAILS;
                    case 25 -> Member.COMPLETION_DETAILS;
                    default -> Member.OTHER;
                };
        return candidate.is(bytes, from, to) ? candidate : Member.OTHER;
    }

    /** The last of equal keys wins, so what an earlier one said is forgotten. */
    private void forget(Member named) {
        if (named.isCount()) {
            set(named, -1);
        } else if (named == Member.PROMPT_DETAILS || named == Member.INPUT_DETAILS) {
            cachedTokens = -1;
        } else if (named == Member.COMPLETION_DETAILS || named == Member.OUTPUT_DETAILS) {
            reasoningTokens = -1;
        } else if (named == Member.META) {
            forgetCounts();
        }
    }

    private void forgetCounts() {
        promptTokens = -1;
        completionTokens = -1;
        totalTokens = -1;
        cachedTokens = -1;
        reasoningTokens = -1;
        cacheCreationTokens = -1;
    }

    private void set(Member named, long value) {
        switch (named) {
            case PROMPT_TOKENS, INPUT_TOKENS -> promptTokens = value;
            case COMPLETION_TOKENS, OUTPUT_TOKENS -> completionTokens = value;
            case TOTAL_TOKENS -> totalTokens = value;
            case CACHED_TOKENS, CACHE_READ -> cachedTokens = value;
            case CACHE_CREATION -> cacheCreationTokens = value;
            case REASONING_TOKENS -> reasoningTokens = value;
            default -> throw new IllegalStateException("member: " + named + " (expected: a count)");
        }
    }

    private int reason(byte[] bytes, int from, int to) {
        int p = stringEnd(bytes, from, to);
        boolean ends = p < to && bytes[p] == '"';
        if (ends && captured == 0 && !escapes && member == Member.FINISH_REASON) {
            finishReason = reasonOf(bytes, from, p);
        } else if (ends && captured == 0 && !escapes && member == Member.TYPE) {
            type = textOf(USUAL_TYPES, bytes, from, p);
        } else {
            capture(bytes, from, p);
            if (!ends) {
                return p;
            }
            keep(capturedText());
        }
        endValue();
        return nextKey(bytes, p + 1, to);
    }

    private void keep(String text) {
        switch (member) {
            case TYPE -> type = text;
            case STATUS -> status = cut(text);
            case ID -> id = captured > MAX_CAPTURE ? null : text;
            // why a response is incomplete may stand on either side of its status
            case FINISH_REASON, REASON, STOP_REASON -> finishReason = cut(text);
            default -> throw new IllegalStateException("member: " + member + " (expected: a text)");
        }
    }

    private int count(byte[] bytes, int from, int to) {
        int p = from;
        while (p < to && bytes[p] >= '0' && bytes[p] <= '9') {
            if (++countDigits <= MAX_COUNT_DIGITS) {
                count = count * 10 + (bytes[p] - '0');
            }
            p++;
        }
        if (p < to) {
            if (endsScalar(bytes[p])) {
                endScalar();
                return nextKey(bytes, p, to);
            }
            state = IN_SCALAR;
        }
        return p;
    }

    private int scalar(byte[] bytes, int from, int to) {
        int p = from;
        while (p < to && !endsScalar(bytes[p])) {
            p++;
        }
        if (p < to) {
            endScalar();
            return nextKey(bytes, p, to);
        }
        return p;
    }

    private static boolean endsScalar(byte c) {
        return c <= ',' ? c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r' : c == '}' || c == ']';
    }

    private void endScalar() {
        if (state == IN_COUNT && countDigits <= MAX_COUNT_DIGITS) {
            set(member, count);
        }
        endValue();
    }

    private int nested(byte[] bytes, int from, int to) {
        int p = from;
        while (true) {
            while (p + Long.BYTES <= to) {
                long word = (long) LONGS.get(bytes, p);
                long quote = word ^ QUOTES;
                long bracket = (word & BRACKET_MASK) ^ BRACKETS;
                long stops =
                        (((quote - ONES) & ~quote) | ((bracket - ONES) & ~bracket) | ((word - SPACES) & ~word)) & HIGHS;
                if (stops != 0) {
                    p += Long.numberOfTrailingZeros(stops) >>> 3;
                    break;
                }
                p += Long.BYTES;
            }
            if (p >= to) {
                return to;
            }
            switch (bytes[p]) {
                case '"' -> {
                    beginString(IN_NESTED_STRING);
                    return p + 1;
                }
                case '{', '[' -> depth++;
                case '}', ']' -> {
                    if (--depth == 0) {
                        endValue();
                        return nextKey(bytes, p + 1, to);
                    }
                }
                case '\n', '\r' -> {
                    return p;
                }
                default -> {}
            }
            p++;
        }
    }

    /** The position of the quote that ends a string, or of a line's end, else {@code to}. */
    private int stringEnd(byte[] bytes, int from, int to) {
        int p = from;
        while (true) {
            if (escaped && p < to) {
                if (bytes[p] == '\n' || bytes[p] == '\r') {
                    return p;
                }
                escaped = false;
                p++;
            }
            while (p + Long.BYTES <= to) {
                long word = (long) LONGS.get(bytes, p);
                long quote = word ^ QUOTES;
                long backslash = word ^ BACKSLASHES;
                long stops = (((quote - ONES) & ~quote) | ((backslash - ONES) & ~backslash) | ((word - SPACES) & ~word))
                        & HIGHS;
                if (stops != 0) {
                    p += Long.numberOfTrailingZeros(stops) >>> 3;
                    break;
                }
                p += Long.BYTES;
            }
            if (p >= to) {
                return to;
            }
            byte c = bytes[p];
            if (c == '"' || c == '\n' || c == '\r') {
                return p;
            }
            if (c == '\\') {
                escapes = true;
                escaped = true;
            }
            p++;
        }
    }

    /** Keeps the first bytes of a string; {@code captured} beyond the limit says that there were more. */
    private void capture(byte[] bytes, int from, int to) {
        int kept = Math.min(to - from, MAX_CAPTURE - captured);
        if (kept > 0) {
            if (capture == null) {
                capture = new byte[MAX_CAPTURE];
            }
            System.arraycopy(bytes, from, capture, captured, kept);
        }
        captured = Math.min(MAX_CAPTURE + 1, captured + (to - from));
    }

    private String capturedText() {
        if (capture == null) {
            return "";
        }
        String text = new String(capture, 0, Math.min(captured, MAX_CAPTURE), StandardCharsets.UTF_8);
        return escapes ? unescape(text) : text;
    }

    /** The text of a reason without escapes. */
    private static String reasonOf(byte[] bytes, int from, int to) {
        return cut(textOf(USUAL_REASONS, bytes, from, to));
    }

    private static String textOf(Reason[] usually, byte[] bytes, int from, int to) {
        for (Reason usual : usually) {
            if (Arrays.equals(bytes, from, to, usual.bytes, 0, usual.bytes.length)) {
                return usual.text;
            }
        }
        return new String(bytes, from, Math.min(to - from, MAX_CAPTURE), StandardCharsets.UTF_8);
    }

    private static Reason[] reasons(String... texts) {
        return Stream.of(texts).map(Reason::new).toArray(Reason[]::new);
    }

    private static String cut(String reason) {
        return reason.length() > MAX_REASON_CHARS ? reason.substring(0, MAX_REASON_CHARS) : reason;
    }

    private static String unescape(String text) {
        StringBuilder out = new StringBuilder(text.length());
        int i = 0;
        while (i < text.length()) {
            char c = text.charAt(i++);
            if (c != '\\' || i == text.length()) {
                out.append(c);
                continue;
            }
            char kind = text.charAt(i++);
            switch (kind) {
                case 'b' -> out.append('\b');
                case 'f' -> out.append('\f');
                case 'n' -> out.append('\n');
                case 'r' -> out.append('\r');
                case 't' -> out.append('\t');
                case 'u' -> {
                    int unit = 0;
                    int end = Math.min(i + 4, text.length());
                    for (; i < end; i++) {
                        unit = (unit << 4) | Math.max(0, Character.digit(text.charAt(i), 16));
                    }
                    out.append((char) unit);
                }
                default -> out.append(kind);
            }
        }
        return out.toString();
    }
}
