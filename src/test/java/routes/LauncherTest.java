package routes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Starts that must fail: one line on standard error says where, what, and what is expected. */
@Timeout(60)
class LauncherTest {

    private static final String KEYS = "keys: [{ id: a, tenant: a, sha256: \"" + "0".repeat(63) + "1\" }]\n";
    private static final String MODEL = """
            - route:
                id: m1
                from:
                  uri: model:m1
                  steps:
            %s
            """;

    private final PrintStream usualErr = System.err;
    private final PrintStream usualOut = System.out;
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    @TempDir
    private Path folder;

    @BeforeEach
    void capture() throws IOException {
        Files.writeString(folder.resolve("keys.yaml"), KEYS);
        properties("");
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
    }

    @AfterEach
    void restore() {
        System.setErr(usualErr);
        System.setOut(usualOut);
    }

    @ParameterizedTest
    @CsvSource({
        "gateway.max-attempts, many, a whole number",
        "gateway.native-transport, maybe, true or false",
        "gateway.max-body-bytes, big, a number of bytes",
        "gateway.stall-timeout, soon, a duration",
        "gateway.max-head-bytes, 12, 1024 to 1048576"
    })
    void aWrongPropertyIsNamed(String property, String value, String expected) throws IOException {
        properties(property + "=" + value);
        assertFailsWith(property + ": '" + value + "'", "expected: " + expected);
    }

    @Test
    void anUnknownPropertyIsNamed() throws IOException {
        properties("gateway.stall-timout=1s");
        assertFailsWith("gateway.stall-timout: no such property", "--help");
    }

    @Test
    void withoutKeysOnlyTheDevProfileStarts() throws IOException {
        Files.delete(folder.resolve("keys.yaml"));
        assertFailsWith("gateway.keys-file: not set", "expected: the path of a keys.yaml");
    }

    @Test
    void aKeysFileThatIsNotThereIsNamed() throws IOException {
        properties("gateway.keys-file=" + folder.resolve("none.yaml"));
        assertFailsWith(folder.resolve("none.yaml") + ": there is no such file");
    }

    @Test
    void aWrongKeysFileIsNamedWithItsLine() throws IOException {
        Files.writeString(folder.resolve("keys.yaml"), "keys:\n  - id: a\n    tenant: a\n    sha256: sk-my-secret\n");
        String line =
                assertFailsWith(folder.resolve("keys.yaml") + ":4: key 'a': sha256: ", "expected: the 64 hex digits");
        assertThat(line).doesNotContain("sk-my-secret");
    }

    @Test
    void routesThatAreNotYamlAreNamedWithTheirPlace() throws IOException {
        routes("- route:\n    id: x\n   from: oops\n");
        assertFailsWith("routes.yaml, line 3");
    }

    @Test
    void routesThatAreNotThereAreNamed() throws IOException {
        properties("gateway.routes=file:" + folder.resolve("none.yaml"));
        assertFailsWith(folder.resolve("none.yaml").toString());
    }

    @ParameterizedTest
    @CsvSource({"vllm:http://127.0.0.1:1?slotz=3, slotz", "model:m2?aliaz=x, aliaz"})
    void anUnknownOptionIsNamedWithoutItsValue(String uri, String option) throws IOException {
        routes(MODEL.formatted("        - to: " + uri));
        assertThat(assertFailsWith("route m1", "unknown option " + option + " (expected: "))
                .doesNotContain(option + "=");
    }

    @Test
    void aVariableThatIsNotSetIsNamed() throws IOException {
        routes(MODEL.formatted("        - to: vllm:https://h?apiKey={{env:NO_SUCH_KEY}}"));
        assertFailsWith("route m1", "environment variable NO_SUCH_KEY: not set (expected: ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://127.0.0.1:1?trustStore=none.pem",
                "ftp://h:1",
                "http://h:99999",
                "http://h:1?slots=0",
                "http://user@h:1"
            })
    void aReplicaThatCanNotBeIsNamed(String replica) throws IOException {
        routes(MODEL.formatted("        - to: vllm:" + replica));
        assertFailsWith("route m1", "expected: ");
    }

    @Test
    void oneReplicaWithTwoNumbersOfSlotsIsNamed() throws IOException {
        routes(MODEL.formatted(
                "        - to: vllm:http://127.0.0.1:1?slots=3\n        - to: vllm:http://127.0.0.1:1?slots=4"));
        assertFailsWith("slots of http://127.0.0.1:1: 4 (expected: 3");
    }

    @Test
    void aBalancerTakesReplicasOnly() throws IOException {
        routes(MODEL.formatted("""
                        - loadBalance:
                            customLoadBalancer: { ref: affinity }
                            steps:
                              - log: hello
                """));
        assertFailsWith("affinity in route m1", "expected: steps 'to: vllm:http://host:port' only");
    }

    @Test
    void routesWithoutAFrontDoorAreNamed() throws IOException {
        routes(MODEL.formatted("        - to: vllm:http://127.0.0.1:1"));
        assertFailsWith(folder.resolve("routes.yaml") + ": no front door", "expected: ", "#door");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--frob", "run", "--config", "--config=/no/such/folder", "--port"})
    void aWrongOptionIsNamed(String option) {
        assertThat(new Launcher().run(option)).isEqualTo(2);
        assertThat(errors())
                .hasLineCount(1)
                .startsWith("dromedary: " + option.split("=", 2)[0])
                .contains("expected: ");
    }

    private String assertFailsWith(String... parts) {
        int status = new Launcher().run("--config", folder.toString());

        assertThat(status).isEqualTo(1);
        assertThat(errors())
                .hasLineCount(1)
                .startsWith("dromedary: can't start: ")
                .contains(parts);
        assertThat(out.toString(StandardCharsets.UTF_8)).isEmpty();
        return errors();
    }

    private String errors() {
        return err.toString(StandardCharsets.UTF_8);
    }

    private void routes(String yaml) throws IOException {
        Files.writeString(folder.resolve("routes.yaml"), yaml);
    }

    private void properties(String line) throws IOException {
        Files.writeString(
                folder.resolve("application.properties"),
                "gateway.port=0\ngateway.management.port=0\ngateway.warm-up=false\ngateway.usage.file="
                        + folder.resolve("usage.jsonl") + "\n" + line + "\n");
    }
}
