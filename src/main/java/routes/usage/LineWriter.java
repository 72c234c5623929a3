package routes.usage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A batch of lines on its way to the file. Each line gets there once: after a write that failed or fell short it goes on
 * at the exact byte, in the same file; where the rest of a line would land in another file, that line starts anew there.
 *
 * <p>The name is looked at each second at most: when it leads to another file or to none, as after a rotation by rename,
 * the file is opened again. A torn line at the end of a file that is opened, left by a crash, is closed with a newline.
 * No other program may write to the file.
 *
 * <p><b>Threading</b>: confined to one thread.
 *
 * <p><b>Failure</b>: {@link #flush()} throws and may be called again; the batch is kept.
 */
final class LineWriter {

    private static final int BATCH_BYTES = 64 * 1024;
    private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final LineFile.Opener opener;
    private final LongSupplier ticker;
    private final UsageLine lines = new UsageLine(BATCH_BYTES + UsageLine.MAX_BYTES);
    private int offset;
    private @Nullable LineFile file;
    private @Nullable Object key;
    private long size = -1;
    private long checkedNanos;

    LineWriter(LineFile.Opener opener, LongSupplier ticker) {
        this.opener = opener;
        this.ticker = ticker;
    }

    boolean hasRoom() {
        return lines.length() < BATCH_BYTES;
    }

    void add(UsageRecord record) {
        lines.append(record);
    }

    /** Opens the file; {@link #flush()} does so by itself. */
    void open() throws IOException {
        current();
    }

    /** Writes the batch and empties it. */
    void flush() throws IOException {
        LineFile to = current();
        try {
            while (offset < lines.length()) {
                int count = to.write(ByteBuffer.wrap(lines.array(), offset, lines.length() - offset));
                if (count <= 0) {
                    throw new IOException("the file takes no more bytes");
                }
                offset += count;
                size += count;
            }
        } catch (IOException e) {
            file = null;
            closeQuietly(to);
            throw e;
        }
        lines.clear();
        offset = 0;
    }

    void force() throws IOException {
        if (file != null) {
            file.force();
        }
    }

    /** Lines of the batch that are not in the file whole. */
    int unwritten() {
        int count = 0;
        for (int i = offset; i < lines.length(); i++) {
            if (lines.array()[i] == '\n') {
                count++;
            }
        }
        return count;
    }

    void close() {
        LineFile open = file;
        file = null;
        if (open != null) {
            closeQuietly(open);
        }
    }

    private LineFile current() throws IOException {
        LineFile open = file;
        long now = ticker.getAsLong();
        if (open != null && now - checkedNanos < CHECK_NANOS) {
            return open;
        }
        if (open != null) {
            if (open.isCurrent()) {
                checkedNanos = now;
                return open;
            }
            open.force();
            close();
        }
        LineFile opened = opener.open();
        try {
            goOn(opened);
        } catch (IOException e) {
            closeQuietly(opened);
            throw e;
        }
        file = opened;
        checkedNanos = now;
        return opened;
    }

    private void goOn(LineFile opened) throws IOException {
        if (opened.size() == size && Objects.equals(opened.key(), key)) {
            return;
        }
        size = -1;
        while (offset > 0 && lines.array()[offset - 1] != '\n') {
            offset--;
        }
        if (opened.endsInsideLine() && opened.write(ByteBuffer.wrap(new byte[] {'\n'})) != 1) {
            throw new IOException("the file takes no more bytes");
        }
        key = opened.key();
        size = opened.size();
    }

    private static void closeQuietly(LineFile open) {
        try {
            open.close();
        } catch (IOException ignored) {
            // whether all bytes arrived shows in the size when the file is opened again
        }
    }
}
