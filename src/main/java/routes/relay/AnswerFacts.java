package routes.relay;

import org.jspecify.annotations.Nullable;

/**
 * What was seen in an answer. Facts come from whole events and whole documents only: what was cut off in the middle, or
 * is not JSON, adds nothing.
 *
 * <p><b>Threading</b>: event-loop confined.
 */
public final class AnswerFacts {

    private long promptTokens = -1;
    private long completionTokens = -1;
    private long totalTokens = -1;
    private long cachedTokens = -1;
    private long reasoningTokens = -1;
    private long events;
    private @Nullable String finishReason;
    private boolean done;
    private boolean error;
    private boolean usageOnly;
    private boolean runningUsage;
    private boolean finalUsage;

    /** {@code usage.prompt_tokens} of the last usage seen; -1 when unknown. Totals are never summed. */
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
     * Whether the last usage seen stood where only a final one stands: in a document, or in an event without choices.
     * False for running totals, which may fall short when the answer broke off.
     */
    public boolean usageFinal() {
        return finalUsage;
    }

    /** Whether usage was seen on an event with choices. */
    public boolean runningUsage() {
        return runningUsage;
    }

    /** Whether an event with {@code "choices":[]} and a usage object was seen, cut or not. */
    public boolean usageOnlySeen() {
        return usageOnly;
    }

    /** The last {@code choices[*].finish_reason} that is not null, at most 32 characters; null without one. */
    public @Nullable String finishReason() {
        return finishReason;
    }

    /** Whether {@code data: [DONE]} was seen. No proof of success: it follows errors too. */
    public boolean sawDone() {
        return done;
    }

    /** Whether an event or a document had a top-level {@code error} that is not null. */
    public boolean errorSeen() {
        return error;
    }

    /** Events with at least one element in {@code choices}. Not tokens: an event carries any number of them. */
    public long events() {
        return events;
    }

    /** Whether an event with choices was seen; comments and blocks without data never count. */
    public boolean firstToken() {
        return events > 0;
    }

    void sawDone(boolean seen) {
        done |= seen;
    }

    /** Takes what stands in the JSON of an event. */
    void event(AnswerWalker json) {
        boolean filled = json.choicesFilled();
        if (filled) {
            events++;
        }
        usageOnly |= json.usageOnly();
        runningUsage |= filled && json.usageSeen();
        take(json, !filled);
    }

    /** Takes what stands in an answer that is one document. */
    void document(AnswerWalker json) {
        take(json, true);
    }

    private void take(AnswerWalker json, boolean last) {
        error |= json.errorSeen();
        String reason = json.finishReason();
        if (reason != null) {
            finishReason = reason;
        }
        if (json.usageSeen() && json.hasCounts()) {
            promptTokens = json.promptTokens();
            completionTokens = json.completionTokens();
            totalTokens = json.totalTokens();
            cachedTokens = json.cachedTokens();
            reasoningTokens = json.reasoningTokens();
            finalUsage = last;
        }
    }
}
