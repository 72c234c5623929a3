package routes.simulation;

/** One request and what became of it. Times are seconds; below 0 when it hasn't come so far. */
final class Turn {

    final Chain prompt;
    final int answerTokens;
    final long answerId;
    final Runnable whenDone;

    int gateway;
    int replica = -1;
    double arrived;
    double firstToken = -1;
    double ended = -1;
    int cachedTokens = -1;
    boolean wentHome;

    // the engine's
    int[] path = new int[0];
    int prefillLeft;
    int chunk;
    int markedSegments;
    int markedBlocks;
    long lastStep;

    /** The router's: tokens that it believes will be computed. */
    int owed;

    /** @param answerContent what the answer says: a later prompt that contains it finds it cached */
    Turn(Chain prompt, int answerTokens, long answerContent, Runnable whenDone) {
        this.prompt = prompt.copy();
        this.answerTokens = answerTokens;
        this.answerId = prompt.after(answerContent);
        this.whenDone = whenDone;
    }

    int promptTokens() {
        return prompt.tokens();
    }

    int answerBlocks() {
        return Chain.blocksFor(answerTokens);
    }
}
