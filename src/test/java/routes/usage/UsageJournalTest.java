package routes.usage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class UsageJournalTest {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final FakeDisk disk = new FakeDisk();
    private final AtomicLong nanos = new AtomicLong();
    private @Nullable UsageJournal open;

    @AfterEach
    void close() {
        if (open != null) {
            open.close(Duration.ofMillis(1));
        }
    }

    @Test
    void whatEightThreadsAppendIsThereOnceThoughWritesFallShortAndFail() throws Exception {
        Random random = new Random(42);
        disk.takes = all -> random.nextInt(20) == 0 ? -1 : 1 + random.nextInt(all);
        UsageJournal journal = start(64, Duration.ofMillis(1));
        int perThread = 200;

        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 8; t++) {
            int from = t * perThread;
            threads.add(new Thread(() -> {
                for (int i = 0; i < perThread; i++) {
                    reserve(journal);
                    journal.append(Records.numbered(from + i));
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }

        assertThat(journal.close(LIMIT)).isZero();
        List<String> ids = Records.ids(disk.content());
        assertThat(ids).containsExactlyInAnyOrderElementsOf(Records.ids(8 * perThread));
        for (int t = 0; t < 8; t++) {
            int from = t * perThread;
            assertThat(ids.stream().filter(id -> number(id) / perThread == from / perThread))
                    .as("in the order of its thread")
                    .isEqualTo(Records.ids(8 * perThread).subList(from, from + perThread));
        }
        assertThat(journal.written()).isEqualTo(8L * perThread);
        assertThat(journal.pending()).isZero();
    }

    @Test
    void eightThreadsAtFullSpeedIntoARealFileLoseAndDoubleNothing(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("a/b/usage.jsonl");
        UsageJournal journal = new UsageJournal(new UsageJournal.Settings(file, 1_000, Duration.ofMillis(1)));
        open = journal;
        journal.start();
        int perThread = 2_500;

        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 8; t++) {
            int from = t * perThread;
            threads.add(new Thread(() -> {
                for (int i = 0; i < perThread; i++) {
                    reserve(journal);
                    journal.append(Records.numbered(from + i));
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }

        assertThat(journal.close(LIMIT)).isZero();
        boolean[] seen = new boolean[8 * perThread];
        for (String id : Records.ids(Files.readAllBytes(file))) {
            assertThat(seen[number(id)]).as(id).isFalse();
            seen[number(id)] = true;
        }
        assertThat(seen).doesNotContain(false);
    }

    @Test
    void placesAreTakenAndGivenBack() throws Exception {
        UsageJournal journal = start(2, Duration.ofMillis(1));

        assertThat(journal.tryReserve()).isTrue();
        assertThat(journal.tryReserve()).isTrue();
        assertThat(journal.tryReserve()).isFalse();
        assertThat(journal.pending()).isEqualTo(2);
        journal.cancel();
        assertThat(journal.pending()).isOne();
        assertThat(journal.tryReserve()).isTrue();
        journal.append(Records.numbered(0));
        Records.await(() -> journal.pending() == 1);
        assertThat(journal.written()).isOne();
        assertThat(journal.tryReserve()).isTrue();
    }

    @Test
    void aQuarterOfThePlacesWakesTheWriterBeforeItsInterval() throws Exception {
        UsageJournal journal = start(8, Duration.ofHours(1));
        // the writer may still be on its way to its first pause: then later records wake it
        Records.await(() -> {
            if (journal.tryReserve()) {
                journal.append(Records.numbered(0));
            }
            return journal.written() >= 6;
        });
    }

    @Test
    void closeWritesWhatWaitsAndForcesIt() throws Exception {
        UsageJournal journal = start(1_000, Duration.ofHours(1));
        for (int i = 0; i < 200; i++) {
            reserve(journal);
            journal.append(Records.numbered(i));
        }

        assertThat(journal.close(LIMIT)).isZero();

        assertThat(Records.ids(disk.content())).isEqualTo(Records.ids(200));
        assertThat(disk.forced).isOne();
        assertThat(journal.tryReserve()).isFalse();
    }

    @Test
    void closeSaysHowManyAreMissing() throws Exception {
        UsageJournal journal = start(1_000, Duration.ofHours(1));
        int line = Records.line(Records.numbered(0)).length;
        disk.takes = all -> disk.content().length < line ? line + 3 : -1;
        for (int i = 0; i < 5; i++) {
            reserve(journal);
            journal.append(Records.numbered(i));
        }

        assertThat(journal.close(Duration.ofMillis(200))).isEqualTo(4);
    }

    @Test
    void noPlaceIsGivenOutWhileTheFileCanNotBeWritten() throws Exception {
        UsageJournal journal = start(1_000, Duration.ofMillis(1));
        disk.takes = all -> -1;
        reserve(journal);
        journal.append(Records.numbered(0));
        Records.await(journal::isFailing);

        assertThat(journal.tryReserve()).isFalse();
        assertThat(journal.written()).isZero();
        disk.takes = all -> all;
        Records.await(() -> !journal.isFailing());

        assertThat(journal.tryReserve()).isTrue();
        assertThat(Records.ids(disk.content())).containsExactly("r0");
        assertThat(journal.pending()).isOne();
    }

    @Test
    void aFileThatCanNotBeOpenedFailsTheStart() {
        disk.opens = false;

        assertThatThrownBy(() -> start(1, Duration.ofMillis(1))).isInstanceOf(IOException.class);
        assertThat(open != null && open.tryReserve()).isFalse();
    }

    @Test
    void aFileRenamedAwayIsOpenedAgain(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("usage.jsonl");
        UsageJournal journal = new UsageJournal(
                new UsageJournal.Settings(file, 10, Duration.ofMillis(1)), () -> AppendedFile.open(file), nanos::get);
        open = journal;
        journal.start();
        write(journal, 0);
        Files.move(file, folder.resolve("usage.jsonl.1"));
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
        write(journal, 1);
        Files.delete(file);
        Files.writeString(file, "{\"request_id\":\"torn");
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
        write(journal, 2);

        assertThat(Records.ids(Files.readAllBytes(folder.resolve("usage.jsonl.1"))))
                .containsExactly("r0");
        assertThat(Files.readString(file))
                .isEqualTo("{\"request_id\":\"torn\n"
                        + new String(Records.line(Records.numbered(2)), StandardCharsets.UTF_8));
    }

    @Test
    void aRestartGoesOnInTheSameFile(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("usage.jsonl");
        for (int i = 0; i < 2; i++) {
            try (UsageJournal journal = new UsageJournal(new UsageJournal.Settings(file, 10, Duration.ofMillis(1)))) {
                journal.start();
                write(journal, i);
            }
        }

        assertThat(Records.ids(Files.readAllBytes(file))).containsExactly("r0", "r1");
    }

    @Test
    void aSlowSinkHoldsThePlacesAndGetsEveryRecord() throws Exception {
        UsageJournal journal = start(3, Duration.ofMillis(1));
        Queue<UsageSink.Delivery> slow = new ConcurrentLinkedQueue<>();
        Queue<String> quick = new ConcurrentLinkedQueue<>();
        journal.add(slow::add);
        journal.add(delivery -> {
            quick.add(String.valueOf(delivery.record().requestId()));
            delivery.done();
        });
        for (int i = 0; i < 3; i++) {
            write(journal, i);
        }
        Records.await(() -> quick.size() == 3 && slow.size() == 3);

        assertThat(journal.tryReserve()).isFalse();
        assertThat(journal.pending()).isEqualTo(3);
        take(slow, "r0");
        assertThat(journal.pending()).isEqualTo(2);
        write(journal, 3);
        Records.await(() -> slow.size() == 3);
        take(slow, "r1");
        take(slow, "r2");
        take(slow, "r3");
        assertThat(journal.pending()).isZero();
        assertThat(quick).containsExactly("r0", "r1", "r2", "r3");
    }

    @Test
    void aSinkGetsARecordOnlyWhenItIsInTheFile() throws Exception {
        UsageJournal journal = start(3, Duration.ofMillis(1));
        Queue<Integer> sizes = new ConcurrentLinkedQueue<>();
        journal.add(delivery -> {
            sizes.add(disk.content().length);
            delivery.done();
        });

        write(journal, 0);
        journal.close(LIMIT);

        assertThat(sizes).containsExactly(Records.line(Records.numbered(0)).length);
    }

    @Test
    void aSinkThatThrowsHoldsNoPlaceAndStopsNobody() throws Exception {
        UsageJournal journal = start(2, Duration.ofMillis(1));
        UsageSink broken = delivery -> {
            throw new IllegalStateException("planned by the test");
        };
        journal.add(broken);
        write(journal, 0);
        journal.remove(broken);
        write(journal, 1);
        journal.close(LIMIT);

        assertThat(Records.ids(disk.content())).containsExactly("r0", "r1");
        assertThat(journal.pending()).isZero();
    }

    @Test
    void nothingIsReservedBeforeTheStart() {
        assertThat(journal(1, Duration.ofMillis(1)).tryReserve()).isFalse();
    }

    private UsageJournal journal(int maxPending, Duration interval) {
        UsageJournal journal = new UsageJournal(
                new UsageJournal.Settings(Path.of("usage.jsonl"), maxPending, interval), disk, nanos::get);
        open = journal;
        return journal;
    }

    private UsageJournal start(int maxPending, Duration interval) throws IOException {
        UsageJournal journal = journal(maxPending, interval);
        journal.start();
        return journal;
    }

    private static void reserve(UsageJournal journal) {
        Records.await(journal::tryReserve);
    }

    private static void write(UsageJournal journal, int number) {
        long before = journal.written();
        reserve(journal);
        journal.append(Records.numbered(number));
        Records.await(() -> journal.written() > before);
    }

    private static void take(Queue<UsageSink.Delivery> from, String id) {
        UsageSink.Delivery delivery = from.remove();
        assertThat(delivery.record().requestId()).isEqualTo(id);
        delivery.done();
    }

    private static int number(String id) {
        return Integer.parseInt(id.substring(1));
    }
}
