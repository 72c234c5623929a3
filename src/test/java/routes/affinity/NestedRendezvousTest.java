package routes.affinity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import routes.replica.Backlog;
import routes.replica.Load;
import routes.request.PrefixLevels;

class NestedRendezvousTest {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final long ALL = -1;

    /** A replica that says what it is told to. */
    private static final class Modelled implements Load {
        final long hash;
        final Backlog backlog = new Backlog();
        int slots = 64;
        int inFlight;
        int foreign;
        int foreignWaiting;
        int awaited;
        long wait;

        Modelled(long number) {
            hash = new Random(number).nextLong();
        }

        @Override
        public long hash() {
            return hash;
        }

        @Override
        public int slots() {
            return slots;
        }

        @Override
        public int inFlight() {
            return inFlight;
        }

        @Override
        public int foreign() {
            return foreign;
        }

        @Override
        public int foreignWaiting() {
            return foreignWaiting;
        }

        @Override
        public long waitNanos(int needed, int ahead) {
            return wait;
        }

        @Override
        public int awaited() {
            return awaited;
        }

        @Override
        public void awaited(int more) {
            awaited += more;
        }

        @Override
        public Backlog backlog() {
            return backlog;
        }
    }

    private final Choice choice = new Choice();
    private long now = -5 * SECOND;
    private NestedRendezvous rule = rule(1);
    private Modelled[] pool = pool(8);

    private NestedRendezvous rule(int gateways) {
        Tuning.Homes homes = new Tuning.Homes(Duration.ofSeconds(5), Duration.ofSeconds(300), 32_768, gateways);
        return new NestedRendezvous(new Tuning(homes, Tuning.DEFAULTS.price(), Tuning.DEFAULTS.slack(), false), now);
    }

    private static Modelled[] pool(int size) {
        Modelled[] pool = new Modelled[size];
        Arrays.setAll(pool, Modelled::new);
        return pool;
    }

    /** A first turn: 256, 512, 1024… tokens of a system prompt, then a user's first message of 300 tokens. */
    private static PrefixLevels prompt(long system, int systemTokens, long user) {
        return turn(system, systemTokens, user, 0, systemTokens + 300);
    }

    private static PrefixLevels turn(long system, int systemTokens, long user, int earlier, int total) {
        int[] tokens = new int[PrefixLevels.MOST];
        long[] hashes = new long[PrefixLevels.MOST];
        int count = 0;
        for (int depth = 256; depth <= systemTokens; depth *= 2) {
            tokens[count] = depth;
            hashes[count++] = Strategy.mix(system, depth);
        }
        tokens[count] = systemTokens + 300;
        hashes[count++] = Strategy.mix(Strategy.mix(system, 1), user);
        return PrefixLevels.of(count, tokens, hashes, total, earlier);
    }

    private int choose(PrefixLevels levels) {
        return rule.choose(levels, pool, ALL, 1, now, choice);
    }

    private int send(PrefixLevels levels) {
        int chosen = choose(levels);
        rule.dispatched(levels, pool[chosen], choice, now);
        choice.firstToken();
        choice.ended(now);
        return chosen;
    }

    /** So many uses of a system prompt in a second, each by another user, until counts are steady. */
    private void use(NestedRendezvous of, long system, int systemTokens, double perSecond) {
        Random users = new Random(system);
        for (int i = 0; i < perSecond * 1500; i++) {
            now += (long) (SECOND / perSecond);
            Choice each = new Choice();
            PrefixLevels levels = prompt(system, systemTokens, users.nextLong());
            int chosen = of.choose(levels, pool, ALL, 1, now, each);
            of.dispatched(levels, pool[chosen], each, now);
            each.ended(now);
        }
    }

    /** A few of a thousand tenants have most of the traffic. */
    private static long tenant(Random random) {
        double u = random.nextDouble();
        return (long) (1000 * u * u * u);
    }

    /** Traffic of many tenants, of which each gateway gets a part. */
    private void useMany(int requests, double perSecond, NestedRendezvous... gateways) {
        Random random = new Random(1);
        for (int i = 0; i < requests; i++) {
            now += (long) (SECOND / perSecond);
            PrefixLevels levels = prompt(tenant(random), 2048, random.nextLong());
            NestedRendezvous gateway = gateways[random.nextInt(gateways.length)];
            int chosen = gateway.choose(levels, pool, ALL, 1, now, choice);
            gateway.dispatched(levels, pool[chosen], choice, now);
            choice.ended(now);
        }
    }

