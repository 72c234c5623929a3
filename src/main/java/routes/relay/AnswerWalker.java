package routes.relay;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A walk over one JSON object that picks {@code usage}, {@code choices[*].finish_reason} and {@code error} at the top
 * level, and builds no tree. A read may end at any byte.
 *
 * <p>Only few places matter: the root, {@code usage} with its two details, {@code choices} and its elements. The place
 * that surrounds each of them is fixed, so there is no stack; everything else is skipped by counting brackets outside
 * strings. Checks as much JSON as it takes to know where it stands, no more.
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
    private static final Reason[] USUAL_REASONS = Stream.of("stop", "length", "tool_calls", "abort", "content_filter")
            .map(Reason::new)
            .toArray(Reason[]::new);

    /** Where the walk stands: the innermost container that matters. */
    private enum Place {
        NOWHERE,
        ROOT,
        USAGE,
        PROMPT_DETAILS,
        COMPLETION_DETAILS,
        CHOICES,
        CHOICE
    }

    /** Whose value comes next. */
    private enum Member {
        OTHER(""),
        USAGE("usage"),
        CHOICES("choices"),
        ERROR("error"),
        FINISH_REASON("finish_reason"),
        PROMPT_DETAILS("prompt_tokens_details"),
        COMPLETION_DETAILS("completion_tokens_details"),
        PROMPT_TOKENS("prompt_tokens"),
        COMPLETION_TOKENS("completion_tokens"),
        TOTAL_TOKENS("total_tokens"),
        CACHED_TOKENS("cached_tokens"),
        REASONING_TOKENS("reasoning_tokens");

        private final byte[] name;

        Member(String name) {
            this.name = name.getBytes(StandardCharsets.US_ASCII);
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

    private int state;
    private Place place = Place.NOWHERE;
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
    private @Nullable String finishReason;
    private boolean usage;
    private boolean choicesEmpty;
    private boolean choicesFilled;
    private boolean error;

    AnswerWalker() {
        begin();
    }

    /** Forgets everything: a new document begins. */
    void begin() {
        state = BEFORE_VALUE;
        place = Place.NOWHERE;
        member = Member.OTHER;
        escaped = false;
        finishReason = null;
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
            case '"' -> beginString(member == Member.FINISH_REASON ? IN_REASON : IN_STRING);
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
            enter(Place.ROOT, BEFORE_FIRST_KEY);
        } else if (place == Place.CHOICES) {
            enter(Place.CHOICE, BEFORE_FIRST_KEY);
        } else if (member == Member.USAGE) {
            forgetCounts();
            enter(Place.USAGE, BEFORE_FIRST_KEY);
        } else if (member == Member.PROMPT_DETAILS) {
            enter(Place.PROMPT_DETAILS, BEFORE_FIRST_KEY);
        } else if (member == Member.COMPLETION_DETAILS) {
            enter(Place.COMPLETION_DETAILS, BEFORE_FIRST_KEY);
        } else {
            nest();
        }
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
        usage |= place == Place.USAGE;
        place = switch (place) {
            case USAGE, CHOICES -> Place.ROOT;
            case PROMPT_DETAILS, COMPLETION_DETAILS -> Place.USAGE;
            case CHOICE -> Place.CHOICES;
            case ROOT, NOWHERE -> Place.NOWHERE;
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
        } else if (named == Member.PROMPT_DETAILS) {
            cachedTokens = -1;
        } else if (named == Member.COMPLETION_DETAILS) {
            reasoningTokens = -1;
        }
    }

    private void forgetCounts() {
        promptTokens = -1;
        completionTokens = -1;
        totalTokens = -1;
        cachedTokens = -1;
        reasoningTokens = -1;
    }

    private void set(Member named, long value) {
        switch (named) {
            case PROMPT_TOKENS -> promptTokens = value;
            case COMPLETION_TOKENS -> completionTokens = value;
            case TOTAL_TOKENS -> totalTokens = value;
            case CACHED_TOKENS -> cachedTokens = value;
            case REASONING_TOKENS -> reasoningTokens = value;
            default -> throw new IllegalStateException("member: " + named + " (expected: a count)");
        }
    }

    private int reason(byte[] bytes, int from, int to) {
        int p = stringEnd(bytes, from, to);
        boolean ends = p < to && bytes[p] == '"';
        if (ends && captured == 0 && !escapes) {
            finishReason = reasonOf(bytes, from, p);
        } else {
            capture(bytes, from, p);
            if (!ends) {
                return p;
            }
            finishReason = cut(capturedText());
        }
        endValue();
        return nextKey(bytes, p + 1, to);
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
        for (Reason usual : USUAL_REASONS) {
            if (Arrays.equals(bytes, from, to, usual.bytes, 0, usual.bytes.length)) {
                return usual.text;
            }
        }
        return cut(new String(bytes, from, Math.min(to - from, MAX_CAPTURE), StandardCharsets.UTF_8));
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
