package routes.relay;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What was seen in an answer. Facts come from whole events and whole documents only: what was cut off in the middle, or
 * is not JSON, adds nothing.
 *
 * <p><b>Threading</b>: event-loop confined.
 */
public final class AnswerFacts {

    private final Dialect dialect;
    private boolean begun;
    private boolean usageCounts = true;
    private @Nullable Consumer<String> onResponseId;
    private long promptTokens = -1;
    private long completionTokens = -1;
    private long totalTokens = -1;
    private long cachedTokens = -1;
    private long reasoningTokens = -1;
    private long events;
    private long countedEvents;
    private @Nullable String finishReason;
    private boolean done;
    private boolean error;
    private boolean usageOnly;
    private boolean runningUsage;
    private boolean finalUsage;

    /** Of completions. */
    public AnswerFacts() {
        this(Dialect.COMPLETIONS);
    }

    public AnswerFacts(Dialect dialect) {
        this.dialect = dialect;
    }

    /** How the answer is told. */
    Dialect dialect() {
        return dialect;
    }

    /** The answer tells a usage that was counted before: it adds nothing here. */
    public void ignoreUsage() {
        usageCounts = false;
    }

    /** @param action told the id of a response as soon as the answer has named it, before the client has it */
    public void onResponseId(Consumer<String> action) {
        onResponseId = action;
    }

    /**
     * {@code usage.prompt_tokens} of the last usage seen; -1 when unknown. Totals are never summed. Of a message, what was
     * read from the cache or written to it is counted too.
     */
    public long promptTokens() {
        return promptTokens;
    }

    /** {@code usage.completion_tokens}; -1 when unknown, as in embeddings. */
    public long completionTokens() {
        return completionTokens;
    }

    /** {@code usage.total_tokens}; -1 when unknown. */
    public long totalTokens() {
        return totalTokens;
    }

    /** {@code usage.prompt_tokens_details.cached_tokens}; -1 when unknown. */
    public long cachedTokens() {
        return cachedTokens;
    }

    /** {@code usage.completion_tokens_details.reasoning_tokens}; -1 when unknown. */
    public long reasoningTokens() {
        return reasoningTokens;
    }

    /** Whether prompt, completion or total tokens are known. */
    public boolean usageKnown() {
        return promptTokens >= 0 || completionTokens >= 0 || totalTokens >= 0;
    }

    /**
     * Whether the last usage seen stood where only a final one stands: in a document, or in an event without choices that no
     * event with choices followed. False for running totals, which may fall short when the answer broke off.
     */
    public boolean usageFinal() {
        return finalUsage && uncountedEvents() == 0;
    }

    /** Whether usage was seen on an event with choices. */
    public boolean runningUsage() {
        return runningUsage;
    }

    /** Whether an event with {@code "choices":[]} and a usage object was seen, cut or not. */
    public boolean usageOnlySeen() {
        return usageOnly;
    }

    /**
     * The last {@code choices[*].finish_reason} that is not null, at most 32 characters; null without one. For a response
     * why it is incomplete, else its last status; for a message its {@code stop_reason}.
     */
    public @Nullable String finishReason() {
        return finishReason;
    }

    /**
     * Whether the stream said that it is complete: by {@code data: [DONE]}, by a response's last event, by {@code
     * message_stop}. No proof of success: it follows errors too.
     */
    public boolean sawDone() {
        return done;
    }

    /** Whether an event or a document had a top-level {@code error} that is not null. */
    public boolean errorSeen() {
        return error;
    }

    /**
     * Events with at least one element in {@code choices}; of responses and messages those that carry a piece of the
     * answer. Not tokens: an event carries any number of them.
     */
    public long events() {
        return events;
    }

    /** Events since the last usage that counted the answer's tokens. */
    public long uncountedEvents() {
        return events - countedEvents;
    }

    /** Whether an event came that shows the replica at work, be it without a piece of the answer. */
    public boolean begun() {
        return begun;
    }

    /** Whether an event with choices was seen; comments and blocks without data never count. */
    public boolean firstToken() {
        return events > 0;
    }

    /** Dialects with a last event of their own don't rely on {@code [DONE]}. */
    void sawDone(boolean seen) {
        done |= seen && dialect == Dialect.COMPLETIONS;
    }