    private int[] homesOf(int prompts, long system, int systemTokens) {
        int[] homes = new int[pool.length];
        for (int user = 0; user < prompts; user++) {
            choose(prompt(system, systemTokens, user));
            homes[choice.home()]++;
        }
        return homes;
    }

    private static long used(int[] homes) {
        return Arrays.stream(homes).filter(each -> each > 0).count();
    }

    // ---- where a prefix is kept

    @Test
    void promptsThatBeginAlikeGoWhereTheFirstHasGone() {
        int home = send(prompt(1, 1024, 1));
        for (int user = 2; user < 50; user++) {
            now += 10 * SECOND;
            assertThat(send(prompt(1, 1024, user))).isEqualTo(home);
        }
        assertThat(choice.why()).isEqualTo(Choice.Why.HOME);
        assertThat(choice.warmTokens()).isEqualTo(1024);
        assertThat(choice.uncachedTokens()).isEqualTo(300);
    }

    @Test
    void promptsThatBeginDifferentlyAreSpread() {
        int[] homes = new int[pool.length];
        for (int system = 0; system < 4000; system++) {
            homes[send(prompt(system, 1024, 1))]++;
        }
        assertThat(Arrays.stream(homes).min().orElseThrow()).isGreaterThan(400);
        assertThat(Arrays.stream(homes).max().orElseThrow()).isLessThan(600);
    }

    @Test
    void deeperLevelsChooseAmongThoseOfTheLevelsBefore() {
        use(rule, 1, 1024, 0.6);
        int[] ofSystem = homesOf(500, 1, 1024);
        assertThat(used(ofSystem)).as("three within five seconds: two homes").isEqualTo(2);
        use(rule, 1, 1024, 1.2);
        int[] more = homesOf(500, 1, 1024);
        assertThat(used(more)).isEqualTo(4);
        for (int i = 0; i < pool.length; i++) {
            assertThat(ofSystem[i] == 0 || more[i] > 0)
                    .as("a home stays when there are more")
                    .isTrue();
        }
    }

    @Test
    void aPrefixThatEverybodyUsesIsKeptEverywhere() {
        use(rule, 1, 1024, 8);
        int[] homes = homesOf(2000, 1, 1024);
        assertThat(used(homes)).isEqualTo(8);
        assertThat(Arrays.stream(homes).min().orElseThrow()).isGreaterThan(150);
        assertThat(choice.warmTokens()).isEqualTo(1024);
    }

    @Test
    void aConversationStaysAtItsHome() {
        use(rule, 1, 1024, 8);
        for (long user = 0; user < 50; user++) {
            int home = send(prompt(1, 1024, user));
            assertThat(choice.home()).isEqualTo(home);
            for (int turn = 1; turn < 5; turn++) {
                now += 45 * SECOND / 100;
                assertThat(send(turn(1, 1024, user, 1324 + turn * 100, 1500 + turn * 100)))
                        .isEqualTo(home);
                assertThat(choice.uncachedTokens()).isEqualTo(176);
            }
        }
    }

    @Test
    void gatewaysThatEachSeeTheirHalfOfTheTrafficAgree() {
        NestedRendezvous here = rule(2);
        NestedRendezvous there = rule(2);
        useMany(16_000, 20, here, there);
        Random random = new Random(3);
        Choice other = new Choice();
        int agreed = 0;
        for (int i = 0; i < 2000; i++) {
            PrefixLevels levels = prompt(tenant(random), 2048, random.nextLong());
            here.choose(levels, pool, ALL, 1, now, choice);
            there.choose(levels, pool, ALL, 1, now, other);
            agreed += choice.home() == other.home() ? 1 : 0;
        }
        assertThat(agreed / 2000.0).isGreaterThanOrEqualTo(0.94);
    }

