package routes.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import routes.replica.Replica;
import routes.replica.ReplicaAddress;
import routes.replica.Replicas;

/** Who is served before whom when several pools, replicas and tenants meet. */
class QueueFairnessTest {

    private static final int MOST_TOKENS = 100;

    private final AtomicLong now = new AtomicLong(1);
    private final Queue queue = new Queue(now::incrementAndGet);
    private final Replicas replicas = new Replicas(queue::freed);
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private final ArrayDeque<Asker> running = new ArrayDeque<>();
    private final List<String> served = new ArrayList<>();
    /** Of the last replica; each try of a property has its own. */
    private int port = 1000;

    private Replica replica(int port, int slots) {
        return replicas.replica(new ReplicaAddress("http", "127.0.0.1", port, ""), slots);
    }

    /** Takes the first candidate with room, but for those that have failed it. */
    private final class Asker extends Waiter {
        private final long tried;
        private final long number = now.incrementAndGet();
        private int candidate = Queue.WAIT;

        Asker(String tenant, long tokens, int answers, long tried, List<Replica> candidates) {
            super(new Wish(candidates, answers, 1, tried != 0), new Claim(0, tenant, 1, tokens), tasks::add);
            this.tried = tried;
        }

        @Override
        protected int choose(int slots) {
            int answer = Queue.NOBODY;
            for (int i = 0; i < wish.candidates().now().size(); i++) {
                Replica replica = wish.candidates().now().get(i);
                if ((tried & 1L << i) != 0) {
                    continue;
                }
                if (replica.hasFree(replica.slotsFor(slots))) {
                    return i;
                }
                answer = Queue.WAIT;
            }
            return answer;
        }

        @Override
        protected void granted(int chosen) {
            candidate = chosen;
            served.add(claim.tenant());
            running.add(this);
        }

        Replica replica() {
            return wish.candidates().now().get(candidate);
        }
    }

    private Asker ask(Pool pool, String tenant, int answers, Replica... candidates) {
        return ask(pool, new Asker(tenant, 10, answers, 0, List.of(candidates)));
    }

    private Asker ask(Pool pool, Asker asker) {
        int answer = queue.enter(pool, asker);
        if (answer >= 0) {
            asker.granted(answer);
        }
        return asker;
    }

