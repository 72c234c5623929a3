package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.apache.camel.Processor;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import routes.fixture.FakeReplica;
import routes.fixture.PostgresServer;
import routes.fixture.RawClient;
import routes.fixture.Requests;
import routes.fixture.ShippedRoutes;

/** The shipped route {@code usage-sql} and the shipped table, in a PostgreSQL server. */
@Tag("postgresql")
@Timeout(120)
class UsageDatabaseJourneyTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static PostgresServer server;
    private FakeReplica replica;

    @BeforeAll
    static void startServer() throws Exception {
        server = PostgresServer.create().start();
    }

    @AfterAll
    static void stopServer() throws Exception {
        server.close();
    }

    @BeforeEach
    void start() throws Exception {
        replica = FakeReplica.start();
        execute("DROP TABLE IF EXISTS dromedary_usage");
        execute(Files.readString(Path.of("deploy/usage/postgresql.sql")));
    }

    @AfterEach
    void stop() throws IOException {
        replica.close();
    }

    @Test
    void eachLineIsARow() throws Exception {
        try (TestGateway gateway = gateway("").start();
                RawClient client = RawClient.connect(gateway.port())) {
            for (int i = 0; i < 50; i++) {
                client.exchange(chat("r" + i, "{\"model\":\"m1\",\"stream\":" + (i % 2 == 0) + "}"));
            }
            client.exchange(chat("refused", "{\"model\":\"nope\"}"));
            gateway.awaitIdle();

            assertThat(rows()).containsExactlyInAnyOrderElementsOf(lines(gateway));
            assertThat(number("SELECT sum(total_tokens) FROM dromedary_usage WHERE tenant = 'tenant-one'"))
                    .isEqualTo(50 * 7);
        }
    }

    @Test
    void twoRequestsOfOneIdAreTwoRows() throws Exception {
        try (TestGateway gateway = gateway("").start();
                RawClient client = RawClient.connect(gateway.port())) {
            client.exchange(chat("mine", "{\"model\":\"m1\"}"));
            client.exchange(chat("mine", "{\"model\":\"m1\"}"));
            gateway.awaitIdle();

            assertThat(rows()).hasSize(2).containsExactlyInAnyOrderElementsOf(lines(gateway));
        }
    }

    @Test
    void whatComesAgainIsNotCountedAgain() throws Exception {
        AtomicInteger failures = new AtomicInteger(2);
        Processor failing = exchange -> {
            if (failures.getAndDecrement() > 0) {
                throw new IllegalStateException("after the row was written");
            }
        };
        try (TestGateway gateway = gateway("        - process: { ref: failing }\n")
                        .bean("failing", failing)
                        .start();
                RawClient client = RawClient.connect(gateway.port())) {
            client.exchange(chat("once", "{\"model\":\"m1\"}"));
            gateway.awaitIdle();

            assertThat(failures).as("tries").hasValue(-1);
            assertThat(rows()).hasSize(1).containsExactlyElementsOf(lines(gateway));
        }
    }

    @Test
    void aDatabaseThatGoesAndComesLosesNothingAndHoldsNobodyUp() throws Exception {
        try (TestGateway gateway = gateway("").start();
                LogCapture log = LogCapture.at(Level.WARN);
                RawClient client = RawClient.connect(gateway.port())) {
            client.exchange(chat("before", "{\"model\":\"m1\"}"));
            gateway.awaitIdle();
            server.stop();
            try {
                for (int i = 0; i < 20; i++) {
                    assertThat(client.exchange(chat("meanwhile" + i, "{\"model\":\"m1\"}"))
                                    .status())
                            .isEqualTo(200);
                }
                TestGateway.await(() -> !log.lines().isEmpty(), "a warning");
            } finally {
                server.start();
            }
            gateway.awaitIdle();

            assertThat(rows()).hasSize(21).containsExactlyInAnyOrderElementsOf(lines(gateway));
            assertThat(log.errors()).isEmpty();
        }
    }

    @Test
    void aDatabaseThatIsNotThereAtStartLosesNothingEither() throws Exception {
        server.stop();
        try (TestGateway gateway = gateway("").start();
                LogCapture log = LogCapture.at(Level.WARN);
                RawClient client = RawClient.connect(gateway.port())) {
            try {
                assertThat(client.exchange(chat("early", "{\"model\":\"m1\"}")).status())
                        .isEqualTo(200);
                TestGateway.await(() -> !log.lines().isEmpty(), "a warning");
            } finally {
                server.start();
            }
            gateway.awaitIdle();

            assertThat(rows()).hasSize(1).containsExactlyElementsOf(lines(gateway));
            assertThat(log.errors()).isEmpty();
        }
    }

    @Test
    void textThatDatabasesRefuseHoldsNothingUp() throws Exception {
        try (TestGateway gateway = gateway("").start();
                RawClient client = RawClient.connect(gateway.port())) {
            client.exchange(chat("odd", "{\"model\":\"m1\",\"user\":\"a\\u0000b \\ud800 \\\\u0000 '); -- \\\"\"}"));
            gateway.awaitIdle();

            assertThat(rows()).hasSize(1).containsExactlyElementsOf(lines(gateway));
        }
    }

    @Test
    void theTableIsBroughtUpToTheFileAndBilledAsThePageSays() throws Exception {
        try (TestGateway gateway = gateway("").start();
                RawClient client = RawClient.connect(gateway.port())) {
            for (int i = 0; i < 5; i++) {
                client.exchange(chat("r" + i, "{\"model\":\"m1\",\"user\":\"a \\\"b\\\\c\\n,\"}"));
            }
            gateway.awaitIdle();
            execute("DELETE FROM dromedary_usage WHERE request_id <> 'r0'");
            String torn = "{\"ts\":\"2026-01-31T23:5\n";
            List<String> scripts = Pattern.compile("```sql\n(.*?)```", Pattern.DOTALL)
                    .matcher(Files.readString(Path.of("docs/usage.md")))
                    .results()
                    .map(block -> block.group(1))
                    .toList();
            assertThat(scripts).hasSize(2);
            for (String script : scripts) {
                server.psql(script, "usage.jsonl", torn + String.join("\n", gateway.lines()) + "\n");
            }

            assertThat(rows()).hasSize(5).containsExactlyInAnyOrderElementsOf(lines(gateway));
        }
    }

    private TestGateway.Builder gateway(String lastSteps) {
        return TestGateway.builder()
                .property("usage-sql.enabled", true)
                .property("camel.beans.usageDatabase", "#class:com.zaxxer.hikari.HikariDataSource")
                .property("camel.beans.usageDatabase.jdbcUrl", server.jdbcUrl())
                .property("camel.beans.usageDatabase.username", "usage")
                .property("camel.beans.usageDatabase.password", "none")
                .property("camel.beans.usageDatabase.maximumPoolSize", 1)
                .property("camel.beans.usageDatabase.connectionTimeout", 1_000)
                .property("camel.beans.usageDatabase.initializationFailTimeout", -1)
                .model("m1", replica.url())
                .route(ShippedRoutes.yaml("usage-sql") + lastSteps);
    }

    private static Requests chat(String requestId, String json) {
        return Requests.post("/v1/chat/completions", json).key(TestGateway.KEY).header("X-Request-Id", requestId);
    }

    private static List<JsonNode> lines(TestGateway gateway) throws IOException {
        List<JsonNode> lines = new ArrayList<>();
        for (String line : gateway.lines()) {
            lines.add(comparable(line));
        }
        return lines;
    }

    private static List<JsonNode> rows() throws SQLException, IOException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            try (ResultSet rows = statement.executeQuery("SELECT to_json(r) FROM dromedary_usage r")) {
                List<JsonNode> found = new ArrayList<>();
                while (rows.next()) {
                    found.add(comparable(rows.getString(1)));
                }
                return found;
            }
        }
    }

    /** One instant can be written in many ways. */
    private static JsonNode comparable(String text) throws IOException {
        ObjectNode json = (ObjectNode) JSON.readTree(text);
        return json.put(
                "ts", OffsetDateTime.parse(json.path("ts").asText()).toInstant().toEpochMilli());
    }

    private static long number(String query) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            assertThat(rows.next()).isTrue();
            return rows.getLong(1);
        }
    }

    private static void execute(String sql) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static Connection connect() throws SQLException {
        return DriverManager.getConnection(server.jdbcUrl(), "usage", "");
    }
}
