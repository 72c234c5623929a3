package routes.usage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A file of lines in the file system, opened for appending. */
final class AppendedFile implements LineFile {

    private final Path path;
    private final FileChannel channel;
    private final @Nullable Object key;

    private AppendedFile(Path path, FileChannel channel, @Nullable Object key) {
        this.path = path;
        this.channel = channel;
        this.key = key;
    }

    static AppendedFile open(Path path) throws IOException {
        Path folder = path.toAbsolutePath().getParent();
        if (folder != null) {
            Files.createDirectories(folder);
        }
        for (int i = 0; i < 3; i++) {
            boolean existed = Files.exists(path);
            Object before = existed ? keyOf(path) : null;
            FileChannel channel = FileChannel.open(
                    path, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
            try {
                Object after = keyOf(path);
                if (!existed || Objects.equals(before, after)) {
                    return new AppendedFile(path, channel, after);
                }
                channel.close();
            } catch (IOException e) {
                channel.close();
                throw e;
            }
        }
        throw new IOException("the file is replaced again and again while it is opened");
    }

    @Override
    public int write(ByteBuffer bytes) throws IOException {
        return channel.write(bytes);
    }

    @Override
    public void force() throws IOException {
        channel.force(false);
    }

    @Override
    public long size() throws IOException {
        return channel.size();
    }

    @Override
    public @Nullable Object key() {
        return key;
    }

    @Override
    public boolean isCurrent() throws IOException {
        try {
            return Objects.equals(key, keyOf(path));
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    @Override
    public boolean endsInsideLine() throws IOException {
        long size = channel.size();
        if (size == 0) {
            return false;
        }
        try (SeekableByteChannel end = Files.newByteChannel(path, StandardOpenOption.READ)) {
            ByteBuffer last = ByteBuffer.allocate(1);
            return end.position(size - 1).read(last) == 1 && last.get(0) != '\n';
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    private static @Nullable Object keyOf(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    }
}
