package routes.affinity;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import routes.telemetry.ConsoleSection;

/** The console's part about affinity: why replicas were chosen, and the hottest prefixes of each model, by their hashes. */
public final class AffinitySection implements ConsoleSection {

    private static final int HOTTEST = 20;

    private final Affinities affinities;

    public AffinitySection(Affinities affinities) {
        this.affinities = affinities;
    }

    @Override
    public String name() {
        return "affinity";
    }

    @Override
    public Object json() {
        Map<String, List<HotPrefix>> hottest = affinities.hottest(HOTTEST);
        Map<String, Object> pools = new LinkedHashMap<>();
        affinities
                .counts()
                .forEach((pool, counts) -> pools.put(pool, describe(counts, hottest.getOrDefault(pool, List.of()))));
        return pools;
    }

    private static Map<String, Object> describe(AffinityCounts counts, List<HotPrefix> hottest) {
        Map<String, Object> of = new LinkedHashMap<>();
        Map<String, Object> choices = new LinkedHashMap<>();
        for (Choice.Why why : Choice.Why.values()) {
            if (counts.choices(why) > 0) {
                choices.put(why.text(), counts.choices(why));
            }
        }
        of.put("choices", choices);
        of.put("promptTokens", counts.promptTokens());
        of.put("predictedCachedTokens", counts.predictedTokens());
        of.put("reportedCachedTokens", counts.reportedTokens());
        of.put(
                "hottestPrefixes",
                hottest.stream().map(AffinitySection::describe).toList());
        return of;
    }

    private static Map<String, Object> describe(HotPrefix prefix) {
        Map<String, Object> of = new LinkedHashMap<>();
        of.put("hash", Long.toHexString(prefix.hash()));
        of.put("usesInPeriod", Math.round(prefix.uses() * 1000) / 1e3);
        of.put("homes", prefix.homes());
        of.put("lastUseSecondsAgo", TimeUnit.NANOSECONDS.toSeconds(prefix.ageNanos()));
        return of;
    }
}
