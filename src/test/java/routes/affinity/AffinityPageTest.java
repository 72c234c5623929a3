package routes.affinity;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import org.apache.camel.spi.Metadata;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import routes.replica.Backlog;
import routes.replica.Load;
import routes.request.PrefixLevels;

/** docs/affinity.md says what the code does. */
class AffinityPageTest {

    private static String page = "";
    private static String costs = "";

    private record Modelled(long hash, Backlog backlog) implements Load {
        @Override
        public int slots() {
            return 64;
        }

        @Override
        public int inFlight() {
            return 0;
        }

        @Override
        public int foreign() {
            return 0;
        }

        @Override
        public int foreignWaiting() {
            return 0;
        }

        @Override
        public long waitNanos(int slots, int ahead) {
            return 0;
        }

        @Override
        public int awaited() {
            return 0;
        }

        @Override
        public void awaited(int more) {}
    }

    @BeforeAll
    static void read() throws Exception {
        page = Files.readString(Path.of("docs/affinity.md"));
        costs = Files.readString(Path.of("docs/affinity/costs.svg"));
    }

    @Test
    void everyReasonIsExplained() {
        Arrays.stream(Choice.Why.values())
                .filter(why -> why != Choice.Why.NOBODY)
                .forEach(why -> assertThat(page).contains("| `" + why.text() + "` |"));
    }

    @Test
    void everyOptionIsListedWithItsDefault() {
        Arrays.stream(AffinityBalancer.class.getDeclaredFields())
                .filter(field -> field.isAnnotationPresent(Metadata.class))
                .forEach(field -> assertThat(page)
                        .contains("| `" + field.getName() + "` | `"
                                + field.getAnnotation(Metadata.class).defaultValue() + "` |"));
    }

    @Test
    void theExampleComesOutOfTheRule() {
        assertThat(chosen(6_000, true)).isEqualTo(6_279);
        assertThat(chosen(20_000, true)).isEqualTo(20_365);
        assertThat(chosen(24_000, false)).isEqualTo(20_460);
        for (int shown : new int[] {6_279, 20_365, 20_460, 24_389}) {
            assertThat(costs).contains(String.format(Locale.ROOT, "%,d", shown));
        }
        assertThat(page).contains(String.format(Locale.ROOT, "%,d dearer", 24_389 - 20_460));
    }

    /** The cost of the chosen one, rounded. */
    private static long chosen(long backlogAtHome, boolean home) {
        Modelled[] pool = new Modelled[8];
        Arrays.setAll(pool, i -> new Modelled(Strategy.mix(i, 1), new Backlog()));
        NestedRendezvous rule = new NestedRendezvous(Tuning.DEFAULTS, 0);
        PrefixLevels levels = PrefixLevels.of(1, new int[] {1000}, new long[] {42}, 5_000, 4_900);
        Choice choice = new Choice();
        int at = rule.choose(levels, pool, -1, 1, 0, choice);
        for (int i = 0; i < pool.length; i++) {
            pool[i].backlog.sent(i == at ? backlogAtHome : 1_000);
        }
        int chosen = rule.choose(levels, pool, -1, 1, 0, choice);
        assertThat(chosen == at).as("%s", choice.cost()).isEqualTo(home);
        return Math.round(choice.cost());
    }
}
