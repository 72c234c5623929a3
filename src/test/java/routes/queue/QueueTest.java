package routes.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import routes.replica.Replica;
import routes.replica.ReplicaAddress;
import routes.replica.Replicas;

/** Who waits, and who gets the slot that frees. */
class QueueTest {

    private final AtomicLong now = new AtomicLong(1);
    private final Queue queue = new Queue(now::get);
    private final Replicas replicas = new Replicas(queue::freed);
    private final Pool pool = queue.pool("m1");
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private final List<String> served = new ArrayList<>();

    private Replica replica(int port, int slots) {
        return replicas.replica(new ReplicaAddress("http", "127.0.0.1", port, ""), slots);
    }

    private void runLoop() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
    }

    /** Takes the first candidate with room. */
    private class Asker extends Waiter {
        final String name;
        int candidate = Queue.WAIT;
        boolean hopeless;

        Asker(String name, Claim claim, int answers, Replica... candidates) {
            super(new Wish(List.of(candidates), answers, 100, false), claim, tasks::add);
            this.name = name;
        }

        @Override
        protected int choose(int slots) {
            if (hopeless) {
                return Queue.NOBODY;
            }
            for (int i = 0; i < wish.candidates().now().size(); i++) {
                Replica replica = wish.candidates().now().get(i);
                if (replica.hasFree(replica.slotsFor(slots))) {
                    return i;
                }
            }
            return Queue.WAIT;
        }

        @Override
        protected void granted(int chosen) {
            candidate = chosen;
            served.add(name);
        }

        Asker(String name, int answers, Candidates candidates) {
            super(new Wish(candidates, answers, 100, false), new Claim(0, "t", 1, 10), tasks::add);
            this.name = name;
        }

        int enter() {
            int answer = queue.enter(QueueTest.this.pool, this);
            if (answer != Queue.WAIT && answer != Queue.FULL) {
                granted(answer);
            }
            return answer;
        }

        void done() {
            Replica replica = wish.candidates().now().get(candidate);
            replica.release(replica.slotsFor(wish.answers()));
            runLoop();
        }
    }

    private Asker asker(String name, Replica... candidates) {
        return asker(name, "tenant", 100, candidates);
    }

    private Asker asker(String name, String tenant, long tokens, Replica... candidates) {
        return new Asker(name, new Waiter.Claim(0, tenant, 1, tokens), 1, candidates);
    }

    @Test
    void whoWaitsSeesAReplicaThatJoins() {
        Replica full = replica(8000, 1);
        Candidates candidates = new Candidates(List.of(full));
        assertThat(full.tryAcquire(1)).isTrue();
        Asker asker = new Asker("a", 1, candidates);
        assertThat(asker.enter()).isEqualTo(Queue.WAIT);
        Replica joined = replica(8001, 1);
        queue.change(candidates, List.of(full, joined));
        runLoop();
        assertThat(asker.grantedReplica()).isSameAs(joined);
        assertThat(joined.inFlight()).isEqualTo(1);
        assertThat(full.isWanted()).isFalse();
        assertThat(joined.isWanted()).isFalse();
    }

    @Test
    void whoWaitsForOneThatLeavesWaitsForTheOthers() {
        Replica leaving = replica(8000, 1);
        Replica staying = replica(8001, 1);
        Candidates candidates = new Candidates(List.of(leaving, staying));
        leaving.tryAcquire(1);
        staying.tryAcquire(1);
        Asker asker = new Asker("a", 1, candidates);
        assertThat(asker.enter()).isEqualTo(Queue.WAIT);
        queue.change(candidates, List.of(staying));
        assertThat(leaving.isWanted()).isFalse();
        leaving.release(1);
        runLoop();
        assertThat(served).isEmpty();
        staying.release(1);
        runLoop();
        assertThat(asker.grantedReplica()).isSameAs(staying);
        assertThat(queue.waiting()).isZero();
    }

    @Test
    void whoGathersAtOneThatLeavesGivesBackWhatItHas() {
        Replica leaving = replica(8000, 2);
        Candidates candidates = new Candidates(List.of(leaving));
        leaving.tryAcquire(2);
        Asker wide = new Asker("wide", 2, candidates);
        assertThat(wide.enter()).isEqualTo(Queue.WAIT);
        Asker[] narrow = new Asker[20];
        for (int i = 0; i < narrow.length; i++) {
            narrow[i] = new Asker("n" + i, 1, candidates);
            narrow[i].enter();
        }
        // one slot goes round until the wide one is passed by no more
        for (int i = 0; i < 17; i++) {
            leaving.release(1);
            runLoop();
        }
        assertThat(leaving.inFlight()).isEqualTo(2);
        assertThat(served).doesNotContain("wide");
        Replica other = replica(8001, 4);
        queue.change(candidates, List.of(other));
        runLoop();
        assertThat(served).contains("wide");
        assertThat(leaving.inFlight()).as("what was gathered").isEqualTo(1);
        assertThat(other.inFlight()).isEqualTo(4);
    }

    @Test
    void whenAllLeaveThereIsNobodyToWaitFor() {
        Replica full = replica(8000, 1);
        Candidates candidates = new Candidates(List.of(full));
        full.tryAcquire(1);
        Asker asker = new Asker("a", 1, candidates) {
            @Override
            protected int choose(int slots) {
                return candidates.now().isEmpty() ? Queue.NOBODY : super.choose(slots);
            }
        };
        assertThat(asker.enter()).isEqualTo(Queue.WAIT);
        queue.change(candidates, List.of());
        runLoop();
        assertThat(asker.candidate).isEqualTo(Queue.NOBODY);
        assertThat(queue.waiting()).isZero();
        assertThat(full.isWanted()).isFalse();
    }

    @Test
    void givesAFreeSlotAtOnceAndTheNextOneToWhoWaits() {
        Replica one = replica(1, 1);
        Asker first = asker("first", one);
        Asker second = asker("second", one);

        assertThat(first.enter()).isZero();
        assertThat(one.isWanted()).isFalse();
        assertThat(second.enter()).isEqualTo(Queue.WAIT);
        assertThat(one.isWanted()).isTrue();
        assertThat(pool.waiting()).isEqualTo(1);
        assertThat(pool.bytes()).isEqualTo(100);

        first.done();

        assertThat(served).containsExactly("first", "second");
        assertThat(one.inFlight()).isEqualTo(1);
        assertThat(pool.waiting()).isZero();
        second.done();
        assertThat(one.inFlight()).isZero();
        assertThat(one.isWanted()).isFalse();
    }

    @Test
    void aSlotIsHandedOverBeforeItsWaiterHasWokenUp() {
        Replica one = replica(1, 1);
        Asker first = asker("first", one);
        first.enter();
        asker("second", one).enter();

        one.release(1);

        assertThat(one.inFlight()).as("never free in between").isEqualTo(1);
        assertThat(served).containsExactly("first");
        assertThat(asker("third", one).enter()).isEqualTo(Queue.WAIT);
        runLoop();
        assertThat(served).containsExactly("first", "second");
    }

    @Test
    void aLowerClassGoesFirst() {
        Replica one = replica(1, 1);
        Asker busy = asker("busy", one);
        busy.enter();
        Asker[] waiting = {
            new Asker("batch", new Waiter.Claim(5, "a", 1, 10), 1, one),
            new Asker("normal", new Waiter.Claim(0, "a", 1, 10), 1, one),
            new Asker("urgent", new Waiter.Claim(-5, "b", 1, 10), 1, one)
        };
        for (Asker each : waiting) {
            each.enter();
        }

        busy.done();
        waiting[2].done();
        waiting[1].done();

        assertThat(served).containsExactly("busy", "urgent", "normal", "batch");
    }

    @Test
    void tenantsShareByTokensAndWeightAndEachIsServedInOrder() {
        Replica one = replica(1, 1);
        Asker last = asker("busy", one);
        last.enter();
        List<Asker> all = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            all.add(new Asker("heavy", new Waiter.Claim(0, "heavy", 1, 300), 1, one));
            all.add(new Asker("light", new Waiter.Claim(0, "light", 1, 100), 1, one));
            all.add(new Asker("paid", new Waiter.Claim(0, "paid", 3, 100), 1, one));
        }
        all.forEach(Asker::enter);

        served.clear();
        for (int i = 0; i < 52; i++) {
            one.release(1);
            runLoop();
        }

        assertThat(Collections.frequency(served, "heavy")).as("300 tokens each").isBetween(3, 5);
        assertThat(Collections.frequency(served, "light")).as("100 tokens each").isBetween(11, 13);
        assertThat(Collections.frequency(served, "paid"))
                .as("three times the weight")
                .isBetween(34, 38);
    }

    @Test
    void whoComesBackFromNothingHasNoClaimOnTheTimeBefore() {
        Replica one = replica(1, 1);
        asker("busy", one).enter();
        for (int i = 0; i < 50; i++) {
            asker("steady", "steady", 100, one).enter();
        }
        for (int i = 0; i < 30; i++) {
            one.release(1);
            runLoop();
        }
        for (int i = 0; i < 10; i++) {
            asker("returning", "returning", 100, one).enter();
        }
        served.clear();

        for (int i = 0; i < 10; i++) {
            one.release(1);
            runLoop();
        }

        assertThat(Collections.frequency(served, "steady")).isBetween(4, 6);
    }

    @Test
    void whatARequestReallyCostCountsWhenItIsKnown() {
        Replica one = replica(1, 1);
        asker("busy", one).enter();
        Asker greedy = asker("a", "a", 10, one);
        greedy.enter();
        for (int i = 0; i < 3; i++) {
            asker("a", "a", 10, one).enter();
            asker("b", "b", 10, one).enter();
        }
        one.release(1);
        runLoop();

        queue.correct(greedy, 1000);
        for (int i = 0; i < 6; i++) {
            one.release(1);
            runLoop();
        }

        assertThat(served).containsExactly("busy", "a", "b", "b", "b", "a", "a", "a");
    }

    @Test
    void refusesBeyondItsBoundsButNeverWhileASlotIsFree() {
        Replica one = replica(1, 1);
        pool.bounds(new Pool.Bounds(1, 150, Duration.ofSeconds(1)));
        assertThat(asker("runs", one).enter()).isZero();
        assertThat(asker("waits", one).enter()).isEqualTo(Queue.WAIT);
        assertThat(asker("refused", one).enter()).isEqualTo(Queue.FULL);
        assertThat(pool.waiting()).isEqualTo(1);

        pool.bounds(new Pool.Bounds(0, 0, Duration.ofSeconds(1)));
        assertThat(asker("elsewhere", replica(2, 1)).enter()).isZero();
    }

    @Test
    void whoLeavesIsNotServedAndAGrantNotYetTakenGoesOn() {
        Replica one = replica(1, 1);
        Asker busy = asker("busy", one);
        busy.enter();
        Asker leaver = asker("leaver", one);
        Asker granted = asker("granted", one);
        Asker next = asker("next", one);
        leaver.enter();
        granted.enter();
        next.enter();

        assertThat(queue.leave(leaver)).isTrue();
        assertThat(queue.leave(leaver)).isFalse();
        one.release(1);
        assertThat(queue.leave(granted)).as("it was not waiting any more").isFalse();
        runLoop();

        assertThat(served).containsExactly("busy", "next");
        assertThat(one.inFlight()).isEqualTo(1);
    }

    @Test
    void aWideRequestIsPassedByOnlySoOften() {
        Replica one = replica(1, 4);
        List<Asker> running = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            running.add(asker("narrow", one));
        }
        running.forEach(Asker::enter);
        new Asker("wide", new Waiter.Claim(0, "w", 1, 1), 4, one).enter();
        for (int i = 0; i < 100; i++) {
            asker("narrow", one).enter();
        }

        int steps = 0;
        while (!served.contains("wide") && steps++ < 100) {
            one.release(1);
            runLoop();
        }

        assertThat(steps).as("slots that freed before it was served").isLessThanOrEqualTo(16 + 4);
        assertThat(one.inFlight()).isEqualTo(4);
    }

    @Test
    void whoHasNobodyLeftIsToldInsteadOfWaiting() {
        Replica one = replica(1, 1);
        asker("busy", one).enter();
        Asker waiter = asker("waiter", one);
        waiter.enter();
        Asker hopeless = asker("hopeless", one);
        hopeless.hopeless = true;
        assertThat(queue.enter(pool, hopeless)).isEqualTo(Queue.NOBODY);

        waiter.hopeless = true;
        queue.freed(one);
        runLoop();

        assertThat(waiter.candidate).isEqualTo(Queue.NOBODY);
        assertThat(one.inFlight()).isEqualTo(1);
        assertThat(pool.waiting()).isZero();
    }

    @Test
    void aReplicaOfTwoPoolsServesTheOneWhoWaitedLonger() {
        Replica shared = replica(1, 1);
        Pool other = queue.pool("m2");
        asker("busy", shared).enter();
        now.set(100);
        Asker first = asker("other pool", shared);
        queue.enter(other, first);
        now.set(200);
        asker("this pool", shared).enter();

        shared.release(1);
        runLoop();
        shared.release(1);
        runLoop();

        assertThat(served).containsExactly("busy", "other pool", "this pool");
    }

    @Test
    void estimatesTheWaitFromTheLastGrants() {
        Replica one = replica(1, 1);
        asker("busy", one).enter();
        for (int i = 0; i < 100; i++) {
            asker("waits", one).enter();
        }
        for (int i = 0; i < 60; i++) {
            now.addAndGet(Duration.ofMillis(500).toNanos());
            one.release(1);
            runLoop();
        }

        assertThat(pool.estimatedWaitSeconds()).isBetween(19.0, 20.0);
        assertThat(Duration.ofNanos(queue.oldestNanos(pool))).isEqualTo(Duration.ofSeconds(30));
    }

    @Test
    void aLoopThatHasEndedPassesItsSlotOn() {
        Replica one = replica(1, 1);
        asker("busy", one).enter();
        Waiter dead =
                new Waiter(new Waiter.Wish(List.of(one), 1, 0, false), new Waiter.Claim(0, "t", 1, 1), task -> {
                    throw new RejectedExecutionException();
                }) {
                    @Override
                    protected int choose(int slots) {
                        return one.hasFree(slots) ? 0 : Queue.WAIT;
                    }

                    @Override
                    protected void granted(int candidate) {
                        throw new AssertionError("its loop has ended");
                    }
                };
        queue.enter(pool, dead);
        asker("next", one).enter();

        one.release(1);
        runLoop();

        assertThat(served).containsExactly("busy", "next");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1 1 1", "1 -1 1", "1 1 0", "1 1 100000000000"})
    void refusesBoundsThatMakeNoSense(String values) {
        String[] parts = values.split(" ");
        assertThatThrownBy(() -> new Pool.Bounds(
                        Integer.parseInt(parts[0]),
                        Long.parseLong(parts[1]),
                        Duration.ofMillis(Long.parseLong(parts[2]))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected:");
    }

    @Test
    void forgetsTenantsThatAskNoMore() {
        Replica one = replica(1, 1);
        asker("busy", one).enter();
        for (int i = 0; i < 20_000; i++) {
            asker("t", "tenant-" + i, 10, one).enter();
            one.release(1);
            runLoop();
        }

        assertThat(pool.rememberedLines()).isLessThanOrEqualTo(4097);
    }

    /** Many threads ask, leave and give back; nothing is lost, nothing is given twice, nobody waits for ever. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void noSlotAndNoWaiterIsLostAmongThreads(long seed) throws Exception {
        Replica[] two = {replica(1, 3), replica(2, 2)};
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
        int threads = 4;
        int each = 2_000;
        CountDownLatch ended = new CountDownLatch(threads * each);
        List<ExecutorService> loops = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            loops.add(Executors.newSingleThreadExecutor());
        }
        for (int t = 0; t < threads; t++) {
            ExecutorService own = loops.get(t);
            Random random = new Random(seed * 31 + t);
            Pool of = queue.pool(t % 2 == 0 ? "m1" : "m2");
            own.execute(() -> {
                for (int i = 0; i < each; i++) {
                    int answers = random.nextInt(10) == 0 ? 2 : 1;
                    boolean leaves = random.nextInt(4) == 0;
                    String tenant = "tenant-" + random.nextInt(3);
                    own.execute(() -> {
                        try {
                            Threaded waiter = new Threaded(two, tenant, answers, own, running, most, ended);
                            int answer = queue.enter(of, waiter);
                            if (answer >= 0) {
                                waiter.granted(answer);
                            } else if (answer == Queue.FULL) {
                                ended.countDown();
                            } else if (leaves) {
                                own.execute(waiter::leaveUnlessServed);
                            }
                        } catch (Throwable e) {
                            failures.add(e);
                        }
                    });
                }
            });
        }

        assertThat(ended.await(20, TimeUnit.SECONDS))
                .as("left: %d", ended.getCount())
                .isTrue();
        for (ExecutorService own : loops) {
            own.shutdown();
            assertThat(own.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(failures).isEmpty();
        assertThat(most.get()).isBetween(2, 5);
        for (Replica replica : two) {
            assertThat(replica.inFlight()).isZero();
            assertThat(replica.isWanted()).isFalse();
        }
        assertThat(queue.waiting()).isZero();
        assertThat(queue.pools()).allSatisfy(each1 -> assertThat(each1.bytes()).isZero());
    }

    private final class Threaded extends Waiter {
        private final ExecutorService own;
        private final AtomicInteger running;
        private final AtomicInteger most;
        private final CountDownLatch ended;
        private boolean over;

        Threaded(
                Replica[] candidates,
                String tenant,
                int answers,
                ExecutorService own,
                AtomicInteger running,
                AtomicInteger most,
                CountDownLatch ended) {
            super(new Wish(List.of(candidates), answers, 1, false), new Claim(0, tenant, 1, answers), own);
            this.own = own;
            this.running = running;
            this.most = most;
            this.ended = ended;
        }

        @Override
        protected int choose(int slots) {
            for (int i = 0; i < wish.candidates().now().size(); i++) {
                if (wish.candidates()
                        .now()
                        .get(i)
                        .hasFree(wish.candidates().now().get(i).slotsFor(slots))) {
                    return i;
                }
            }
            return Queue.WAIT;
        }

        @Override
        protected void granted(int candidate) {
            over = true;
            int slots = wish.candidates().now().get(candidate).slotsFor(wish.answers());
            most.accumulateAndGet(running.addAndGet(slots), Math::max);
            own.execute(() -> {
                running.addAndGet(-slots);
                wish.candidates().now().get(candidate).release(slots);
                ended.countDown();
            });
        }

        void leaveUnlessServed() {
            if (!over) {
                over = true;
                queue.leave(this);
                ended.countDown();
            }
        }
    }
}
