package routes.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import routes.auth.KeyStore;
import routes.quota.Quotas;
import routes.request.ApiKey;
import routes.request.CacheSalts;

/** {@code keys new}, {@code list} and {@code revoke}. */
class KeysCommandsTest {

    @TempDir
    private Path folder;

    @Test
    void aNewKeyIsPrintedOnceAndOnlyItsHashIsStored() throws IOException {
        Run run = keys("new", "--tenant", "team-a");

        String secret = run.out().strip();
        assertThat(run.status()).isZero();
        assertThat(secret).matches("sk-[0-9a-f]{48}");
        assertThat(run.out()).hasLineCount(1);
        assertThat(run.err()).contains("Key 'team-a-1' is in ").doesNotContain(secret);
        assertThat(text()).doesNotContain(secret.substring(3));
        ApiKey key = find(secret);
        assertThat(key).isNotNull();
        assertThat(key.id()).isEqualTo("team-a-1");
    }

    @Test
    void everyKeyIsANewOneWithAFreeId() {
        String first = keys("new", "--tenant", "team-a").out();
        String second = keys("new", "--tenant", "team-a").out();

        assertThat(first).isNotEqualTo(second);
        assertThat(keys("list").out()).contains("team-a-1", "team-a-2");
    }

    @Test
    void aKeyMayHaveAllThatTheFileKnows() throws IOException {
        Files.writeString(file(), """
                keys:
                  - { id: x, tenant: x, sha256: "%s" }
                plans:
                  trial: { requests-per-minute: 60 }
                """.formatted("0".repeat(63) + "1"));
        Run run = keys(
                "new",
                "--tenant",
                "team-b",
                "--id",
                "b",
                "--models",
                "llama,demo",
                "--expires",
                "90d",
                "--plan",
                "trial",
                "--limit",
                "concurrent-requests=2",
                "--limit",
                "on-exhausted=end");

        assertThat(run.err()).startsWith("Key 'b'");
        LocalDate end = LocalDate.now(ZoneOffset.UTC).plusDays(90);
        assertThat(keys("list").out()).contains("b   team-b  demo,llama  " + end + "T00:00:00Z  active");
        assertThat(text())
                .contains("plan: trial\n", "limits: { concurrent-requests: 2, on-exhausted: end }\n")
                .endsWith("  trial: { requests-per-minute: 60 }\n");
        assertThat(find(run.out().strip()).mayUse("llama")).isTrue();
    }

    @Test
    void aListShowsStatesAndNoWholeHash() throws IOException {
        Files.writeString(file(), """
                keys:
                  - { id: old, tenant: t, sha256: "%s", expires: 2020-01-01 }
                """.formatted("ab".repeat(32)));
        keys("new", "--tenant", "t", "--id", "gone");
        Run revoked = keys("revoke", "gone");

        assertThat(revoked.out()).isEqualTo("Key 'gone' is revoked in " + file() + System.lineSeparator());
        Run list = keys("list");
        assertThat(list.status()).isZero();
        assertThat(list.out())
                .containsPattern("(?m)^old +t +\\* +2020-01-01T00:00:00Z +expired +abababab…$")
                .containsPattern("(?m)^gone +t +\\* +never +revoked +[0-9a-f]{8}…$")
                .doesNotContain("ababababab");
    }

    @Test
    void aRevokedKeyIsRefused() throws IOException {
        keys("new", "--tenant", "t");
        String secret = keys("new", "--tenant", "t").out().strip();

        assertThat(find(secret)).isNotNull();
        assertThat(keys("revoke", "t-2").status()).isZero();
        assertThat(find(secret)).isNull();
        assertThat(keys("revoke", "t-2").status()).as("a second time").isZero();
    }

    @Test
    void whatCanNotBeMadeChangesNothing() throws IOException {
        keys("new", "--tenant", "t", "--id", "a");
        String before = text();

        assertFails("a key 'a' already", "new", "--tenant", "t", "--id", "a");
        assertFails("tenant: not a name", "new", "--tenant", "two words");
        assertFails("plan: there is no 'gold'", "new", "--tenant", "t", "--plan", "gold");
        assertFails(
                "requests-per-minute: not a whole number", "new", "--tenant", "t", "--limit", "requests-per-minute=x");
        assertFails("expires: not a date", "new", "--tenant", "t", "--expires", "soon");
        assertFails("there is no key 'b'", "revoke", "b");
        assertThat(text()).isEqualTo(before);
        assertThat(keys("new", "--tenant", "t", "--limit", "requests=1").status())
                .isEqualTo(2);
    }

    @Test
    void theFileIsTheOneThatTheGatewayReads() throws IOException {
        Path other = folder.resolve("other.yaml");
        Files.writeString(folder.resolve("application.properties"), "gateway.keys-file = " + other + "\n");
        keys("new", "--tenant", "t");
        assertThat(other).exists();

        Path third = folder.resolve("third.yaml");
        Run run = Run.in(
                Map.of("GATEWAY_KEYS_FILE", third.toString()),
                "keys",
                "new",
                "--tenant",
                "t",
                "--config",
                folder.toString());
        assertThat(run.status()).isZero();
        assertThat(third).exists();
        assertThat(file()).doesNotExist();
        assertThat(Run.of("keys", "list", "--file", third.toString()).out()).contains("t-1");
    }

    private void assertFails(String message, String... arguments) {
        Run run = keys(arguments);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).as("no secret of a key that wasn't made").isEmpty();
        assertThat(run.err()).hasLineCount(1).startsWith("dromedary: ").contains(message, "expected: ");
    }

    private Run keys(String... arguments) {
        String[] all = new String[arguments.length + 3];
        all[0] = "keys";
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        all[arguments.length + 1] = "--config";
        all[arguments.length + 2] = folder.toString();
        return Run.of(all);
    }

    private Path file() {
        return folder.resolve("keys.yaml");
    }

    private String text() throws IOException {
        return Files.readString(file());
    }

    private ApiKey find(String secret) {
        byte[] bytes = secret.getBytes(StandardCharsets.UTF_8);
        return KeyStore.load(file(), new Quotas(), new CacheSalts("")).find(bytes, 0, bytes.length, 1_800_000_000_000L);
    }
}
