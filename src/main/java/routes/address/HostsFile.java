package routes.address;

import io.netty.resolver.HostsFileEntriesProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The system's hosts file, read again when it has changed.
 *
 * <p><b>Threading:</b> confined to one thread. <b>Failure:</b> a file that can't be read changes nothing.
 */
final class HostsFile {

    private record Version(
            FileTime modified, long size, @Nullable Object key) {}

    private final Path path;
    private @Nullable Version version;
    private Map<String, List<InetAddress>> ipv4 = Map.of();
    private Map<String, List<InetAddress>> ipv6 = Map.of();

    HostsFile(Path path) {
        this.path = path;
    }

    static HostsFile ofSystem() {
        String windows = System.getenv("SystemRoot");
        return new HostsFile(
                windows == null ? Path.of("/etc/hosts") : Path.of(windows, "system32", "drivers", "etc", "hosts"));
    }

    /** Its addresses of a name; none when it doesn't know the name. */
    List<InetAddress> addresses(String name) {
        refresh();
        String key = (name.endsWith(".") ? name.substring(0, name.length() - 1) : name).toLowerCase(Locale.ROOT);
        List<InetAddress> found = new ArrayList<>(ipv4.getOrDefault(key, List.of()));
        found.addAll(ipv6.getOrDefault(key, List.of()));
        // not a name of any name server, and not every system's file has it
        return found.isEmpty() && key.equals("localhost") ? List.of(InetAddress.getLoopbackAddress()) : found;
    }

    private void refresh() {
        try {
            BasicFileAttributes now = Files.readAttributes(path, BasicFileAttributes.class);
            Version found = new Version(now.lastModifiedTime(), now.size(), now.fileKey());
            if (!found.equals(version)) {
                HostsFileEntriesProvider entries =
                        HostsFileEntriesProvider.parser().parse(path.toFile(), StandardCharsets.UTF_8);
                ipv4 = entries.ipv4Entries();
                ipv6 = entries.ipv6Entries();
                version = found;
            }
        } catch (IOException e) {
            // what was read last holds
        }
    }
}
