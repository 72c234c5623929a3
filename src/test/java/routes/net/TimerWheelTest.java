package routes.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TimerWheelTest {

    private static final long PATIENCE_SECONDS = 20;
    /** A tick, and generous time for a busy machine. */
    private static final long LATE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final EventLoop loop = new DefaultEventLoop();

    @AfterEach
    void stop() {
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** Notes when it expires, or does something else then. */
    private static final class Noted extends TimerWheel.Entry {
        final CountDownLatch expired;
        final Runnable then;
        long deadline;
        volatile long at;
        volatile int times;

        Noted(CountDownLatch expired, Runnable then) {
            this.expired = expired;
            this.then = then;
        }

        Noted(CountDownLatch expired) {
            this(expired, () -> {});
        }

        void arm(TimerWheel wheel, long deadlineNanos) {
            deadline = deadlineNanos;
            wheel.arm(this, deadlineNanos);
        }

        @Override
        protected void expired(long nowNanos) {
            at = System.nanoTime();
            assertThat(nowNanos - deadline).isNotNegative();
            times++;
            then.run();
            expired.countDown();
        }

        void assertInTime() {
            assertThat(times).isEqualTo(1);
            assertThat(at - deadline).isBetween(0L, LATE_NANOS);
        }
    }

    @Test
    void noneExpiresEarlyAndAllExpireSoon() throws Exception {
        Random random = new Random(1);
        CountDownLatch expired = new CountDownLatch(5_000);
        List<Noted> entries = new ArrayList<>();
        onLoop(wheel -> {
            long now = System.nanoTime();
            for (int i = 0; i < 5_000; i++) {
                Noted entry = new Noted(expired);
                entries.add(entry);
                entry.arm(wheel, now + random.nextLong(TimeUnit.MILLISECONDS.toNanos(600)) - 5_000_000);
            }
            return null;
        });

        await(expired);
        assertThat(entries).allSatisfy(Noted::assertInTime);
        assertThat(onLoop(TimerWheel::size)).isZero();
    }

    /** One revolution is 4.096 s; both entries of a pair stand in the same slot. */
    @Test
    void whatIsDueAfterARevolutionDoesNotExpireInTheFirst() throws Exception {
        CountDownLatch expired = new CountDownLatch(100);
        List<Noted> entries = new ArrayList<>();
        onLoop(wheel -> {
            long now = System.nanoTime();
            for (int i = 0; i < 50; i++) {
                long soon = now + TimeUnit.MILLISECONDS.toNanos(20 + i * 4L);
                for (long deadline : new long[] {soon, soon + TimeUnit.MILLISECONDS.toNanos(4_096)}) {
                    Noted entry = new Noted(expired);
                    entries.add(entry);
                    entry.arm(wheel, deadline);
                }
            }
            return null;
        });

        await(expired);
        assertThat(entries).allSatisfy(Noted::assertInTime);
    }

    @Test
    void aDeadlineThatMovesLaterCountsAndSoDoesOneThatMovesEarlier() throws Exception {
        CountDownLatch expired = new CountDownLatch(2);
        Noted later = new Noted(expired);
        Noted earlier = new Noted(expired);
        onLoop(wheel -> {
            long now = System.nanoTime();
            later.arm(wheel, now + TimeUnit.MILLISECONDS.toNanos(10));
            later.arm(wheel, now + TimeUnit.MILLISECONDS.toNanos(120));
            earlier.arm(wheel, now + TimeUnit.SECONDS.toNanos(60));
            earlier.arm(wheel, now + TimeUnit.MILLISECONDS.toNanos(30));
            assertThat(wheel.size()).isEqualTo(2);
            return null;
        });

        await(expired);
        later.assertInTime();
        earlier.assertInTime();
    }

    @Test
    void whatIsCancelledNeverExpires() throws Exception {
        CountDownLatch expired = new CountDownLatch(1);
        Noted cancelled = new Noted(new CountDownLatch(1));
        Noted twice = new Noted(new CountDownLatch(1));
        Noted last = new Noted(expired);
        onLoop(wheel -> {
            long now = System.nanoTime();
            cancelled.arm(wheel, now + TimeUnit.MILLISECONDS.toNanos(10));
            twice.arm(wheel, now + TimeUnit.MILLISECONDS.toNanos(10));
            last.arm(wheel, now + TimeUnit.MILLISECONDS.toNanos(40));
            wheel.cancel(cancelled);
            wheel.cancel(twice);
            wheel.cancel(twice);
            wheel.cancel(new Noted(new CountDownLatch(1)));
            assertThat(wheel.size()).isEqualTo(1);
            return null;
        });

        await(expired);
        assertThat(cancelled.times).isZero();
        assertThat(twice.times).isZero();
        last.assertInTime();
    }

    @Test
    void aCallbackMayArmMoveAndCancelAnyEntryDueWithIt() throws Exception {
        CountDownLatch expired = new CountDownLatch(4);
        Noted cancelled = new Noted(new CountDownLatch(1));
        Noted moved = new Noted(expired);
        Noted fresh = new Noted(expired);
        Noted again = new Noted(new CountDownLatch(1));
        Noted pulled = new Noted(expired);
        Noted first = new Noted(expired, () -> {
            TimerWheel wheel = TimerWheel.of(loop);
            long now = System.nanoTime();
            wheel.cancel(cancelled);
            moved.arm(wheel, now + TimeUnit.MILLISECONDS.toNanos(60));
            fresh.arm(wheel, now);
            pulled.arm(wheel, now + TimeUnit.MILLISECONDS.toNanos(8));
            wheel.arm(again, now - 1);
            wheel.cancel(again);
        });
        onLoop(wheel -> {
            long due = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(20);
            first.arm(wheel, due);
            cancelled.arm(wheel, due);
            moved.arm(wheel, due);
            pulled.arm(wheel, due + TimeUnit.SECONDS.toNanos(100));
            return null;
        });

        await(expired);
        assertThat(cancelled.times).isZero();
        assertThat(again.times).isZero();
        for (Noted entry : List.of(first, moved, fresh, pulled)) {
            entry.assertInTime();
        }
        assertThat(onLoop(TimerWheel::size)).isZero();
    }

    @Test
    void anEntryMayArmItself() throws Exception {
        CountDownLatch expired = new CountDownLatch(10);
        long[] last = new long[1];
        TimerWheel.Entry repeating = new TimerWheel.Entry() {
            private long deadline;

            @Override
            protected void expired(long nowNanos) {
                assertThat(nowNanos - deadline).isNotNegative();
                last[0] = nowNanos;
                expired.countDown();
                if (expired.getCount() > 0) {
                    deadline = nowNanos + TimeUnit.MILLISECONDS.toNanos(5);
                    TimerWheel.of(loop).arm(this, deadline);
                }
            }
        };
        long begin = onLoop(wheel -> {
            long now = System.nanoTime();
            wheel.arm(repeating, now);
            return now;
        });

        await(expired);
        assertThat(onLoop(wheel -> last[0]) - begin).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(9 * 5));
        assertThat(onLoop(TimerWheel::size)).isZero();
    }

    @Test
    void oneThatFailsDoesNotStopTheOthers() throws Exception {
        CountDownLatch expired = new CountDownLatch(2);
        Noted with = new Noted(expired);
        Noted after = new Noted(expired);
        Noted failing = new Noted(new CountDownLatch(1), () -> {
            throw new IllegalStateException("planned by a test");
        });
        onLoop(wheel -> {
            long due = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(10);
            failing.arm(wheel, due);
            with.arm(wheel, due);
            after.arm(wheel, due + TimeUnit.MILLISECONDS.toNanos(30));
            return null;
        });

        await(expired);
        with.assertInTime();
        after.assertInTime();
    }

    /** Nothing wakes an empty wheel, which lags behind; what is armed then is still in time. */
    @Test
    void aWheelThatWasIdleCatchesUp() throws Exception {
        for (int round = 0; round < 3; round++) {
            CountDownLatch expired = new CountDownLatch(1);
            Noted entry = new Noted(expired);
            onLoop(wheel -> {
                entry.arm(wheel, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(30));
                return null;
            });
            await(expired);
            entry.assertInTime();
            assertThat(onLoop(TimerWheel::size)).isZero();
        }
    }

    /** Any order of arming, moving and cancelling: exactly the armed ones expire, each once and not early. */
    @Test
    void anyOrderOfCallsLeavesTheRightOnes() throws Exception {
        for (long seed = 1; seed <= 20; seed++) {
            Random random = new Random(seed);
            List<Noted> entries = new ArrayList<>();
            List<Noted> armed = onLoop(wheel -> {
                for (int i = 0; i < 200; i++) {
                    entries.add(new Noted(new CountDownLatch(1)));
                }
                long now = System.nanoTime();
                List<Noted> on = new ArrayList<>();
                for (int i = 0; i < 2_000; i++) {
                    Noted entry = entries.get(random.nextInt(entries.size()));
                    if (random.nextInt(3) == 0) {
                        wheel.cancel(entry);
                        on.remove(entry);
                    } else {
                        entry.arm(wheel, now + random.nextLong(TimeUnit.MILLISECONDS.toNanos(60)));
                        if (!on.contains(entry)) {
                            on.add(entry);
                        }
                    }
                    assertThat(wheel.size()).isEqualTo(on.size());
                }
                return on;
            });

            for (Noted entry : armed) {
                await(entry.expired);
            }
            assertThat(armed).allSatisfy(Noted::assertInTime);
            assertThat(entries)
                    .filteredOn(entry -> !armed.contains(entry))
                    .allSatisfy(entry -> assertThat(entry.times).isZero());
            assertThat(onLoop(TimerWheel::size)).isZero();
        }
    }

    /** A wheel on an event loop whose time stands still but for {@link #run}. */
    private static final class Virtual {
        private final EmbeddedChannel channel = new EmbeddedChannel();
        private long now = 1_000_000_000_000L;
        final TimerWheel wheel = new TimerWheel(channel.eventLoop(), () -> now);
        int wakeUps;

        Virtual() {
            channel.freezeTime();
        }

        /** Goes on from one wake-up to the next until there is none within this time. */
        void run(long nanos) {
            long end = now + nanos;
            long next = channel.runScheduledPendingTasks();
            while (next >= 0 && now + next <= end) {
                pass(next);
                assertThat(++wakeUps).as("wake-ups of a loop that spins").isLessThan(10_000);
                next = channel.runScheduledPendingTasks();
            }
            pass(end - now);
        }

        private void pass(long nanos) {
            now += nanos;
            channel.advanceTimeBy(nanos, TimeUnit.NANOSECONDS);
        }

        void close() {
            channel.close();
        }
    }

    private static long seconds(long seconds) {
        return TimeUnit.SECONDS.toNanos(seconds);
    }

    /** Notes the virtual time at which it expired. */
    private static final class Timed extends TimerWheel.Entry {
        final long deadline;
        long at;

        Timed(Virtual virtual, long nanos) {
            deadline = virtual.now + nanos;
            virtual.wheel.arm(this, deadline);
        }

        @Override
        protected void expired(long nowNanos) {
            assertThat(at).as("expired before").isZero();
            at = nowNanos;
        }
    }

    @Test
    void idleEntriesFarAwayWakeNobody() {
        Virtual virtual = new Virtual();
        List<Timed> entries = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            entries.add(new Timed(virtual, seconds(300)));
        }

        virtual.run(seconds(290));
        assertThat(virtual.wakeUps).isZero();

        virtual.run(seconds(11));
        // one for the turn in which they are due, one for the slot
        assertThat(virtual.wakeUps).isEqualTo(2);
        assertThat(entries)
                .allSatisfy(
                        entry -> assertThat(entry.at - entry.deadline).isBetween(0L, TimeUnit.MILLISECONDS.toNanos(8)));
        assertThat(virtual.wheel.size()).isZero();
        virtual.close();
    }

    @Test
    void anEntryThatMovesLaterWakesTheLoopOnlyWhereItStood() {
        Virtual virtual = new Virtual();
        Timed idle = new Timed(virtual, seconds(300));
        for (int i = 0; i < 100; i++) {
            virtual.run(seconds(1));
            virtual.wheel.arm(idle, virtual.now + seconds(300));
        }
        virtual.run(seconds(299));
        assertThat(virtual.wakeUps).isLessThanOrEqualTo(4);
        assertThat(idle.at).isZero();

        virtual.run(seconds(2));
        assertThat(idle.at).isBetween(idle.deadline + seconds(100), idle.deadline + seconds(101));
        virtual.close();
    }

    /** 256 turns, as many as the coarser wheel has slots, take 17.5 minutes. */
    @Test
    void whatIsDueAfterAllTurnsExpiresInItsOwn() {
        Virtual virtual = new Virtual();
        List<Timed> entries = new ArrayList<>();
        long turn = TimeUnit.MILLISECONDS.toNanos(4_096);
        for (long turns : new long[] {1, 44, 255, 256, 257, 300, 511, 512, 513, 900}) {
            for (long offset : new long[] {-seconds(1), -1, 0, 1, seconds(1)}) {
                entries.add(new Timed(virtual, turns * turn + offset));
            }
        }
        Timed cancelled = new Timed(virtual, 300 * turn);
        virtual.run(44 * turn + seconds(2));
        virtual.wheel.cancel(cancelled);
        virtual.run(1_000 * turn);

        assertThat(entries)
                .allSatisfy(
                        entry -> assertThat(entry.at - entry.deadline).isBetween(0L, TimeUnit.MILLISECONDS.toNanos(8)));
        assertThat(cancelled.at).isZero();
        assertThat(virtual.wheel.size()).isZero();
        assertThat(virtual.wakeUps).isLessThan(100);
        virtual.close();
    }

    @Test
    void aWheelBelongsToItsLoop() {
        assertThatThrownBy(() -> TimerWheel.of(loop)).isInstanceOf(IllegalStateException.class);
    }

    private interface Use<T> {
        T with(TimerWheel wheel) throws Exception;
    }

    private <T> T onLoop(Use<T> use) throws Exception {
        Callable<T> task = () -> use.with(TimerWheel.of(loop));
        return loop.submit(task).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    private static void await(CountDownLatch latch) throws InterruptedException {
        assertThat(latch.await(PATIENCE_SECONDS, TimeUnit.SECONDS))
                .as("expired in time")
                .isTrue();
    }
}
