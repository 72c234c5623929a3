package routes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import routes.command.Findings;
import routes.command.Plan;
import routes.command.Run;

/** {@code dromedary check} and what else is checked: all that is wrong, where it stands, and nothing done. */
@Timeout(60)
class RehearsalTest {

    private static final String KEYS = "keys: [{ id: a, tenant: t, sha256: \"" + "0".repeat(63) + "1\" }]\n";
    private static final String DOOR = """
            - route:
                id: front
                from:
                  uri: netty-http:http://{{gateway.host}}:{{gateway.port}}
                  parameters: { serverInitializerFactory: "#door" }
                  steps:
                    - process: { ref: auth }
                    - process: { ref: prompt }
                    - to: model:*
            """;
    private static final String MODEL = """
            - route:
                id: %1$s
                from:
                  uri: model:%1$s
                  parameters: { %2$s }
                  steps:
            %3$s
            """;

    @TempDir
    private Path folder;

    @BeforeEach
    void configure() throws IOException {
        write("keys.yaml", KEYS);
    }

    @Test
    void whatWouldRunIsSummedUp() throws IOException {
        write("routes.yaml", DOOR + """
                - route:
                    id: big
                    from:
                      uri: model:org/big
                      parameters: { aliases: "b, gpt-4o", fallback: small }
                      steps:
                        - loadBalance:
                            customLoadBalancer: { ref: affinity }
                            steps:
                              - to: vllm:http://gpu-1:8000?slots=100
                              - to: vllm:http://pool:8000?slots=10&resolve=all
                """ + model("small", "", "        - to: direct:replica") + """
                - route:
                    id: replica
                    from: { uri: direct:replica, steps: [{ to: "vllm:http://gpu-1:8000?slots=100" }] }
                - route:
                    id: off
                    precondition: "{{off:false}}"
                    from: { uri: direct:off, steps: [{ to: "no-such-component:x" }] }
                """);
        Findings findings = findings();

        assertThat(findings.problems()).isEmpty();
        assertThat(findings.warnings()).isEmpty();
        Plan plan = findings.plan();
        assertThat(plan.door()).isEqualTo("http://0.0.0.0:8080");
        assertThat(plan.routes()).containsExactly("front", "big", "small", "replica");
        assertThat(plan.names()).containsExactly("b", "gpt-4o", "org/big", "small");
        assertThat(plan.servers())
                .containsExactly(
                        new Plan.Server("http://gpu-1:8000", 100, false),
                        new Plan.Server("http://pool:8000", 10, true));
        Run run = check();
        assertThat(run.status()).isZero();
        assertThat(run.err()).isEmpty();
        assertThat(run.out())
                .contains("listen on http://0.0.0.0:8080", "1 of 1 tenant", "110 slots or more")
                .contains("org/big (b, gpt-4o): 2 replicas", "http://pool:8000 (all addresses), else small")
                .contains("small: 1 replica, 100 slots: http://gpu-1:8000");
    }

    @Test
    void theBuiltInRoutesAndTheExampleKeysAreRight() throws IOException {
        write("keys.yaml", Files.readString(Path.of("src/main/dist/conf/keys.example.yaml")));

        assertThat(findings().problems()).isEmpty();
        assertThat(findings().plan().names()).contains("demo");
    }

    @Test
    void theDevProfileNeedsNoKeys() {
        Findings findings = new Gateway.Programs().check(List.of("--profile", "dev"));

        assertThat(findings.problems()).isEmpty();
        assertThat(findings.plan().routes()).contains("house-rules", "usage-events");
    }

    @Test
    void nothingIsOpenedAndNothingWritten() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            int port = taken.getLocalPort();
            write(
                    "application.properties",
                    "gateway.host=127.0.0.1\ngateway.port=" + port
                            + "\ngateway.management.port=" + port + "\ngateway.usage.file="
                            + folder.resolve("usage.jsonl")
                            + "\ngateway.console=true\ngateway.demo.replicas=2\ngateway.demo.first-port=" + port
                            + "\n");
            write(
                    "routes.yaml",
                    DOOR + model("m", "", "        - to: vllm:http://127.0.0.1:" + port) + "- from: { uri: \"file:"
                            + folder + "/inbox\", steps: [{ to: \"file:" + folder + "/outbox\" }] }\n");
            long threads = gatewayThreads();

