package routes.affinity;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.camel.spi.Metadata;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import routes.replica.Replica;
import routes.replica.ReplicaAddress;
import routes.replica.Replicas;
import routes.request.PrefixLevels;

/** docs/affinity.md and its pictures say what the code does. */
class AffinityPageTest {

    private static final long ALL = -1;
    private static final long TOOLS = Strategy.mix(1, 10);
    private static final long TEAM = Strategy.mix(2, 10);
    private static final PrefixLevels LONG = conversation(5_000, 4_900);

    private final Replica[] pool = new Replica[8];
    private final NestedRendezvous rule = new NestedRendezvous(Tuning.DEFAULTS, 0);
    private final Choice choice = new Choice();
    private long now;

    AffinityPageTest() {
        Replicas replicas = new Replicas();
        Arrays.setAll(pool, i -> replicas.replica(ReplicaAddress.parse("http://gpu-" + (i + 1) + ":8000"), 64));
    }

    private static String read(String page) throws IOException {
        return Files.readString(Path.of("docs", page));
    }

    private static String text(double cost) {
        return String.format(Locale.ROOT, "%,d", Math.round(cost));
    }

    private static void assertShown(String picture, double... costs) throws IOException {
        assertThat(read("affinity/" + picture))
                .contains(Arrays.stream(costs).mapToObj(AffinityPageTest::text).toList());
    }

    private static PrefixLevels conversation(int tokens, int earlier) {
        return PrefixLevels.of(1, new int[] {100}, new long[] {42}, tokens, earlier);
    }

    private int choose(PrefixLevels levels) {
        return rule.choose(levels, pool, ALL, 1, now, choice);
    }

    // ---- lists

    @Test
    void everyReasonIsExplained() throws IOException {
        String page = read("affinity.md");
        Arrays.stream(Choice.Why.values())
                .filter(why -> why != Choice.Why.NOBODY)
                .forEach(why -> assertThat(page).contains("| `" + why.text() + "` |"));
    }

    @Test
    void everyOptionIsListedWithItsDefault() throws IOException {
        String page = read("affinity.md");
        Arrays.stream(AffinityBalancer.class.getDeclaredFields())
                .filter(field -> field.isAnnotationPresent(Metadata.class))
                .forEach(field -> assertThat(page)
                        .contains("| `" + field.getName() + "` | `"
                                + field.getAnnotation(Metadata.class).defaultValue() + "` |"));
    }

    @Test
    void whatIsSaidOfDefaultsIsWhatABalancerBeginsWith() throws Exception {
        AffinityBalancer balancer = new AffinityBalancer();
        for (Field field : AffinityBalancer.class.getDeclaredFields()) {
            Metadata option = field.getAnnotation(Metadata.class);
            if (option != null) {
                field.setAccessible(true);
                Object begins = field.get(balancer);
                String text = begins instanceof Duration duration ? duration.toSeconds() + "s" : String.valueOf(begins);
                assertThat(text.replaceFirst("\\.0$", "")).as(field.getName()).isEqualTo(option.defaultValue());
            }
        }
    }

