package routes.auth;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import routes.config.ConfigFile;

/**
 * Reads and edits a {@code keys.yaml} for its owner. Secrets are only hashed.
 *
 * <p><b>Threading:</b> any thread and any process: edits take turns, by a lock on a file beside it. <b>Failure:</b> {@link
 * IllegalArgumentException} with one line; the file is as it was then.
 */
public final class KeysEditor {

    private static final ReentrantLock TURN = new ReentrantLock();

    private final Path file;

    public KeysEditor(Path file) {
        this.file = file;
    }

    /** All keys, in the order of the file. */
    public List<KeySummary> list() {
        return KeysFile.read(file).keys().stream().map(KeySummary::of).toList();
    }

    /** What is wrong with the file, as far as it can be read; each in one line with its place. */
    public List<String> problems() {
        List<String> problems = new ArrayList<>();
        try {
            KeysFile.Contents contents =
                    KeysFile.parse(file.toString(), KeysFile.text(file), e -> problems.add(e.getMessage()));
            KeyStore.refuseDoubles(file + ": ", contents.keys());
        } catch (IllegalArgumentException e) {
            problems.add(e.getMessage());
        }
        return problems;
    }

    /**
     * Adds a key, and makes the file when there is none.
     *
     * @return the key's id
     */
    public String add(KeyDraft draft, String secret) {
        if (!YamlReader.isName(draft.tenant())) {
            throw new IllegalArgumentException("tenant: not a name" + YamlReader.NAME_EXPECTED);
        }
        return inTurn(() -> {
            String text = Files.exists(file) ? KeysFile.text(file) : "";
            boolean none = text.lines()
                    .allMatch(line -> line.isBlank() || line.stripLeading().startsWith("#"));
            List<KeyEntry> before =
                    none ? List.of() : KeysFile.parse(file.toString(), text).keys();
            String id = draft.id() == null ? freeId(draft.tenant(), before) : draft.id();
            if (before.stream().anyMatch(entry -> entry.key().id().equals(id))) {
                throw new IllegalArgumentException(
                        file + ": there is a key '" + id + "' already (expected: an id of its own)");
            }
            List<String> fields = draft.fields(id, Sha256.of(secret));
            String next = none ? KeysText.first(text, fields) : new KeysText(reader(), text).plus(fields);
            List<KeyEntry> after = checked(next, "with the new key");
            if (after.size() != before.size() + 1
                    || !after.get(before.size()).key().id().equals(id)
                    || !sameButEnabled(before, after, null)) {
                throw unforeseen("add the key");
            }
            write(next);
            return id;
        });
    }

    /** Disables a key: its id and its secret stay taken, and the secret is refused. */
    public void revoke(String id) {
        inTurn(() -> {
            String text = KeysFile.text(file);
            List<KeyEntry> before = KeysFile.parse(file.toString(), text).keys();
            String next = new KeysText(reader(), text).disabled(id);
            if (next == null) {
                throw new IllegalArgumentException(
                        file + ": there is no key '" + id + "' (expected: an id that 'dromedary keys list' shows)");
            }
            List<KeyEntry> after = checked(next, "without the key");
            if (after.size() != before.size() || !sameButEnabled(before, after, id)) {
                throw unforeseen("write 'enabled: false' at the key");
            }
            write(next);
            return id;
        });
    }

    private YamlReader reader() {
        return new YamlReader(file.toString());
    }

    private List<KeyEntry> checked(String next, String how) {
        String name = file + " " + how;
        List<KeyEntry> after = KeysFile.parse(name, next).keys();
        KeyStore.refuseDoubles(name + ": ", after);
        return after;
    }

    private static boolean sameButEnabled(List<KeyEntry> before, List<KeyEntry> after, @Nullable String revoked) {
        for (int i = 0; i < before.size(); i++) {
            KeySummary was = KeySummary.of(before.get(i));
            KeySummary is = KeySummary.of(after.get(i));
            boolean enabled = was.enabled() && !was.id().equals(revoked);
            KeySummary expected = new KeySummary(
                    was.id(), was.tenant(), was.models(), was.expiresAtEpochMillis(), enabled, was.fingerprint());
            if (!is.equals(expected)
                    || !before.get(i).hash().equals(after.get(i).hash())) {
                return false;
            }
        }
        return true;
    }

    private IllegalArgumentException unforeseen(String what) {
        return new IllegalArgumentException(
                file + ": is written in a way that can't be edited here (expected: by hand, " + what + ")");
    }

    private static String freeId(String tenant, List<KeyEntry> taken) {
        Set<String> ids = new HashSet<>();
        taken.forEach(entry -> ids.add(entry.key().id()));
        int number = 1;
        while (ids.contains(tenant + "-" + number)) {
            number++;
        }
        return tenant + "-" + number;
    }

    private void write(String text) throws IOException {
        if (Files.exists(file)) {
            ConfigFile.replace(file, text);
        } else {
            ConfigFile.create(file, text);
        }
    }

    private interface Edit {
        String apply() throws IOException;
    }

    /** Holds a lock that this process and all others respect; the file itself is replaced, so it can't carry it. */
    private String inTurn(Edit edit) {
        Path beside = file.toAbsolutePath().resolveSibling("." + file.getFileName() + ".lock");
        TURN.lock();
        try (FileChannel channel = FileChannel.open(beside, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            return lock.isValid() ? edit.apply() : "";
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    file + ": can't be written: " + e + " (expected: a folder that this user may write to)", e);
        } finally {
            TURN.unlock();
        }
    }
}
