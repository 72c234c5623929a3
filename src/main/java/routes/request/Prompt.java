package routes.request;

import org.jspecify.annotations.Nullable;

/**
 * What the gateway knows about a request's body, JSON or a form: the few values that decide how it is handled, and where the rest
 * stands. All offsets count bytes from the body's first byte; {@code start} is inclusive, {@code end} exclusive, and -1
 * means that the body has no such thing.
 *
 * <p><b>Ownership</b>: holds no reference to the body.
 */
public final class Prompt {

    /** The shape of the client's {@code stream_options}. */
    public enum StreamOptions {
        ABSENT,
        NULL,
        OBJECT,
        /** Neither an object nor null: the replica answers 400, the gateway leaves it alone. */
        OTHER
    }

    private int insertAt = -1;
    private String model = "";
    private int modelStart = -1;
    private int modelEnd = -1;
    private boolean stream;
    private StreamOptions streamOptions = StreamOptions.ABSENT;
    private int streamOptionsStart = -1;
    private int streamOptionsEnd = -1;
    private boolean streamOptionsEmpty;
    private boolean usageAsked;
    private int includeUsageStart = -1;
    private int includeUsageEnd = -1;
    private @Nullable String user;
    private @Nullable String promptCacheKey;
    private int n = 1;
    private long maxTokens = -1;
    private long priority;
    private boolean priorityGiven;
    private int cacheSaltStart = -1;
    private int cacheSaltEnd = -1;
    private int toolsStart = -1;
    private int toolsEnd = -1;
    private int messagesStart = -1;
    private int messagesEnd = -1;
    private int firstUserEnd = -1;
    private int lastTurnStart = -1;
    private int promptStart = -1;
    private int promptEnd = -1;
    private int systemStart = -1;
    private int systemEnd = -1;
    private @Nullable String previousResponseId;
    private boolean background;
    private boolean store = true;
    private boolean form;

    private Prompt() {}

    /** The model's name, decoded, neither trimmed nor folded. */
    public String model() {
        return model;
    }

    /** Start of the model's JSON string, at its opening quote; in a form of its value. */
    public int modelStart() {
        return modelStart;
    }

    /** End of the model's JSON string, behind its closing quote. */
    public int modelEnd() {
        return modelEnd;
    }

    /** Whether the answer is to be streamed. */
    public boolean stream() {
        return stream;
    }

    /** Whether the client itself wrote {@code "include_usage": true}. */
    public boolean usageAsked() {
        return usageAsked;
    }

    public StreamOptions streamOptions() {
        return streamOptions;
    }

    public int streamOptionsStart() {
        return streamOptionsStart;
    }

    public int streamOptionsEnd() {
        return streamOptionsEnd;
    }

    /** Whether {@code stream_options} is an object without members. */
    public boolean streamOptionsEmpty() {
        return streamOptionsEmpty;
    }

    /** Start of the value of {@code stream_options.include_usage}. */
    public int includeUsageStart() {
        return includeUsageStart;
    }

    public int includeUsageEnd() {
        return includeUsageEnd;
    }

    /** Where a first member can be inserted: just behind the body's opening brace. The body is never an empty object. */
    public int insertAt() {
        return insertAt;
    }

    /** The client's {@code user}, at most 256 characters of it; null when absent or not a string. */
    public @Nullable String user() {
        return user;
    }

    /** The client's {@code prompt_cache_key}, at most 256 characters of it; null when absent or not a string. */
    public @Nullable String promptCacheKey() {
        return promptCacheKey;
    }

    /** How many answers are asked for, 1 to 1024. */
    public int n() {
        return n;
    }

    /** The most tokens that an answer may have ({@code max_completion_tokens}, else {@code max_tokens}); -1 if not given. */
    public long maxTokens() {
        return maxTokens;
    }

    /** The client's {@code priority}, lower is earlier; 0 if not given. */
    public long priority() {
        return priority;
    }

    public boolean priorityGiven() {
        return priorityGiven;
    }

    /** Start of the value of {@code cache_salt}, whatever its type. */
    public int cacheSaltStart() {
        return cacheSaltStart;
    }

    public int cacheSaltEnd() {
        return cacheSaltEnd;
    }

    public int toolsStart() {
        return toolsStart;
    }

