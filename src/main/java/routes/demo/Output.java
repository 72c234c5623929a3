package routes.demo;

/**
 * Where an answer goes while it is generated: one {@link #begin}, a {@link #token} for each index, one {@link #end}.
 */
interface Output {

    /** The prompt was read. */
    void begin(int cachedTokens);

    /** The next token of every choice; {@code index} counts from 0. */
    void token(int index);

    /** All tokens are there; ends the response. */
    void end();
}
