package routes.config;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * Writes a configuration file whole: whoever reads it meanwhile sees the old text or the new one, and after a crash one of
 * the two is there.
 */
public final class ConfigFile {

    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rw-------");

    private ConfigFile() {}

    /** Writes a file that is not there yet; only its owner may read it. */
    public static void create(Path file, String text) throws IOException {
        if (Files.exists(file)) {
            throw new FileAlreadyExistsException(file.toString());
        }
        write(file.toAbsolutePath(), text, OWNER_ONLY);
    }

    /** Puts a text in a file's place; its permissions stay, and so does a link that leads to it. */
    public static void replace(Path file, String text) throws IOException {
        Path real = file.toRealPath();
        write(real, text, hasPermissions(real) ? Files.getPosixFilePermissions(real) : OWNER_ONLY);
    }

    private static void write(Path file, String text, Set<PosixFilePermission> permissions) throws IOException {
        Path folder = file.getParent();
        Path temporary = Files.createTempFile(folder, "." + file.getFileName(), ".tmp");
        try {
            try (FileChannel channel = FileChannel.open(temporary, StandardOpenOption.WRITE)) {
                ByteBuffer bytes = StandardCharsets.UTF_8.encode(text);
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
                channel.force(true);
            }
            if (hasPermissions(temporary)) {
                Files.setPosixFilePermissions(temporary, permissions);
            }
            Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(temporary);
        }
        try (FileChannel entries = FileChannel.open(folder, StandardOpenOption.READ)) {
            entries.force(true);
        }
    }

    private static boolean hasPermissions(Path file) {
        return file.getFileSystem().supportedFileAttributeViews().contains("posix");
    }
}