    @Test
    void gatewaysWithTheSameHistoryChooseTheSame() {
        NestedRendezvous there = rule(1);
        Choice other = new Choice();
        Random random = new Random(4);
        for (int i = 0; i < 5000; i++) {
            now += SECOND / 20;
            PrefixLevels levels = prompt(tenant(random), 2048, random.nextInt(50));
            int chosen = choose(levels);
            assertThat(there.choose(levels, pool, ALL, 1, now, other)).isEqualTo(chosen);
            rule.dispatched(levels, pool[chosen], choice, now);
            there.dispatched(levels, pool[chosen], other, now);
            choice.ended(now);
            other.ended(now);
        }
    }

    @Test
    void theOrderOfReplicasDoesNotMatter() {
        use(rule, 1, 2048, 2);
        Modelled[] reversed = pool.clone();
        for (int i = 0; i < pool.length; i++) {
            reversed[i] = pool[pool.length - 1 - i];
        }
        for (int user = 0; user < 300; user++) {
            PrefixLevels levels = prompt(user % 3, 2048, user);
            Modelled before = pool[choose(levels)];
            assertThat(reversed[rule.choose(levels, reversed, ALL, 1, now, choice)])
                    .isSameAs(before);
        }
    }

    @Test
    void aReplicaThatLeavesMovesLittleButItsOwn() {
        for (int size : new int[] {4, 8, 32}) {
            pool = pool(size);
            rule = rule(1);
            useMany(8_000, 20, rule);
            Random random = new Random(size);
            int moved = 0;
            int movedOfOthers = 0;
            int asked = 8000;
            for (int i = 0; i < asked; i++) {
                int gone = i % size;
                PrefixLevels levels = prompt(tenant(random), 2048, random.nextLong());
                choose(levels);
                int before = choice.home();
                rule.choose(levels, pool, ~(1L << gone), 1, now, choice);
                boolean moves = choice.home() != before;
                moved += moves ? 1 : 0;
                movedOfOthers += moves && before != gone ? 1 : 0;
            }
            assertThat(moved / (double) asked).as("one of %d", size).isLessThanOrEqualTo(1.0 / size + 0.04);
            assertThat(movedOfOthers / (double) asked)
                    .as("of the others when one of %d leaves", size)
                    .isLessThanOrEqualTo(0.02);
        }
    }

    // ---- when home is left

    @Test
    void aHomeThatIsBusyIsLeftWhenComputingElsewhereIsCheaper() {
        PrefixLevels levels = prompt(1, 4096, 1);
        int home = send(levels);
        // 4,380 of 4,396 tokens are cached there: elsewhere they cost 2 each, and a slack of 1,024 on top
        pool[home].backlog.sent(8_000);
        assertThat(choose(levels)).isEqualTo(home);
        pool[home].backlog.sent(8_000);
        int elsewhere = choose(levels);
        assertThat(elsewhere).isNotEqualTo(home);
        assertThat(choice.why()).isEqualTo(Choice.Why.SPILL_LOAD);
        assertThat(choice.home()).isEqualTo(home);
        assertThat(choice.warmTokens()).isZero();
        pool[home].backlog.answered(8_000);
        assertThat(choose(levels)).isEqualTo(home);
    }

    @Test
    void requestsOfOthersCountLikeOurs() {
        PrefixLevels levels = prompt(1, 256, 1);
        int home = send(levels);
        pool[home].inFlight = 8;
        assertThat(choose(levels)).isEqualTo(home);
        pool[home].foreign = 12;
        assertThat(choose(levels)).isNotEqualTo(home);
        pool[home].foreign = 0;
        pool[home].foreignWaiting = 5;
        assertThat(choose(levels)).isNotEqualTo(home);
    }

    @Test
    void aReplicaBeyondItsSlotsIsDear() {
        PrefixLevels levels = prompt(1, 256, 1);
        int home = send(levels);
        pool[home].slots = 4;
        pool[home].inFlight = 3;
        assertThat(choose(levels)).isEqualTo(home);
        pool[home].inFlight = 4;
        assertThat(choose(levels)).isNotEqualTo(home);
    }

    @Test
    void theBusierThePoolTheDearerToComputeTwice() {
        PrefixLevels levels = prompt(1, 4096, 1);
        int home = send(levels);
        for (Modelled each : pool) {
            each.backlog.sent(20_000);
        }
        pool[home].backlog.sent(16_000);
        assertThat(choose(levels))
                .as("16,000 more were too many in an idle pool")
                .isEqualTo(home);
    }