    /** Takes what stands in the JSON of an event. */
    void event(AnswerWalker json) {
        if (dialect != Dialect.COMPLETIONS) {
            begun = true;
            if (dialect == Dialect.MESSAGES) {
                messageEvent(json);
            } else {
                responseEvent(json);
            }
            return;
        }
        boolean filled = json.choicesFilled();
        if (filled) {
            events++;
            begun = true;
        }
        usageOnly |= json.usageOnly();
        runningUsage |= filled && json.usageSeen();
        take(json, !filled);
    }

    /** Takes what stands in an answer that is one document. */
    void document(AnswerWalker json) {
        switch (dialect) {
            case COMPLETIONS -> take(json, true);
            case RESPONSES, STORED_RESPONSE -> response(json, true);
            case MESSAGES -> {
                reason(json);
                error |= json.errorSeen();
                messageUsage(json, true);
            }
            case EMBED -> {
                take(json, true);
                totalTokens = promptTokens;
            }
        }
    }

    // ---- responses

    private void responseEvent(AnswerWalker json) {
        String type = json.type();
        if (type == null) {
            // an error without a type, as other APIs send it
            error |= json.errorSeen();
        } else if (type.endsWith(".delta")) {
            events++;
        } else {
            boolean last =
                    switch (type) {
                        case "response.completed", "response.incomplete", "response.failed", "response.cancelled" ->
                            true;
                        default -> false;
                    };
            error |= type.equals("error") || type.equals("response.failed") && dialect == Dialect.RESPONSES;
            done |= last;
            response(json, last);
        }
    }

    /** @param last whether nothing follows, so that its status is what became of it */
    private void response(AnswerWalker json, boolean last) {
        String id = json.id();
        Consumer<String> action = onResponseId;
        if (id != null && action != null) {
            onResponseId = null;
            action.accept(id);
        }
        if (last && json.finishReason() == null) {
            finishReason = json.status() == null ? finishReason : json.status();
        } else {
            reason(json);
        }
        error |= dialect == Dialect.RESPONSES && json.errorSeen();
        usage(json, last);
    }

    // ---- messages

    private void messageEvent(AnswerWalker json) {
        String type = json.type();
        error |= json.errorSeen();
        if (type == null) {
            return;
        }
        switch (type) {
            case "content_block_delta" -> events++;
            case "message_start" -> messagePrompt(json);
            case "message_delta" -> {
                reason(json);
                messageUsage(json, json.finishReason() != null);
            }
            case "message_stop" -> {
                done = true;
                finalUsage = usageKnown();
            }
            case "error" -> error = true;
            default -> {}
        }
    }

    /** What a message's beginning says of its answer is a placeholder. */
    private void messagePrompt(AnswerWalker json) {
        boolean tellsCache = json.cachedTokens() >= 0 || cachedTokens < 0;
        if (json.usageSeen() && json.promptTokens() >= 0 && tellsCache) {
            promptTokens =
                    json.promptTokens() + Math.max(0, json.cachedTokens()) + Math.max(0, json.cacheCreationTokens());
            cachedTokens = json.cachedTokens();
            runningUsage = true;
        }
    }

    /** Each total stands for itself: the end of a message may tell the answer's tokens only. */
    private void messageUsage(AnswerWalker json, boolean last) {
        messagePrompt(json);
        if (json.usageSeen() && json.completionTokens() >= 0) {
            completionTokens = json.completionTokens();
            totalTokens = promptTokens < 0 ? -1 : promptTokens + completionTokens;
            countedEvents = events;
            finalUsage = last;
            runningUsage |= !last;
        }
    }

    // ---- all

    private void take(AnswerWalker json, boolean last) {
        error |= json.errorSeen();
        reason(json);
        usage(json, last);
    }

    private void reason(AnswerWalker json) {
        String reason = json.finishReason();
        if (reason != null) {
            finishReason = reason;
        }
    }

    private void usage(AnswerWalker json, boolean last) {
        if (usageCounts && json.usageSeen() && json.hasCounts()) {
            promptTokens = json.promptTokens();
            completionTokens = json.completionTokens();
            totalTokens = json.totalTokens();
            cachedTokens = json.cachedTokens();
            reasoningTokens = json.reasoningTokens();
            countedEvents = completionTokens >= 0 ? events : countedEvents;
            finalUsage = last;
        }
    }
}
