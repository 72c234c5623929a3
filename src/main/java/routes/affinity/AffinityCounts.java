package routes.affinity;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumSet;
import java.util.concurrent.atomic.LongAdder;

/**
 * What the choices for one model came to.
 *
 * <p><b>Threading:</b> any thread.
 */
final class AffinityCounts {

    private final LongAdder[] choices = new LongAdder[Choice.Why.values().length];
    private final LongAdder promptTokens = new LongAdder();
    private final LongAdder predictedTokens = new LongAdder();
    private final LongAdder reportedTokens = new LongAdder();

    AffinityCounts() {
        for (int i = 0; i < choices.length; i++) {
            choices[i] = new LongAdder();
        }
    }

    void sent(Choice.Why why) {
        choices[why.ordinal()].increment();
    }

    void reported(long prompt, long predicted, long cached) {
        promptTokens.add(prompt);
        predictedTokens.add(predicted);
        reportedTokens.add(cached);
    }

    long choices(Choice.Why why) {
        return choices[why.ordinal()].sum();
    }

    long promptTokens() {
        return promptTokens.sum();
    }

    long predictedTokens() {
        return predictedTokens.sum();
    }

    long reportedTokens() {
        return reportedTokens.sum();
    }

    void bindTo(MeterRegistry registry, String pool) {
        for (Choice.Why why : EnumSet.complementOf(EnumSet.of(Choice.Why.NOBODY))) {
            FunctionCounter.builder("dromedary.affinity.choices", choices[why.ordinal()], LongAdder::sum)
                    .tag("pool", pool)
                    .tag("why", why.text())
                    .description("Attempts by why their replica was chosen.")
                    .register(registry);
        }
        tokens(
                registry,
                pool,
                "dromedary.affinity.prompt.tokens",
                "Prompt tokens of answers whose replica reported how many of them it had cached.",
                promptTokens);
        tokens(
                registry,
                pool,
                "dromedary.affinity.predicted.cached.tokens",
                "Of these prompt tokens, those that were expected to be cached.",
                predictedTokens);
        tokens(
                registry,
                pool,
                "dromedary.affinity.reported.cached.tokens",
                "Of these prompt tokens, those that were cached.",
                reportedTokens);
    }

    private static void tokens(MeterRegistry registry, String pool, String name, String description, LongAdder value) {
        FunctionCounter.builder(name, value, LongAdder::sum)
                .tag("pool", pool)
                .description(description)
                .register(registry);
    }
}
