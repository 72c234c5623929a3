package routes.usage;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class UsageFeedTest {

    private static final long LONG = Duration.ofHours(1).toNanos();

    private final AtomicInteger done = new AtomicInteger();
    private final BlockingQueue<List<String>> received = new LinkedBlockingQueue<>();

    @Test
    void recordsComeOneByOneInOrder() throws Exception {
        UsageFeed feed = new UsageFeed("test", 1, LONG, this::take);
        Thread thread = run(feed);
        deliver(feed, 0, 3);
        feed.end();
        thread.join();

        assertThat(received).containsExactly(List.of("r0"), List.of("r1"), List.of("r2"));
        assertThat(done).hasValue(3);
    }

    @Test
    void aFullBatchDoesNotWait() throws Exception {
        UsageFeed feed = new UsageFeed("test", 2, LONG, this::take);
        run(feed);
        deliver(feed, 0, 5);

        assertThat(received.take()).containsExactly("r0", "r1");
        assertThat(received.take()).containsExactly("r2", "r3");
        assertThat(received).isEmpty();
        feed.end();
        assertThat(received.take()).containsExactly("r4");
    }

    @Test
    void aBatchThatDoesNotFillComesAfterItsTime() throws Exception {
        UsageFeed feed = new UsageFeed("test", 100, TimeUnit.MILLISECONDS.toNanos(10), this::take);
        run(feed);
        deliver(feed, 0, 1);

        assertThat(received.take()).containsExactly("r0");
        Records.await(() -> done.get() == 1);
        feed.end();
    }

    @Test
    void whatIsRefusedComesAgainAndHoldsItsPlaceMeanwhile() throws Exception {
        AtomicInteger tries = new AtomicInteger();
        List<Integer> doneAtTry = new ArrayList<>();
        UsageFeed feed = new UsageFeed("test", 1, LONG, records -> {
            doneAtTry.add(done.get());
            if (tries.incrementAndGet() == 1) {
                throw new IllegalStateException("planned by the test");
            }
            return tries.get() == 2 ? new Exception("planned by the test") : take(records);
        });
        Thread thread = run(feed);
        deliver(feed, 0, 2);
        Records.await(() -> done.get() == 2);
        feed.end();
        thread.join();

        assertThat(received).containsExactly(List.of("r0"), List.of("r1"));
        assertThat(doneAtTry).containsExactly(0, 0, 0, 1);
    }

    @Test
    void afterTheEndWhatIsRefusedIsGivenUpAfterOneMoreTry() throws Exception {
        AtomicInteger tries = new AtomicInteger();
        UsageFeed feed = new UsageFeed("test", 1, LONG, records -> {
            tries.incrementAndGet();
            return new Exception("planned by the test");
        });
        deliver(feed, 0, 2);
        feed.end();
        deliver(feed, 2, 3);
        assertThat(done).as("a record that comes after the end").hasValue(1);
        feed.run();

        assertThat(done).hasValue(3);
        assertThat(tries).hasValue(4);
    }

    @Test
    void abandonedRecordsGiveTheirPlacesBackOnce() throws Exception {
        Semaphore gate = new Semaphore(0);
        UsageFeed feed = new UsageFeed("test", 1, LONG, records -> {
            gate.acquireUninterruptibly();
            return take(records);
        });
        Thread thread = run(feed);
        deliver(feed, 0, 3);
        Records.await(gate::hasQueuedThreads);
        assertThat(feed.size()).isEqualTo(3);
        feed.end();

        assertThat(feed.abandon()).isEqualTo(2);
        assertThat(done).hasValue(2);
        gate.release();
        thread.join();
        assertThat(done).hasValue(3);
        assertThat(received).containsExactly(List.of("r0"));
    }

    @Test
    void aRouteThatLeavesTheThreadInterruptedEndsNothing() throws Exception {
        UsageFeed feed = new UsageFeed("test", 2, LONG, records -> {
            Thread.currentThread().interrupt();
            return take(records);
        });
        run(feed);
        deliver(feed, 0, 3);
        assertThat(received.take()).containsExactly("r0", "r1");
        deliver(feed, 3, 4);

        assertThat(received.take()).containsExactly("r2", "r3");
        feed.end();
    }

    private @org.jspecify.annotations.Nullable Throwable take(List<UsageRecord> records) {
        received.add(records.stream()
                .map(record -> String.valueOf(record.requestId()))
                .toList());
        return null;
    }

    private void deliver(UsageFeed feed, int from, int to) {
        for (int i = from; i < to; i++) {
            UsageRecord record = Records.numbered(i);
            feed.deliver(new UsageSink.Delivery() {
                @Override
                public UsageRecord record() {
                    return record;
                }

                @Override
                public void done() {
                    done.incrementAndGet();
                }
            });
        }
    }

    private static Thread run(UsageFeed feed) {
        Thread thread = new Thread(feed, "test-feed");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
