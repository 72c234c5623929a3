package routes.usage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

class LineWriterTest {

    private final FakeDisk disk = new FakeDisk();
    private final AtomicLong nanos = new AtomicLong();
    private final LineWriter writer = new LineWriter(disk, nanos::get);

    @Property(tries = 300)
    void whateverWritesFallShortOrFailEachLineIsThereOnceAndInOrder(@ForAll long seed) throws Exception {
        FakeDisk disk = new FakeDisk();
        LineWriter writer = new LineWriter(disk, nanos::get);
        Random random = new Random(seed);
        disk.takes = all -> switch (random.nextInt(4)) {
            case 0 -> -1;
            case 1 -> 0;
            case 2 -> random.nextInt(all + 1);
            default -> all;
        };

        for (int i = 0; i < 40; i++) {
            writer.add(Records.numbered(i));
            if (random.nextInt(3) == 0) {
                flushUntilDone(writer);
            }
        }
        flushUntilDone(writer);

        assertThat(Records.ids(disk.content())).isEqualTo(Records.ids(40));
        assertThat(disk.contents()).hasSize(1);
    }

    @Property(tries = 300)
    void aRotationBetweenAFailureAndTheNextTryTearsNoLine(@ForAll long seed) throws Exception {
        FakeDisk disk = new FakeDisk();
        LineWriter writer = new LineWriter(disk, nanos::get);
        Random random = new Random(seed);
        disk.takes = all -> random.nextInt(3) == 0 ? -1 : random.nextInt(all + 1);

        for (int i = 0; i < 40; i++) {
            writer.add(Records.numbered(i));
            if (random.nextInt(4) == 0) {
                tryFlush(writer);
            }
            if (random.nextInt(4) == 0) {
                disk.rotate();
            }
        }
        flushUntilDone(writer);

        List<String> whole = new ArrayList<>();
        for (byte[] file : disk.contents()) {
            String text = new String(file, StandardCharsets.UTF_8);
            String lines = text.substring(0, text.lastIndexOf('\n') + 1);
            whole.addAll(Records.ids(lines.getBytes(StandardCharsets.UTF_8)));
        }
        assertThat(whole).isEqualTo(Records.ids(40));
    }

    @Example
    void afterAPartOfALineItGoesOnAtTheExactByte() throws Exception {
        disk.takes = all -> disk.content().length == 0 ? 10 : -1;
        writer.add(Records.numbered(0));
        assertThatThrownBy(writer::flush).isInstanceOf(IOException.class);
        assertThat(disk.content()).hasSize(10);
        assertThat(writer.unwritten()).isOne();

        disk.takes = all -> all;
        writer.flush();

        assertThat(disk.content()).isEqualTo(Records.line(Records.numbered(0)));
        assertThat(writer.unwritten()).isZero();
    }

    @Example
    void aTornLineOfAnEarlierCrashIsClosedFirst() throws Exception {
        disk.preset("{\"ts\":\"20");

        writer.add(Records.numbered(0));
        writer.flush();

        assertThat(new String(disk.content(), StandardCharsets.UTF_8))
                .isEqualTo("{\"ts\":\"20\n" + new String(Records.line(Records.numbered(0)), StandardCharsets.UTF_8));
    }

    @Example
    void aFileMovedAwayIsNoticedAfterASecond() throws Exception {
        writer.add(Records.numbered(0));
        writer.flush();
        disk.rotate();
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(999));
        writer.add(Records.numbered(1));
        writer.flush();
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(1));
        writer.add(Records.numbered(2));
        writer.flush();

        assertThat(disk.contents()).hasSize(2);
        assertThat(Records.ids(disk.contents().get(0))).containsExactly("r0", "r1");
        assertThat(Records.ids(disk.contents().get(1))).containsExactly("r2");
        assertThat(disk.forced).isOne();
    }

    @Example
    void aTruncatedFileGetsTheTornLineWhole() throws Exception {
        disk.takes = all -> disk.content().length == 0 ? 10 : -1;
        writer.add(Records.numbered(0));
        assertThatThrownBy(writer::flush).isInstanceOf(IOException.class);
        disk.rotate();
        disk.preset("");

        disk.takes = all -> all;
        writer.flush();

        assertThat(disk.contents().get(1)).isEqualTo(Records.line(Records.numbered(0)));
    }

    private static void flushUntilDone(LineWriter writer) {
        while (!tryFlush(writer)) {
            Thread.onSpinWait();
        }
    }

    private static boolean tryFlush(LineWriter writer) {
        try {
            writer.flush();
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
