package routes.demo;

import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the requests of one replica share: slots, prefix cache, counters and the dice for its failures. The dice are
 * seeded with the replica's name, so that a run repeats.
 *
 * <p><b>Threading</b>: event-loop confined, but for the counters.
 */
final class Engine {

    private static final int REMEMBERED_PREFIXES = 65_536;

    final DemoOptions options;
    final Slots slots;
    final StoredAnswers stored = new StoredAnswers();
    final AtomicLong requests = new AtomicLong();
    final AtomicLong aborted = new AtomicLong();
    final AtomicLong promptTokens = new AtomicLong();
    final AtomicLong cachedTokens = new AtomicLong();
    final AtomicLong completionTokens = new AtomicLong();
    private final PrefixCache prefixes = new PrefixCache(REMEMBERED_PREFIXES);
    private final SplittableRandom dice;

    Engine(DemoOptions options) {
        this.options = options;
        slots = new Slots(options.slots());
        dice = new SplittableRandom(options.name().hashCode());
    }

    /** Counts a prompt. @return tokens of it that stood in the prefix cache */
    int prefill(Prompt prompt) {
        int cached = prefixes.visit(prompt);
        promptTokens.addAndGet(prompt.tokens());
        cachedTokens.addAndGet(cached);
        return cached;
    }

    boolean failsNow() {
        return dice.nextDouble() < options.errorRate();
    }

    /** Tokens to send before the answer is broken by a reset, at least one if there are any; -1 for never. */
    int resetAfter(int tokens) {
        if (dice.nextDouble() >= options.resetRate()) {
            return -1;
        }
        return tokens < 2 ? tokens : 1 + dice.nextInt(tokens - 1);
    }
}
