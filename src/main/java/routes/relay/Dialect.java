package routes.relay;

/** How an API's answers tell their beginning, their end and their usage. */
public enum Dialect {
    /** {@code choices} and a top-level {@code usage}; streams end with {@code [DONE]}. Embeddings, scores and audio too. */
    COMPLETIONS(AnswerWalker.Place.ROOT, AnswerWalker.Place.ROOT),

    /** OpenAI's responses: events of many types; the last one carries the whole response, with its usage. */
    RESPONSES(AnswerWalker.Place.RESPONSE_EVENT, AnswerWalker.Place.RESPONSE),

    /** A response told once more: whatever became of it, to tell it is a success, and its usage was told before. */
    STORED_RESPONSE(AnswerWalker.Place.RESPONSE_EVENT, AnswerWalker.Place.RESPONSE),

    /** Anthropic's messages: {@code message_start} to {@code message_stop}, usage as running totals. */
    MESSAGES(AnswerWalker.Place.MESSAGE_EVENT, AnswerWalker.Place.MESSAGE),

    /** Cohere's embeddings: one document, whose {@code meta} counts the tokens that went in. */
    EMBED(AnswerWalker.Place.EMBED, AnswerWalker.Place.EMBED);

    private final AnswerWalker.Place event;
    private final AnswerWalker.Place document;

    Dialect(AnswerWalker.Place event, AnswerWalker.Place document) {
        this.event = event;
        this.document = document;
    }

    /** What the JSON of an event is. */
    AnswerWalker.Place event() {
        return event;
    }

    /** What an answer is that is one document. */
    AnswerWalker.Place document() {
        return document;
    }
}
