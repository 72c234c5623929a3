package routes.simulation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/**
 * A made-up hour of long conversations with the statistics that Mooncake published for its own (FAST '25, conversation
 * trace): 12,031 requests, 12,035 tokens in and 343 out on average, 0.374 of them seen before by a cache without bounds, and
 * a median of 123 s until a conversation goes on.
 */
final class MooncakeTrace {

    static final int REQUESTS = 12_031;
    static final double SECONDS = 3537;
    private static final int SHARED_TOKENS = 512;
    private static final double GOES_ON = 0.375;
    private static final Lengths FIRST = new Lengths(9700, 1.3, 32, 100_000);
    private static final Lengths LATER = new Lengths(4000, 1.2, 32, 100_000);
    private static final Lengths ANSWER = new Lengths(356, 0.9, 4, 1500);
    private static final Lengths GAP = new Lengths(133 * StrictMath.exp(0.5), 1, 3, SECONDS);
    private static final int LONGEST_PROMPT = 110_000;

    /** @param at seconds from the start of the hour */
    record Entry(double at, Chain prompt, int answerTokens, long answer) {}

    final List<Entry> entries = new ArrayList<>();

    MooncakeTrace(long seed) {
        Random random = new Random(seed * 13);
        while (entries.size() < REQUESTS) {
            // those that began before the hour: their later requests fall into it
            conversation(SECONDS * (random.nextDouble() * 4 / 3 - 1 / 3.0), random);
        }
        entries.subList(REQUESTS, entries.size()).clear();
        entries.sort(Comparator.comparingDouble(Entry::at));
    }

    private void conversation(double begins, Random random) {
        Chain chain = new Chain().add(1, SHARED_TOKENS);
        chain.systemEnd = 1;
        chain.add(random.nextLong(), FIRST.tokens(random));
        chain.firstEnd = 2;
        chain.seenEnd = 1;
        double at = begins;
        while (true) {
            if (at >= 0) {
                entries.add(new Entry(at, chain.copy(), ANSWER.tokens(random), random.nextLong()));
            }
            if (random.nextDouble() > GOES_ON || chain.tokens() > LONGEST_PROMPT) {
                return;
            }
            at += GAP.draw(random);
            if (at > SECONDS) {
                return;
            }
            chain.seenEnd = chain.segments;
            chain.add(random.nextLong(), LATER.tokens(random));
        }
    }
}
