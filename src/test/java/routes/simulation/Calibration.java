package routes.simulation;

/**
 * What a workload asks for, counted without replicas, and how much of it eight of them could do with the oracle's hits.
 *
 * @param capacity requests a second
 * @param turns requests of a session
 * @param promptTokens mean
 * @param answerTokens mean
 * @param seenShare share of the prompt tokens that a cache without bounds would have
 */
record Calibration(double capacity, double turns, double promptTokens, double answerTokens, double seenShare) {

    private static final double LOAD = 0.75;
    private static final int SEEDS = 8;

    static Calibration of(Workload workload) {
        double seconds = workload == Workload.MOONCAKE ? MooncakeTrace.SECONDS * 2 : 12_000;
        double load = workload == Workload.MOONCAKE ? 0.6 : LOAD;
        VirtualTime time = new VirtualTime();
        LongMap seen = new LongMap();
        double[] sums = new double[4];
        Sessions sessions = new Sessions(new Fleet.Setup(workload, load, 1, 1, seconds), time, turn -> {
            sums[0]++;
            sums[1] += turn.promptTokens();
            sums[2] += turn.answerTokens;
            boolean all = true;
            for (int i = 0; i < turn.prompt.segments; i++) {
                all &= seen.get(turn.prompt.ids[i], 0) != 0;
                sums[3] += all ? turn.prompt.blocks[i] * Chain.BLOCK_TOKENS : 0;
                seen.put(turn.prompt.ids[i], 1);
            }
            seen.put(turn.answerId, 1);
            time.after(0, turn.whenDone);
        });
        sessions.begin();
        time.runUntil(seconds);
        double answer = sums[2] / sums[0];
        double uncached =
                new Trials(SEEDS, 900).of(Rule.PLAIN_ORACLE, workload, LOAD, 1).uncached();
        double secondsOfRequest = uncached / Engine.PREFILL_TOKENS_PER_SECOND
                + answer * (Engine.STEP_SECONDS / Engine.SLOTS + Engine.STEP_SECONDS_PER_SEQUENCE);
        return new Calibration(
                Fleet.REPLICAS / secondsOfRequest,
                sums[0] / sessions.count(),
                sums[1] / sums[0],
                answer,
                sums[3] / sums[1]);
    }
}