    @Test
    void everyStrategyIsListed() throws IOException {
        assertThat(read("affinity.md"))
                .contains(Arrays.stream(Strategies.values())
                        .map(strategy -> "| `" + (strategy == Strategies.NESTED ? "affinity" : strategy.text()) + "` |")
                        .toList());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "| oracle | 0.845 ; 0.845",
                "| nested rendezvous | 0.826 ; 0.826",
                "| least loaded | 0.414 ; 0.414",
                "| nested rendezvous | 1.19 ; 1.19 s",
                "| least loaded | 59.36 ; 59.36 s",
                "| nested rendezvous | 0.828 / 1.13 | 0.826 / 1.19 | 0.819 / 1.24 | ; 0.828, 0.826 and 0.819",
                "| nested, learned warmth | 0.823 | 1.17 ; 0.823",
                "| 96.4 | ; 96.4 %"
            })
    void figuresAreTheSimulations(String there, String here) throws IOException {
        assertThat(read("simulation/affinity.md")).contains(there);
        assertThat(read("affinity.md")).contains(here);
    }

    // ---- where a prefix lives

    /** The prompt of a team's member: tools that everybody sends, what the team says, a first question. */
    private static PrefixLevels question(long team, long question) {
        return PrefixLevels.of(3, new int[] {256, 1_024, 1_100}, new long[] {TOOLS, team, question}, 1_100, 0);
    }

    private String homesOf(long team) {
        TreeSet<String> homes = new TreeSet<>();
        for (long i = 0; i < 500; i++) {
            choose(question(team, Strategy.mix(i, 20)));
            homes.add(pool[choice.home()].address().host());
        }
        return String.join(", ", homes);
    }

    @Test
    void theHomesOfThePictureComeOutOfTheRule() throws IOException {
        Random random = new Random(1);
        TreeSet<String> homesOfTools = new TreeSet<>();
        for (int i = 0; i < 4_000; i++) {
            now += TimeUnit.SECONDS.toNanos(2);
            PrefixLevels levels = question(i % 2 == 0 ? TEAM : random.nextLong(), random.nextLong());
            int chosen = choose(levels);
            rule.dispatched(levels, pool[chosen], choice, now);
            choice.ended(now);
        }
        for (int i = 0; i < 500; i++) {
            homesOfTools.add(homeOf(question(random.nextLong(), 1)));
        }
        assertThat(rule.hottest(2, now)).extracting(HotPrefix::hash).containsExactly(TOOLS, TEAM);
        assertThat(rule.hottest(2, now)).extracting(HotPrefix::homes).containsExactly(4, 2);
        assertThat(read("affinity/sets.svg"))
                .contains("everybody: " + String.join(", ", homesOfTools) + "; team: " + homesOf(TEAM)
                        + "; conversation: " + homeOf(question(TEAM, 7)) + ".");
    }

    private String homeOf(PrefixLevels levels) {
        choose(levels);
        return pool[choice.home()].address().host();
    }

    // ---- when home is left

    @ParameterizedTest
    @ValueSource(ints = {6_000, 20_000, 24_000})
    void theCostsOfThePictureComeOutOfTheRule(int toDoAtHome) throws IOException {
        int home = choose(LONG);
        for (int i = 0; i < pool.length; i++) {
            pool[i].backlog().sent(i == home ? toDoAtHome : 1_000);
        }
        double price = 2 * (1 + (toDoAtHome + 7 * 1_000) / 8.0 / 4_096);
        double atHome = toDoAtHome + price * 100;
        double elsewhere = 1_000 + price * 5_000;
        double limit = Math.min(atHome, elsewhere) + 1_024 + 0.25 * 1_000 + 0.06 * price * 5_000;

        boolean stays = choose(LONG) == home;

        assertThat(stays).isEqualTo(atHome <= limit).isEqualTo(toDoAtHome < 24_000);
        assertThat(choice.cost()).isEqualTo(stays ? atHome : elsewhere);
        assertThat(choice.why()).isEqualTo(stays ? Choice.Why.HOME : Choice.Why.SPILL_LOAD);
        assertShown("costs.svg", toDoAtHome, atHome, elsewhere, limit);
        if (!stays) {
            assertThat(read("affinity.md"))
                    .contains(
                            String.format(Locale.ROOT, "%.2f", price),
                            text(elsewhere),
                            text(atHome),
                            text(limit - elsewhere),
                            text(limit));
        }
    }

    // ---- waiting

    @Test
    void theWaitOfThePictureComesOutOfTheRule() throws IOException {
        int home = choose(LONG);
        for (int i = 0; i < pool.length; i++) {
            assertThat(pool[i].tryAcquire(i == home ? 64 : 40)).isTrue();
        }
        pool[home].backlog().held(TimeUnit.SECONDS.toNanos(8));

        assertThat(choose(LONG)).isEqualTo(home);
        assertThat(choice.waitNanos()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(125));
        double atOnce = choice.cost();
        choice.hopesFor(pool[home], 1);
        double last = 0;
        for (int waitedMillis = 250; waitedMillis <= 2_000; waitedMillis *= 2) {
            choice.isOverdue(TimeUnit.MILLISECONDS.toNanos(waitedMillis));
            assertThat(choose(LONG)).isEqualTo(home);
            last = choice.cost();
            assertShown("waiting.svg", last);
        }
        choice.isOverdue(TimeUnit.SECONDS.toNanos(4));
        assertThat(choose(LONG)).isNotEqualTo(home);
        assertThat(choice.why()).isEqualTo(Choice.Why.SPILL_FULL);
        assertShown("waiting.svg", atOnce, last + 2 * 8_000, choice.cost());
        assertThat(read("affinity.md")).contains(text(atOnce), text(choice.cost()));

        choice.hopesFor(null, 0);
        assertThat(choose(conversation(300, 200))).isNotEqualTo(home);
        assertThat(read("affinity.md")).contains(text(choice.cost()));
    }
}