    public int toolsEnd() {
        return toolsEnd;
    }

    public int messagesStart() {
        return messagesStart;
    }

    public int messagesEnd() {
        return messagesEnd;
    }

    /** End of the first message of role user, else of the first message. */
    public int firstUserEnd() {
        return firstUserEnd;
    }

    /** Start of the last message of role user or tool. */
    public int lastTurnStart() {
        return lastTurnStart;
    }

    /** Start of the value of {@code prompt} or {@code input}, whichever comes first. */
    public int promptStart() {
        return promptStart;
    }

    public int promptEnd() {
        return promptEnd;
    }

    /** Start of what stands before all messages: Anthropic's top-level {@code system}, {@code instructions} of a response. */
    public int systemStart() {
        return systemStart;
    }

    public int systemEnd() {
        return systemEnd;
    }

    /** The response that this one goes on from; null for none. */
    public @Nullable String previousResponseId() {
        return previousResponseId;
    }

    /** Whether the response is made after it was answered. */
    public boolean background() {
        return background;
    }

    /** Whether the replica may keep the response. */
    public boolean store() {
        return store;
    }

    /** Whether the body is a form, where values stand as they are, and not JSON. */
    public boolean form() {
        return form;
    }

    /**
     * A prompt while it is being read.
     *
     * <p><b>Threading</b>: confined to the reader; the prompt is immutable once {@link #finish()} has returned it, and
     * the draft is of no further use.
     */
    public static final class Draft {

        private @Nullable Prompt prompt = new Prompt();

        public void insertAt(int offset) {
            open().insertAt = offset;
        }

        public void model(String name, int start, int end) {
            Prompt draft = open();
            draft.model = name;
            draft.modelStart = start;
            draft.modelEnd = end;
        }

        public void stream(boolean value) {
            open().stream = value;
        }

        public void streamOptions(StreamOptions kind, int start, int end) {
            Prompt draft = open();
            draft.streamOptions = kind;
            draft.streamOptionsStart = start;
            draft.streamOptionsEnd = end;
        }

        public void streamOptionsEmpty() {
            open().streamOptionsEmpty = true;
        }

        public void includeUsage(boolean asked, int start, int end) {
            Prompt draft = open();
            draft.usageAsked = asked;
            draft.includeUsageStart = start;
            draft.includeUsageEnd = end;
        }

        public void user(@Nullable String value) {
            open().user = value;
        }

        public void promptCacheKey(@Nullable String value) {
            open().promptCacheKey = value;
        }

        public void n(int value) {
            open().n = value;
        }

        public void maxTokens(long value) {
            open().maxTokens = value;
        }

        public void priority(long value) {
            Prompt draft = open();
            draft.priority = value;
            draft.priorityGiven = true;
        }

        public void cacheSalt(int start, int end) {
            Prompt draft = open();
            draft.cacheSaltStart = start;
            draft.cacheSaltEnd = end;
        }

        public void tools(int start, int end) {
            Prompt draft = open();
            draft.toolsStart = start;
            draft.toolsEnd = end;
        }

        public void messages(int start, int end) {
            Prompt draft = open();
            draft.messagesStart = start;
            draft.messagesEnd = end;
        }

        public void turns(int firstUserEnd, int lastTurnStart) {
            Prompt draft = open();
            draft.firstUserEnd = firstUserEnd;
            draft.lastTurnStart = lastTurnStart;
        }

        /** Keeps the first span that is given. */
        public void prompt(int start, int end) {
            Prompt draft = open();
            if (draft.promptStart < 0) {
                draft.promptStart = start;
                draft.promptEnd = end;
            }
        }

        public void system(int start, int end) {
            Prompt draft = open();
            draft.systemStart = start;
            draft.systemEnd = end;
        }

        public void previousResponseId(String id) {
            open().previousResponseId = id;
        }

        public void background(boolean value) {
            open().background = value;
        }

        public void store(boolean value) {
            open().store = value;
        }

        public void form() {
            open().form = true;
        }

        public Prompt finish() {
            Prompt finished = open();
            prompt = null;
            return finished;
        }

        private Prompt open() {
            if (prompt == null) {
                throw new IllegalStateException("the prompt is finished");
            }
            return prompt;
        }
    }
}
