package routes.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Edits of {@code keys.yaml} that leave everything else as it was written. */
@Timeout(60)
class KeysEditorTest {

    private static final String HASH = "0".repeat(63) + "1";
    private static final String COMMENTED = """
            # ours: 🐪
            keys:   # all of them
              # the first
              - id: a    # its id
                tenant: t
                sha256: "%s"
                models: [ "x",
                          "y" ]  # two

            # plans
            plans:
              p: { requests-per-minute: 1 }
            # the end
            """.formatted(HASH);

    @TempDir
    private Path folder;

    @Test
    void aKeyIsAddedBehindTheOthersAndCommentsStay() throws IOException {
        write(COMMENTED);
        editor().add(KeyDraft.of("b", "t"), "sk-b");

        String hash = Sha256.of("sk-b").hex();
        assertThat(text())
                .isEqualTo(COMMENTED.replace(
                        "# two\n", "# two\n  - id: b\n    tenant: t\n    sha256: \"" + hash + "\"\n"));
    }

    @Test
    void aKeyIsRevokedInItsPlaceAndCommentsStay() throws IOException {
        write(COMMENTED);
        editor().revoke("a");

        assertThat(text()).isEqualTo(COMMENTED.replace("# its id\n", "# its id\n    enabled: false\n"));
        assertThat(editor().list()).extracting(KeySummary::enabled).containsExactly(false);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "keys: [{ id: a, tenant: t, sha256: \"HASH\" }]",
                "keys:\n- {id: a, tenant: t, sha256: \"HASH\", enabled: true}\n",
                "keys:\n- id: a\n  tenant: t\n  enabled: true # so far\n  sha256: \"HASH\"",
                "keys:\n    -   tenant: t\n        sha256: \"HASH\"\n        id: a\n        limits:\n          priority: 3\n\n\n",
                "tenants: {t: {limits: {priority: 1}}}\nkeys:\n  -\n    id: \"a\"\n    tenant: t\n    sha256: \"HASH\"\n# end",
                "{keys: [{id: a, tenant: t, sha256: HASH}], plans: {}}",
                "keys:\r\n  - id: a\r\n    tenant: t\r\n    sha256: \"HASH\"\r\n"
            })
    void everyStyleCanBeEdited(String style) throws IOException {
        write(style.replace("HASH", HASH));
        assertThat(editor().add(
                                new KeyDraft(null, "t", List.of("m\"1\\", "true"), null, null, Map.of(), false),
                                "sk-b"))
                .isEqualTo("t-1");
        editor().revoke("a");
        editor().add(KeyDraft.of("null", "7"), "sk-c");
        editor().revoke("t-1");

        assertThat(editor().list()).extracting(KeySummary::id).containsExactly("a", "t-1", "null");
        assertThat(editor().list()).extracting(KeySummary::enabled).containsExactly(false, false, true);
        assertThat(editor().list().get(1).models()).containsExactly("m\"1\\", "true");
        assertThat(text()).contains("# ".repeat(style.contains("#") ? 1 : 0));
    }

    @Test
    void commentsAloneAreTheBeginningOfAFile() throws IOException {
        write("# nobody yet");
        editor().add(KeyDraft.of("a", "t"), "sk-a");

        assertThat(text()).startsWith("# nobody yet\nkeys:\n  - id: a\n");
    }

    @Test
    void aNewFileIsForItsOwnerOnlyAndAnOldOneKeepsItsPermissions() throws IOException {
        editor().add(KeyDraft.of("a", "t"), "sk-a");
        assertThat(permissions(file())).isEqualTo("rw-------");

        Files.setPosixFilePermissions(file(), PosixFilePermissions.fromString("rw-r-----"));
        editor().add(KeyDraft.of("b", "t"), "sk-b");
        assertThat(permissions(file())).isEqualTo("rw-r-----");
    }

    @Test
    void aLinkStaysALink() throws IOException {
        Path real = folder.resolve("real.yaml");
        Files.writeString(real, COMMENTED);
        Files.createSymbolicLink(file(), real);
        editor().add(KeyDraft.of("b", "t"), "sk-b");

        assertThat(Files.isSymbolicLink(file())).isTrue();
        assertThat(Files.readString(real)).contains("id: b");
    }

    @Test
    void theSameSecretOrIdTwiceIsRefused() throws IOException {
        editor().add(KeyDraft.of("a", "t"), "sk-a");
        String before = text();

        assertThatThrownBy(() -> editor().add(KeyDraft.of("a", "t"), "sk-b")).hasMessageContaining("'a' already");
        assertThatThrownBy(() -> editor().add(KeyDraft.of("b", "t"), "sk-a")).hasMessageContaining("the same secret");
        assertThat(text()).isEqualTo(before);
    }

    @Test
    void whatCanNotBeEditedSafelyIsLeftAlone() throws IOException {
        String shared = """
                keys:
                  - &first { id: a, tenant: t, sha256: "%s", limits: &l { priority: 1 } }
                  - { id: b, tenant: t, sha256: "%s", limits: *l }
                """.formatted(HASH, "2" + HASH.substring(1));
        write(shared);
        editor().revoke("b");
        assertThat(editor().list()).extracting(KeySummary::enabled).containsExactly(true, false);
    }

    @Test
    void editsAtOnceLoseNoKey() throws Exception {
        int writers = 8;
        int each = 5;
        ExecutorService pool = Executors.newFixedThreadPool(writers);
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int writer = 0; writer < writers; writer++) {
                int number = writer;
                all.add(pool.submit(() -> {
                    for (int i = 0; i < each; i++) {
                        editor().add(
                                        new KeyDraft(null, "t", List.of(), null, null, Map.of(), false),
                                        "sk-" + number + "-" + i);
                    }
                }));
            }
            for (Future<?> one : all) {
                one.get();
            }
        } finally {
            pool.shutdown();
        }
        assertThat(editor().list())
                .extracting(KeySummary::id)
                .doesNotHaveDuplicates()
                .hasSize(writers * each);
        assertThat(folder.toFile().list()).containsExactlyInAnyOrder("keys.yaml", ".keys.yaml.lock");
    }

    @Test
    void everyProblemOfAFileIsFound() throws IOException {
        write("""
                keys:
                  - { id: a, tenant: t, sha256: sk-secret }
                  - { id: b, sha256: "%s" }
                  - { id: c, tenant: t, sha256: "%s" }
                  - { id: d, tenant: t, sha256: "%s" }
                tenants:
                  u: { plan: x }
                  t: { plan: y }
                """.formatted(HASH, HASH, HASH));

        assertThat(editor().problems())
                .hasSize(5)
                .anyMatch(problem -> problem.startsWith(file() + ":2: key 'a': sha256: "))
                .anyMatch(problem -> problem.startsWith(file() + ":3: key 'b' without tenant"))
                .anyMatch(problem -> problem.startsWith(file() + ":7: tenant 'u': no key has it"))
                .anyMatch(problem -> problem.startsWith(file() + ":8: tenant 't': plan: there is no 'y'"))
                .anyMatch(problem -> problem.contains("keys 'c' and 'd' have the same secret"))
                .noneMatch(problem -> problem.contains("sk-secret"));
    }

    private static String permissions(Path file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    private KeysEditor editor() {
        return new KeysEditor(file());
    }

    private Path file() {
        return folder.resolve("keys.yaml");
    }

    private void write(String text) throws IOException {
        Files.writeString(file(), text);
    }

    private String text() throws IOException {
        return Files.readString(file());
    }
}