    @Test
    void withinTheSlackTheOrderDecides() {
        PrefixLevels levels = prompt(1, 1024, 1);
        int first = choose(levels);
        assertThat(choice.why()).isEqualTo(Choice.Why.HOME);
        pool[first].backlog.sent(1000);
        assertThat(choose(levels)).isEqualTo(first);
        pool[first].backlog.sent(300);
        assertThat(choose(levels)).isNotEqualTo(first);
        int second = choose(levels);
        pool[second].backlog.sent(1400);
        assertThat(choose(levels)).isNotIn(first, second);
    }

    @Test
    void neighboursThatHaveThePrefixComeBeforeOthers() {
        use(rule, 1, 4096, 0.6);
        int[] homes = homesOf(500, 1, 4096);
        assertThat(used(homes)).isEqualTo(2);
        for (int user = 0; user < 100; user++) {
            int home = choose(prompt(1, 4096, user));
            pool[home].backlog.sent(20_000);
            int neighbour = choose(prompt(1, 4096, user));
            assertThat(neighbour).isNotEqualTo(home);
            assertThat(homes[neighbour]).isPositive();
            assertThat(choice.warmTokens()).isEqualTo(4096);
            pool[home].backlog.answered(20_000);
        }
    }

    @Test
    void whatIsSpilledIsSpreadByHash() {
        int[] counts = new int[pool.length];
        int home = send(prompt(1, 256, 0));
        pool[home].backlog.sent(50_000);
        for (int user = 1; user < 2000; user++) {
            counts[choose(prompt(1, 256, user))]++;
        }
        assertThat(counts[home]).isZero();
        counts[home] = counts[(home + 1) % pool.length];
        assertThat(Arrays.stream(counts).min().orElseThrow()).isGreaterThan(200);
    }

    @Test
    void onAFollowUpOnlyTheHomeHasTheConversation() {
        PrefixLevels levels = turn(1, 1024, 7, 5000, 5200);
        int home = choose(levels);
        assertThat(choice.warmTokens()).isEqualTo(5000);
        pool[home].backlog.sent(100_000);
        int elsewhere = choose(levels);
        assertThat(elsewhere).isNotEqualTo(home);
        assertThat(choice.warmTokens()).isZero();
        assertThat(choice.uncachedTokens()).isEqualTo(5200);
    }

    @Test
    void theLastBlockIsComputedInAnyCase() {
        PrefixLevels levels = prompt(1, 1024, 7);
        send(levels);
        send(levels);
        assertThat(choice.uncachedTokens()).isEqualTo(16);
        choose(turn(1, 1024, 7, 1324, 1324));
        assertThat(choice.uncachedTokens()).isEqualTo(16);
    }

    // ---- slots

    @Test
    void aSmallPromptLeavesAFullHomeAndALongOneWaitsALittle() {
        PrefixLevels small = prompt(1, 256, 1);
        PrefixLevels large = prompt(2, 32_768, 2);
        int homeOfSmall = send(small);
        int homeOfLarge = send(large);
        for (int home : new int[] {homeOfSmall, homeOfLarge}) {
            pool[home].slots = 2;
            pool[home].inFlight = 2;
            pool[home].wait = SECOND;
        }
        assertThat(choose(small)).isNotEqualTo(homeOfSmall);
        assertThat(choice.why()).isEqualTo(Choice.Why.SPILL_FULL);
        assertThat(choice.waitNanos()).isZero();
        assertThat(choose(large)).isEqualTo(homeOfLarge);
        assertThat(choice.waitNanos()).isEqualTo(SECOND);
        pool[homeOfLarge].wait = 60 * SECOND;
        assertThat(choose(large)).isNotEqualTo(homeOfLarge);
    }

    @Test
    void noSlackMakesARequestWaitWhereAnotherIsFree() {
        PrefixLevels levels = prompt(1, 256, 1);
        int first = choose(levels);
        pool[first].wait = 1;
        assertThat(choose(levels)).isNotEqualTo(first);
    }

    @Test
    void whenAllAreFullItWaitsForItsHome() {
        PrefixLevels levels = prompt(1, 1024, 1);
        int home = send(levels);
        for (Modelled each : pool) {
            each.slots = 2;
            each.inFlight = 2;
            each.wait = SECOND;
        }
        pool[home].wait = SECOND + SECOND / 100;
        assertThat(choose(levels)).isEqualTo(home);
        assertThat(choice.why()).isEqualTo(Choice.Why.HOME);
    }

