package routes.usage;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/** A disk with one name on it: files can be moved away from the name, and writes fall short or fail as told. */
final class FakeDisk implements LineFile.Opener {

    /** Bytes of a write that go through, given how many there are; negative: the write fails. */
    volatile IntUnaryOperator takes = all -> all;

    volatile boolean opens = true;
    private final List<FakeFile> files = new ArrayList<>();
    private @Nullable FakeFile named;
    int forced;

    /** Bytes of all files, the oldest first. */
    synchronized List<byte[]> contents() {
        return files.stream().map(file -> file.bytes.toByteArray()).toList();
    }

    synchronized byte[] content() {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        contents().forEach(all::writeBytes);
        return all.toByteArray();
    }

    /** As logrotate does: the next open of the name makes another file. */
    synchronized void rotate() {
        named = null;
    }

    synchronized void preset(String content) {
        named = new FakeFile();
        files.add(named);
        named.bytes.writeBytes(content.getBytes(java.nio.charset.StandardCharsets.UTF_8));
    }

    @Override
    public synchronized LineFile open() throws IOException {
        if (!opens) {
            throw new IOException("no such folder");
        }
        FakeFile file = named;
        if (file == null) {
            file = new FakeFile();
            named = file;
            files.add(file);
        }
        return new Handle(file);
    }

    private static final class FakeFile {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    }

    private final class Handle implements LineFile {
        private final FakeFile file;
        private boolean closed;

        Handle(FakeFile file) {
            this.file = file;
        }

        @Override
        public int write(ByteBuffer from) throws IOException {
            synchronized (FakeDisk.this) {
                if (closed) {
                    throw new IOException("closed");
                }
                int count = Math.min(from.remaining(), takes.applyAsInt(from.remaining()));
                if (count < 0) {
                    throw new IOException("no space left");
                }
                file.bytes.write(from.array(), from.arrayOffset() + from.position(), count);
                from.position(from.position() + count);
                return count;
            }
        }

        @Override
        public void force() {
            forced++;
        }

        @Override
        public long size() {
            return file.bytes.size();
        }

        @Override
        public Object key() {
            return file;
        }

        @Override
        public boolean isCurrent() {
            synchronized (FakeDisk.this) {
                return file == named;
            }
        }

        @Override
        public boolean endsInsideLine() {
            byte[] bytes = file.bytes.toByteArray();
            return bytes.length > 0 && bytes[bytes.length - 1] != '\n';
        }

        @Override
        public void close() {
            closed = true;
        }
    }
}