            assertThat(findings().problems()).isEmpty();
            taken.setSoTimeout(1);
            assertThatThrownBy(taken::accept).isInstanceOf(SocketTimeoutException.class);
            assertThat(gatewayThreads()).isLessThanOrEqualTo(threads);
        }
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder("keys.yaml", "application.properties", "routes.yaml");
        }
    }

    @Test
    void everyProblemIsNamedWithItsPlace() throws IOException {
        write("application.properties", """
                gateway.stall-timout = 1s
                gateway.port = many
                gateway.max-body-bytes = 2g
                """);
        write("keys.yaml", "keys:\n  - { id: a, tenant: t, sha256: sk-secret }\n  - { id: b, sha256: x }\n");
        write(
                "routes.yaml",
                DOOR
                        + model("a", "fallback: nobody", """
                            - to: vllm:http://h:1?slotz=3
                            - to: vllm:http://h:2?slots=0
                    """)
                        + model("b", "queueLimit: -1", "        - to: vllm:http://h:3")
                        + model("c", "aliases: \"b\"", "        - to: direct:nowhere"));
        Run run = check();

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).isEmpty();
        assertThat(run.err().lines())
                .contains(at("application.properties", 1)
                        + "gateway.stall-timout: no such property (expected: perhaps gateway.stall-timeout)")
                .anyMatch(line -> line.startsWith(at("application.properties", 2) + "gateway.port: 'many' (expected: "))
                .anyMatch(line -> line.startsWith(at("application.properties", 3) + "gateway.max-body-bytes: '2g'"))
                .anyMatch(line -> line.startsWith(at("keys.yaml", 2) + "key 'a': sha256: "))
                .anyMatch(line -> line.startsWith(at("keys.yaml", 3) + "key 'b' without tenant"))
                .anyMatch(line -> line.startsWith(at("routes.yaml", 16)) && line.contains("unknown option slotz"))
                .anyMatch(line -> line.startsWith(at("routes.yaml", 17)) && line.contains("slots: 0 (expected: >= 1)"))
                .anyMatch(line -> line.contains("route b: queueLimit: -1 (expected: 0 or more requests)"))
                .anyMatch(line -> line.contains("route c: the name 'b' is that of model b already"))
                .contains("9 problems");
        assertThat(run.err()).doesNotContain("sk-secret");
    }

    @Test
    void whatRoutesLeadToMustBeThere() throws IOException {
        write(
                "routes.yaml",
                DOOR
                        + model("a", "fallback: nobody", "        - to: direct:nowhere")
                        + model("b", "fallback: c", "        - to: model:d")
                        + model("c", "fallback: b", "        - log: x"));

        assertThat(findings().problems())
                .anyMatch(line -> line.contains("route a: fallback: no route serves 'nobody' (expected: "))
                .anyMatch(line -> line.contains("route a: to: direct://nowhere: no route begins there (expected: "))
                .anyMatch(line -> line.contains("route b: fallback: 'c' leads back to this model (expected: "))
                .anyMatch(line -> line.contains("route c: fallback: 'b' leads back to this model (expected: "))
                .anyMatch(line -> line.contains("route b: to: model:d: no route serves it (expected: "))
                .hasSize(5);
    }

    @Test
    void replicasOptionsMustAgreeAndBalancersTakeReplicasOnly() throws IOException {
        write(
                "routes.yaml",
                DOOR
                        + model("a", "", "        - to: vllm:http://h:1?slots=3")
                        + model("b", "", "        - to: vllm:http://h:1?slots=4")
                        + model("c", "", """
                            - loadBalance:
                                customLoadBalancer: { ref: affinity }
                                steps: [{ log: hello }]
                    """)
                        + model("d", "totalTimeout: soon", "        - log: x"));

        assertThat(findings().problems())
                .anyMatch(line -> line.contains("route b: slots of http://h:1: 4 (expected: 3"))
                .anyMatch(line -> line.contains("affinity in route c: ") && line.contains("only)"))
                .anyMatch(line -> line.contains("route d: totalTimeout: 'soon' (expected: "))
                .hasSize(3);
    }

    @Test
    void aFileThatCanNotBeReadIsNamed() throws IOException {
        write("routes.yaml", "- route:\n    id: x\n   from: oops\n");
        assertThat(findings().problems()).hasSize(1).first().asString().contains("routes.yaml, line 3");

        write("routes.yaml", model("m", "", "        - log: x"));
        assertThat(findings().problems()).singleElement().asString().startsWith("no front door (expected: ");

        write("application.properties", "gateway.keys-file = " + folder.resolve("none.yaml") + "\n");
        assertThat(findings().problems()).anyMatch(line -> line.contains("none.yaml: there is no such file"));
    }

    @Test
    void keysForModelsThatNobodyServesAreOdd() throws IOException {
        write("keys.yaml", "keys: [{ id: a, tenant: t, models: [demoo], sha256: \"" + "0".repeat(63) + "1\" }]\n");

        assertThat(findings().problems()).isEmpty();
        assertThat(check().err()).contains("warning: ", "key 'a': no route serves the model 'demoo' (perhaps demo)");
        assertThat(check().status()).isZero();
    }

    @Test
    void whatIsImportedFromLiteLlmPassesTheCheck() throws IOException {
        String page = Files.readString(Path.of("docs/migration-litellm.md"));
        String example = page.substring(page.indexOf("```yaml\n") + 8);
        write("config.yaml", example.substring(0, example.indexOf("```")));
        Path out = folder.resolve("made");
        Run run = Run.with(
                new Gateway.Programs(),
                Map.of("LITELLM_MASTER_KEY", "sk-from-before"),
                "import",
                "litellm",
                folder.resolve("config.yaml").toString(),
                "--out",
                out.toString());

        assertThat(run.err())
                .contains("Works differently here:", "Not converted:")
                .doesNotContain("problem", "sk-");
        assertThat(run.out()).contains("The gateway would start", "models   2");
        assertThat(run.status()).isZero();
        assertThat(Files.readString(out.resolve("keys.yaml"))).doesNotContain("sk-from-before");
        Run again = Run.with(
                new Gateway.Programs(),
                Map.of(),
                "import",
                "litellm",
                folder.resolve("config.yaml").toString(),
                "--out",
                out.toString());
        assertThat(again.status()).isEqualTo(1);
        assertThat(again.err()).contains("routes.yaml: is there (expected: ");
    }

    @Test
    void withoutAMasterKeyTheImportMakesAKeyAndShowsItOnce() throws IOException {
        write("config.yaml", """
                model_list:
                  - { model_name: m, litellm_params: { model: hosted_vllm/m, api_base: "http://h:1/v1", api_key: sk-theirs+&%41 } }
                """);
        Path out = folder.resolve("made");
        Run run = Run.with(
                new Gateway.Programs(),
                Map.of(),
                "import",
                "litellm",
                folder.resolve("config.yaml").toString(),
                "--out",
                out.toString());

        assertThat(run.status()).isZero();
        String secret = run.out().lines().findFirst().orElseThrow();
        assertThat(secret).matches("sk-[0-9a-f]{48}");
        assertThat(run.err()).doesNotContain("sk-");
        assertThat(Files.readString(out.resolve("routes.yaml"))).doesNotContain("sk-");
        assertThat(Files.readString(out.resolve("application.properties"))).contains("= sk-theirs+&%41\n");
    }

    private static long gatewayThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.isAlive() && thread.getName().startsWith("gateway-loop"))
                .count();
    }

    private Run check() {
        return Run.with(new Gateway.Programs(), Map.of(), "check", "--config", folder.toString());
    }

    private Findings findings() {
        return new Gateway.Programs().check(List.of("--config", folder.toString()));
    }

    private static String model(String name, String parameters, String steps) {
        return MODEL.formatted(name, parameters, steps.stripTrailing());
    }

    private String at(String file, int line) {
        return folder.resolve(file) + ":" + line + ": ";
    }

    private void write(String file, String text) throws IOException {
        Files.writeString(folder.resolve(file), text);
    }
}