    @Test
    void theWaitIsLearnedFromHowLongSlotsAreHeld() {
        Backlog backlog = new Backlog();
        assertThat(backlog.waitNanos(4, 1)).isEqualTo(SECOND / 2);
        for (int i = 0; i < 200; i++) {
            backlog.held(8 * SECOND);
        }
        assertThat(backlog.waitNanos(4, 1)).isCloseTo(2 * SECOND, within(SECOND / 1000));
        assertThat(backlog.waitNanos(4, 2)).isCloseTo(4 * SECOND, within(SECOND / 1000));
        assertThat(backlog.waitNanos(0, 1)).isCloseTo(8 * SECOND, within(SECOND / 1000));
    }

    // ---- who can't be chosen

    @Test
    void withoutCandidatesThereIsNobody() {
        PrefixLevels levels = prompt(1, 1024, 1);
        choose(levels);
        assertThat(rule.choose(levels, pool, 0, 1, now, choice)).isEqualTo(Strategy.NOBODY);
        assertThat(choice.index()).isEqualTo(Strategy.NOBODY);
        assertThat(choice.why()).isEqualTo(Choice.Why.NOBODY);
        assertThat(rule.choose(levels, new Load[0], ALL, 1, now, choice)).isEqualTo(Strategy.NOBODY);
        assertThat(rule.choose(levels, pool(2), ~3L, 1, now, choice)).isEqualTo(Strategy.NOBODY);
    }

    @Test
    void aHomeThatIsOutIsReplacedByOneAndReturnedTo() {
        PrefixLevels levels = prompt(1, 1024, 1);
        int home = send(levels);
        int other = rule.choose(levels, pool, ~(1L << home), 1, now, choice);
        assertThat(other).isNotEqualTo(home);
        assertThat(choice.why()).isEqualTo(Choice.Why.HOME_UNAVAILABLE);
        assertThat(choice.home()).isEqualTo(other);
        assertThat(choose(levels)).isEqualTo(home);
        int third = (home + 1) % pool.length == other ? (home + 2) % pool.length : (home + 1) % pool.length;
        assertThat(rule.choose(levels, pool, ~(1L << third), 1, now, choice)).isEqualTo(home);
        assertThat(choice.why()).isEqualTo(Choice.Why.HOME);
        assertThat(rule.choose(levels, pool, 1L << third, 1, now, choice)).isEqualTo(third);
        assertThat(choice.why()).isEqualTo(Choice.Why.ONLY_ONE);
    }

    @Test
    void promptsWithoutAPrefixAreSpread() {
        int[] counts = new int[pool.length];
        for (int i = 0; i < 2000; i++) {
            now += SECOND / 1000;
            counts[choose(PrefixLevels.NONE)]++;
        }
        assertThat(choice.why()).isEqualTo(Choice.Why.NO_PREFIX);
        assertThat(choice.home()).isEqualTo(Strategy.NOBODY);
        assertThat(Arrays.stream(counts).min().orElseThrow()).isGreaterThan(180);
        pool[3].backlog.sent(10_000);
        for (int i = 0; i < 100; i++) {
            now += SECOND / 1000;
            assertThat(choose(PrefixLevels.NONE)).isNotEqualTo(3);
        }
    }

    // ---- what it does to others

    @Property(tries = 100)
    void choosingChangesNothing(
            @ForAll @IntRange(min = 1, max = 64) int size,
            @ForAll long candidates,
            @ForAll @Size(12) @LongRange(max = 30_000) long[] backlogs,
            @ForAll long seed) {
        pool = pool(size);
        for (int i = 0; i < size; i++) {
            pool[i].backlog.sent(backlogs[i % backlogs.length]);
            pool[i].wait = backlogs[(i + 5) % backlogs.length] % 3 * SECOND / 50;
        }
        send(prompt(seed, 2048, 1));
        PrefixLevels levels = prompt(seed, 2048, seed % 3);
        Choice again = new Choice();
        int chosen = rule.choose(levels, pool, candidates, 1, now, choice);
        for (int i = 0; i < 3; i++) {
            choose(prompt(seed + i, 512, i));
            rule.choose(levels, pool, candidates, 1, now, again);
        }
        assertThat(again.index()).isEqualTo(chosen);
        Choice fresh = new Choice();
        rule.choose(levels, pool, candidates, 1, now, fresh);
        assertThat(fresh).usingRecursiveComparison().isEqualTo(again);
        if (chosen >= 0) {
            assertThat(candidates & 1L << chosen).isNotZero();
        } else {
            assertThat(candidates & -1L >>> 64 - size).isZero();
        }
    }