    private void runLoop() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
    }

    /** The request that has run the longest ends. */
    private void oneEnds() {
        Asker asker = running.remove();
        asker.replica().release(asker.replica().slotsFor(asker.wish.answers()));
        runLoop();
    }

    @Test
    void aCrowdInOneModelDoesNotDelayAnotherModelOnTheSameReplica() {
        Replica shared = replica(1, 1);
        ask(queue.pool("m1"), "crowd", 1, shared);
        for (int i = 0; i < 100; i++) {
            ask(queue.pool("m1"), "crowd", 1, shared);
        }
        for (int i = 0; i < 10; i++) {
            ask(queue.pool("m2"), "small", 1, shared);
        }

        for (int i = 0; i < 20; i++) {
            oneEnds();
        }

        assertThat(Collections.frequency(served, "small")).as("%s", served).isBetween(9, 10);
    }

    @Test
    void aModelWithSlotsOfItsOwnLeavesTheSharedOnesToTheOther() {
        Replica shared = replica(1, 1);
        Replica own = replica(2, 3);
        for (int i = 0; i < 200; i++) {
            ask(queue.pool("m1"), "wealthy", 1, own, shared);
            ask(queue.pool("m2"), "poor", 1, shared);
        }

        for (int i = 0; i < 200; i++) {
            oneEnds();
        }

        assertThat(Collections.frequency(served, "poor")).isBetween(45, 52);
        assertThat(Collections.frequency(served, "wealthy")).isBetween(145, 160);
    }

    @Test
    void aWideRequestIsServedAlthoughAnotherModelWantsItsSlots() {
        Replica shared = replica(1, 4);
        for (int i = 0; i < 4; i++) {
            ask(queue.pool("m1"), "narrow", 1, shared);
        }
        ask(queue.pool("m1"), "wide", 4, shared);
        for (int i = 0; i < 200; i++) {
            ask(queue.pool(i % 2 == 0 ? "m1" : "m2"), "narrow", 1, shared);
        }

        int ends = 0;
        while (!served.contains("wide") && ends++ < 150) {
            oneEnds();
        }

        assertThat(ends).isLessThanOrEqualTo(2 * 16 + 4);
    }

    @Test
    void aWideRequestDoesNotIdleReplicasThatItWillNotUse() {
        Replica first = replica(1, 8);
        Replica second = replica(2, 8);
        for (int i = 0; i < 16; i++) {
            ask(queue.pool("m1"), "narrow", 1, first, second);
        }
        ask(queue.pool("m1"), "wide", 8, first, second);
        for (int i = 0; i < 200; i++) {
            ask(queue.pool("m1"), "narrow", 1, first, second);
        }

        int fewest = 16;
        while (!served.contains("wide")) {
            oneEnds();
            fewest = Math.min(fewest, running.size());
        }

        assertThat(fewest).as("requests that ran meanwhile").isGreaterThanOrEqualTo(8);
    }

    @Test
    void aWideRequestThatLeavesGivesBackWhatWasGatheredForIt() {
        Replica one = replica(1, 4);
        for (int i = 0; i < 4; i++) {
            ask(queue.pool("m1"), "narrow", 1, one);
        }
        Asker wide = ask(queue.pool("m1"), "wide", 4, one);
        for (int i = 0; i < 40; i++) {
            ask(queue.pool("m1"), "narrow", 1, one);
        }
        while (running.size() == 4) {
            oneEnds();
        }
        assertThat(one.inFlight()).as("gathered ones count as taken").isEqualTo(4);

        queue.leave(wide);
        runLoop();

        assertThat(running).hasSize(4);
        while (!running.isEmpty()) {
            oneEnds();
        }
        assertThat(one.inFlight()).isZero();
        assertThat(one.isWanted()).isFalse();
    }

    @Test
    void aSlotThatNobodyBeforeCanUseIsNotLeftIdle() {
        Replica failing = replica(1, 1);
        Replica full = replica(2, 1);
        List<Replica> both = List.of(failing, full);
        Pool pool = queue.pool("m1");
        ask(pool, new Asker("busy", 10, 1, 1, both));
        for (int i = 0; i < 100; i++) {
            ask(pool, new Asker("failed before", 10, 1, 1, both));
        }

        ask(pool, new Asker("newcomer", 10, 1, 0, both));

        assertThat(served).containsExactly("busy", "newcomer");
    }

    @Test
    void whoLeavesUnservedEarnsNothing() {
        Replica one = replica(1, 1);
        Pool pool = queue.pool("m1");
        ask(pool, "busy", 1, one);
        for (int i = 0; i < 20; i++) {
            ask(pool, "a", 1, one);
            ask(pool, "b", 1, one);
        }
        for (int i = 0; i < 20; i++) {
            Asker leaver = ask(pool, "a", 1, one);
            queue.leave(leaver);
            queue.correct(leaver, 0);
        }
        served.clear();

        for (int i = 0; i < 10; i++) {
            oneEnds();
        }

        assertThat(Collections.frequency(served, "b")).as("%s", served).isEqualTo(5);
    }

    @Test
    void theEstimateStandsAfterTheFirstGrants() {
        Replica one = replica(1, 1);
        Pool pool = queue.pool("m1");
        for (int i = 0; i < 10; i++) {
            ask(pool, "t", 1, one);
        }
        for (int i = 0; i < 2; i++) {
            now.addAndGet(1_000_000_000L);
            oneEnds();
        }

        assertThat(pool.estimatedWaitSeconds()).isBetween(6.9, 7.1);
    }

    /**
     * While two tenants wait all the time, what they have been served differs by no more than one request of each and what
     * runs at a time (the bound of fair queueing), and each of them is served in the order in which it asked.
     */
    @Property(tries = 200)
    void tenantsThatWaitAreServedAlike(@ForAll long seed, @ForAll @IntRange(min = 2, max = 6) int tenants) {
        Random random = new Random(seed);
        int slots = 1 + random.nextInt(4);
        Replica one = replica(++port, slots);
        Pool pool = queue.pool("m" + port);
        Map<String, Integer> waiting = new HashMap<>();
        Map<String, Long> tokens = new HashMap<>();
        Map<String, Long> last = new HashMap<>();
        for (int step = 0; step < 400; step++) {
            for (int t = 0; t < tenants; t++) {
                String tenant = "t" + t;
                while (waiting.getOrDefault(tenant, 0) <= slots + t) {
                    ask(pool, new Asker(tenant, 1 + random.nextInt(MOST_TOKENS), 1, 0, List.of(one)));
                    waiting.merge(tenant, 1, Integer::sum);
                }
            }
            Asker ended = running.remove();
            tokens.merge(ended.claim.tenant(), ended.claim.tokens(), Long::sum);
            waiting.merge(ended.claim.tenant(), -1, Integer::sum);
            Long before = last.put(ended.claim.tenant(), ended.number);
            assertThat(before == null || before < ended.number).isTrue();
            one.release(1);
            runLoop();
        }
        long least = Collections.min(tokens.values());
        long most = Collections.max(tokens.values());
        assertThat(most - least).as("%s", tokens).isLessThanOrEqualTo((2L + 2L * slots) * MOST_TOKENS);
        running.clear();
    }

    /**
     * Whatever comes, leaves, ends and is corrected in whatever order: no slot is given twice, none is idle while somebody
     * could use it, and at the end nothing is left.
     */
    @Property(tries = 300)
    void noInterleavingLosesASlotOrAWaiter(@ForAll long seed) {
        Random random = new Random(seed);
        List<Replica> three = List.of(
                replica(++port, 1 + random.nextInt(3)),
                replica(++port, 1 + random.nextInt(3)),
                replica(++port, 1 + random.nextInt(3)));
        List<List<Replica>> candidates = List.of(three, three.subList(0, 2), three.subList(1, 3));
        boolean wide = random.nextBoolean();
        List<Asker> waiting = new ArrayList<>();
        for (int step = 0; step < 300; step++) {
            int what = random.nextInt(10);
            if (what < 5 && step < 250) {
                int model = random.nextInt(3);
                int answers = wide && random.nextInt(5) == 0 ? 1 + random.nextInt(4) : 1;
                long tried = random.nextInt(8) == 0 ? 1 : 0;
                Asker asker =
                        new Asker("t" + random.nextInt(4), random.nextInt(50), answers, tried, candidates.get(model));
                if (ask(queue.pool(port + "-" + model), asker).state == Waiter.State.WAITING) {
                    waiting.add(asker);
                }
            } else if (what == 5 && !waiting.isEmpty()) {
                queue.leave(waiting.remove(random.nextInt(waiting.size())));
            } else if (what == 6) {
                runLoop();
            } else if (!running.isEmpty()) {
                Asker ended = running.remove();
                ended.replica().release(ended.replica().slotsFor(ended.wish.answers()));
                if (random.nextBoolean() && ended.pool != null) {
                    queue.correct(ended, random.nextInt(60));
                }
            }
            waiting.removeIf(asker -> asker.state != Waiter.State.WAITING);
            for (Replica replica : three) {
                assertThat(replica.inFlight()).isBetween(0, replica.slots());
            }
            if (!wide) {
                assertThat(waiting.stream().filter(asker -> asker.choose(1) >= 0))
                        .as("waits although a slot is free")
                        .isEmpty();
            }
        }
        runLoop();
        while (!running.isEmpty()) {
            oneEnds();
        }
        assertThat(waiting.stream().filter(asker -> asker.state == Waiter.State.WAITING))
                .isEmpty();
        assertThat(queue.waiting()).isZero();
        assertThat(queue.pools()).allSatisfy(pool -> assertThat(pool.bytes()).isZero());
        for (Replica replica : three) {
            assertThat(replica.inFlight()).isZero();
            assertThat(replica.isWanted()).isFalse();
        }
    }
}
