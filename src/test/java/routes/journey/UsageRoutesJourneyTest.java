package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;
import org.apache.camel.component.kafka.DefaultKafkaClientFactory;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import routes.fixture.FakeReplica;
import routes.fixture.GatewayProcess;
import routes.fixture.RawClient;
import routes.fixture.Requests;
import routes.fixture.ShippedRoutes;

/** The shipped routes that take usage records elsewhere; that to a database is in {@link UsageDatabaseJourneyTest}. */
@Timeout(120)
class UsageRoutesJourneyTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    private FakeReplica replica;

    @BeforeEach
    void start() throws IOException {
        replica = FakeReplica.start();
    }

    @AfterEach
    void stop() throws IOException {
        replica.close();
    }

    @Test
    void theFileOfTheDayHasEachLine(@TempDir Path folder) throws Exception {
        try (TestGateway gateway =
                gateway("usage-events").property("usage-events.folder", folder).start()) {
            askThrice(gateway);

            try (Stream<Path> files = Files.list(folder)) {
                List<Path> all = files.toList();
                assertThat(all).hasSize(1);
                assertThat(all.get(0).getFileName().toString()).matches("usage-\\d{8}\\.jsonl");
                assertSameLines(Files.readAllLines(all.get(0)), gateway.lines());
            }
        }
    }

    @Test
    void theLogHasEachLine() throws Exception {
        try (TestGateway gateway = gateway("usage-log").start();
                LogCapture log = LogCapture.at(Level.INFO)) {
            askThrice(gateway);

            assertSameLines(
                    log.lines().stream()
                            .filter(line -> line.contains(" usage - {"))
                            .map(line -> line.substring(line.indexOf('{')).strip())
                            .toList(),
                    gateway.lines());
        }
    }

    @Test
    void kafkaGetsEachLineUnderItsTenant() throws Exception {
        MockProducer<String, String> broker = new MockProducer<>(true, new StringSerializer(), new StringSerializer());
        try (TestGateway gateway = kafka(broker).start()) {
            askThrice(gateway);

            assertSameLines(broker.history().stream().map(ProducerRecord::value).toList(), gateway.lines());
            assertThat(broker.history())
                    .extracting(ProducerRecord::topic)
                    .containsOnly("dromedary-usage")
                    .hasSize(3);
            assertThat(broker.history())
                    .extracting(ProducerRecord::key)
                    .containsExactly("tenant-one", "tenant-two", "tenant-one");
        }
    }

    @Test
    void whatKafkaRefusesComesAgain() throws Exception {
        MockProducer<String, String> broker = new MockProducer<>(false, new StringSerializer(), new StringSerializer());
        try (TestGateway gateway = kafka(broker).start();
                RawClient client = RawClient.connect(gateway.port())) {
            assertThat(client.exchange(chat("one", TestGateway.KEY)).status()).isEqualTo(200);
            TestGateway.await(() -> broker.history().size() == 1, "the record's first way to the broker");
            assertThat(broker.errorNext(new TimeoutException("no leader"))).isTrue();
            TestGateway.await(() -> broker.history().size() == 2, "its second way");
            assertThat(broker.completeNext()).isTrue();
            gateway.awaitIdle();

            assertThat(broker.history().get(1).value())
                    .isEqualTo(broker.history().get(0).value());
        }
    }

    @Test
    void aBrokerThatIsNotThereHoldsNobodyUp(@TempDir Path folder) throws Exception {
        Map<String, String> environment = Map.of(
                "GATEWAY_PORT", "0",
                "GATEWAY_DEMO_REPLICAS", "0",
                "DEMO_REPLICA_1", replica.url(),
                "DEMO_REPLICA_2", replica.url(),
                "USAGE_EVENTS_ENABLED", "false",
                "USAGE_KAFKA_ENABLED", "true",
                "USAGE_KAFKA_BROKERS", "127.0.0.1:" + portOfNobody(),
                "GATEWAY_USAGE_FILE", "usage.jsonl");
        try (GatewayProcess gateway = GatewayProcess.start(folder, environment, "--profile", "dev")
                        .awaitListening();
                RawClient client = RawClient.connect(gateway.port())) {
            for (int i = 0; i < 20; i++) {
                assertThat(client.exchange(Requests.chat("demo", true).key("sk-dromedary-dev"))
                                .status())
                        .isEqualTo(200);
            }
            Path file = folder.resolve("usage.jsonl");
            TestGateway.await(() -> count(file) == 20, "the lines in the file");

            gateway.signal("TERM");
            assertThat(gateway.awaitExit()).isZero();
            assertThat(count(file)).isEqualTo(20);
            assertThat(gateway.err())
                    .filteredOn(line -> !line.contains(" asks for "))
                    .hasSizeLessThan(10)
                    .noneMatch(line -> line.contains("ERROR"))
                    .anyMatch(line -> line.contains("WARN") && line.contains("in the journal's file only"));
        }
    }

    private TestGateway.Builder gateway(String route) {
        return TestGateway.builder()
                .property(route + ".enabled", true)
                .model("m1", replica.url())
                .route(ShippedRoutes.yaml(route));
    }

    private TestGateway.Builder kafka(Producer<String, String> broker) {
        return gateway("usage-kafka").bean("kafka-clients", new DefaultKafkaClientFactory() {
            @Override
            public Producer<String, String> getProducer(Properties properties) {
                assertThat(properties).containsEntry("bootstrap.servers", "127.0.0.1:9092");
                return broker;
            }
        });
    }

    private static void askThrice(TestGateway gateway) throws IOException {
        try (RawClient client = RawClient.connect(gateway.port())) {
            client.exchange(chat("one", TestGateway.KEY));
            client.exchange(chat("two", TestGateway.OTHER_KEY));
            client.exchange(Requests.chat("unknown", false).key(TestGateway.KEY));
        }
        gateway.awaitIdle();
    }

    private static Requests chat(String requestId, String key) {
        return Requests.chat("m1", true).key(key).header("X-Request-Id", requestId);
    }

    private static void assertSameLines(List<String> events, List<String> lines) throws IOException {
        List<JsonNode> expected = new ArrayList<>();
        for (String line : lines) {
            expected.add(JSON.readTree(line));
        }
        List<JsonNode> found = new ArrayList<>();
        for (String event : events) {
            found.add(JSON.readTree(event));
        }
        assertThat(found).hasSize(3).isEqualTo(expected);
    }

    private static long count(Path file) {
        try {
            return Files.exists(file) ? Files.readAllLines(file).size() : 0;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static int portOfNobody() throws IOException {
        try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return closed.getLocalPort();
        }
    }
}