    @Test
    void anAttemptIsOnTheBacklogUntilItsFirstTokenOrItsEndAndCountsOnce() {
        PrefixLevels levels = prompt(1, 1024, 1);
        Backlog backlog = pool[choose(levels)].backlog;
        rule.dispatched(levels, pool[choice.index()], choice, now);
        assertThat(backlog.requests()).isOne();
        assertThat(backlog.tokens()).isEqualTo(1324);
        choose(prompt(9, 4096, 9));
        choice.firstToken();
        choice.firstToken();
        assertThat(backlog.requests()).isZero();
        assertThat(backlog.tokens())
                .as("though the choice was used for another question meanwhile")
                .isZero();
        choice.ended(now + SECOND);
        choice.ended(now + 2 * SECOND);
        assertThat(backlog.waitNanos(1, 1)).isEqualTo(SECOND);

        choose(levels);
        rule.dispatched(levels, pool[choice.index()], choice, now);
        choice.ended(now);
        assertThat(backlog.requests()).isZero();
        assertThat(backlog.tokens()).isZero();
    }

    @Test
    void extremesHarmNobody() {
        pool[0].backlog.sent(Long.MAX_VALUE);
        pool[1].backlog.sent(Long.MIN_VALUE);
        pool[2].inFlight = Integer.MAX_VALUE;
        pool[2].foreign = Integer.MAX_VALUE;
        pool[3].foreignWaiting = Integer.MAX_VALUE;
        pool[4].wait = Long.MAX_VALUE;
        pool[5].slots = 0;
        pool[6].inFlight = -1;
        PrefixLevels huge = PrefixLevels.of(1, new int[] {Integer.MAX_VALUE}, new long[] {0}, Integer.MAX_VALUE, 0);
        assertThat(choose(huge)).isNotNegative();
        assertThat(Double.isFinite(choice.cost())).isTrue();
        for (int only = 0; only < pool.length; only++) {
            assertThat(rule.choose(huge, pool, 1L << only, 1, now, choice)).isEqualTo(only);
            assertThat(rule.choose(PrefixLevels.NONE, pool, 1L << only, 1, now, choice))
                    .isEqualTo(only);
        }
        now += Duration.ofDays(10_000).toNanos();
        assertThat(send(huge)).isNotNegative();
        pool = pool(64);
        assertThat(choose(huge)).isBetween(0, 63);
        pool = pool(65);
        assertThatThrownBy(() -> choose(huge)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void numbersOutOfRangeAreRefused() {
        assertThatThrownBy(() -> Tuning.DEFAULTS.withGateways(0)).hasMessage("gateways: 0 (expected: >= 1)");
        assertThatThrownBy(() -> new Tuning.Slack(Double.NaN, 0, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Tuning.Price(2, 0, 64, 2000, 8000)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Tuning.Homes(Duration.ZERO, Duration.ofSeconds(1), 1024, 1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> PrefixLevels.of(2, new int[] {2, 1}, new long[2], 10, 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> PrefixLevels.of(1, new int[] {11}, new long[1], 10, 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> PrefixLevels.of(25, new int[25], new long[25], 10, 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> PrefixLevels.of(0, new int[0], new long[0], 10, 11))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aSaltGivesAPromptAnotherHome() {
        PrefixLevels levels = prompt(1, 1024, 1);
        assertThat(levels.salted(0)).isSameAs(levels);
        int different = 0;
        int home = choose(levels);
        for (long salt = 1; salt <= 100; salt++) {
            different += choose(levels.salted(salt)) == home ? 0 : 1;
            assertThat(levels.salted(salt).totalTokens()).isEqualTo(1324);
        }
        assertThat(different).isBetween(70, 99);
    }
}
