package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import routes.fixture.Certificate;
import routes.fixture.DnsServer;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.Requests;
import routes.fixture.Scripts;
import routes.fixture.TlsReplica;

/** Replicas behind https: whom the gateway believes, and that nobody else hears anything. */
class TlsJourneyTest {

    private static final String NAME = "models.test";
    private static Certificate right;
    private static Certificate wrong;
    private static DnsServer names;
    private FakeReplica plain;
    private TlsReplica replica;

    @BeforeAll
    static void certificates() throws Exception {
        right = Certificate.of("dns:" + NAME + ",ip:127.0.0.1");
        wrong = Certificate.of("dns:" + NAME + ",dns:other.test,ip:127.0.0.1");
        names = DnsServer.start().answers(NAME, 30, "127.0.0.1").answers("other.test", 30, "127.0.0.1");
    }

    @AfterAll
    static void forget() {
        names.close();
    }

    @BeforeEach
    void start() throws Exception {
        plain = FakeReplica.start();
        replica = TlsReplica.before(plain, right);
    }

    @AfterEach
    void stop() throws IOException {
        replica.close();
        plain.close();
        assertThat(plain.errors()).isEmpty();
    }

    private TestGateway gateway(String host, Path trustStore) {
        return gateway(host, replica.port(), trustStore);
    }

    private static TestGateway gateway(String host, int port, Path trustStore) {
        return TestGateway.builder()
                .model("m1", "https://" + host + ":" + port + "?trustStore=" + trustStore)
                .property("gateway.dns.servers", names.address())
                .property("gateway.event-loops", 1)
                .property("gateway.connect-timeout", "1s")
                .start();
    }

    private static Requests request(String content, boolean stream, String id) {
        return Requests.chat("m1", content, stream).key(TestGateway.KEY).header("X-Request-Id", id);
    }

    private static RawResponse ask(TestGateway gateway, Requests request) throws IOException {
        try (RawClient client = RawClient.connect(gateway.port())) {
            return client.exchange(request);
        }
    }

    @Test
    void aServerWithTheRightNameAndCertificateIsBelieved() throws Exception {
        String large = "x".repeat(300_000);
        try (TestGateway gateway = gateway(NAME, right.pem())) {
            assertThat(ask(gateway, request(large, false, "plain")).text()).isEqualTo(Payloads.JSON);
            RawResponse stream = ask(gateway, request("hi", true, "stream"));
            assertThat(stream.text()).isEqualTo(String.join("", Payloads.STREAM_WITHOUT_USAGE));
            assertThat(stream.end()).contains(RawResponse.End.CLEAN);

            assertThat(replica.names()).containsExactly(NAME);
            assertThat(plain.request(0).bodyText()).contains(large);
            assertThat(plain.request(0).header("host")).contains(NAME + ":" + replica.port());
            assertThat(plain.request(1).index()).as("the connection is kept").isEqualTo(1);
            JsonNode line = UsageLines.of(gateway, "plain");
            UsageLines.assertEnd(line, "success", 200, null);
        }
    }

    @Test
    void aCertificateMayBeForAnAddress() throws Exception {
        try (TestGateway gateway = gateway("127.0.0.1", right.pem())) {
            assertThat(ask(gateway, request("hi", false, "address")).status()).isEqualTo(200);
        }
        assertThat(replica.names()).containsExactly("");
    }

    @Test
    void laterConnectionsGoOnWithTheSession() throws Exception {
        plain.answering(Scripts.status(200, Payloads.JSON, "Connection: close"));
        try (TestGateway gateway = gateway(NAME, right.pem())) {
            for (int i = 0; i < 3; i++) {
                assertThat(ask(gateway, request("hi", false, "session-" + i)).status())
                        .isEqualTo(200);
            }
        }
        assertThat(replica.handshakes()).isEqualTo(3);
        assertThat(replica.fullHandshakes()).isEqualTo(1);
    }

    @Test
    void aCertificateThatIsNotTrustedEndsItBeforeAnythingIsSaid() throws Exception {
        try (LogCapture log = LogCapture.at(Level.INFO)) {
            try (TestGateway gateway = gateway(NAME, wrong.pem())) {
                assertRefused(gateway, "untrusted");
                assertRefused(gateway, "untrusted-again");
            }
            assertThat(log.lines().stream().filter(line -> line.startsWith("WARN") && line.contains("No TLS")))
                    .singleElement()
                    .asString()
                    .contains("unable to find valid certification path");
            assertThat(log.errors()).isEmpty();
        }
    }

    @Test
    void aCertificateForAnotherNameIsNoBetter() throws Exception {
        try (LogCapture log = LogCapture.at(Level.INFO)) {
            try (TestGateway gateway = gateway("other.test", right.pem())) {
                assertRefused(gateway, "misnamed");
            }
            assertThat(log.lines())
                    .anyMatch(line -> line.startsWith("WARN") && line.contains("No subject alternative DNS name"));
            assertThat(log.errors()).isEmpty();
        }
    }

    private void assertRefused(TestGateway gateway, String id) throws IOException {
        RawResponse answer = ask(gateway, request("hi", false, id));
        assertThat(answer.status()).isEqualTo(502);
        assertThat(answer.text()).contains("upstream_connect_failed").doesNotContain("certificat", NAME);
        UsageLines.assertEnd(UsageLines.of(gateway, id), "upstream_error", 502, "upstream_connect_failed");
        assertThat(plain.connections()).isZero();
    }

    @Test
    void aServerThatDoesNotSpeakTlsGetsNothing() throws Exception {
        try (TestGateway gateway = gateway("127.0.0.1", plain.port(), right.pem())) {
            RawResponse answer = ask(gateway, request("hi", false, "plain-text"));
            assertThat(answer.status()).isEqualTo(502);
            assertThat(answer.text()).contains("upstream_connect_failed");
        }
        assertThat(plain.requests()).isEmpty();
    }

    @Test
    void aServerThatNeverShakesHandsIsGivenUp() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
                TestGateway gateway = TestGateway.builder()
                        .model("m1", "https://127.0.0.1:" + silent.getLocalPort())
                        .property("gateway.connect-timeout", "300ms")
                        .property("gateway.max-attempts", 1)
                        .start()) {
            RawResponse answer = ask(gateway, request("hi", false, "silent"));
            assertThat(answer.status()).isEqualTo(502);
            assertThat(answer.text()).contains("upstream_connect_failed");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anAnswerThatItsConnectionsEndDelimitsIsWholeOnlyWhenTlsSaysSo(boolean cutting) throws Exception {
        replica.cutting(cutting);
        plain.answering(Scripts.thenFin("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + Payloads.JSON));
        try (TestGateway gateway = gateway(NAME, right.pem())) {
            RawResponse answer = ask(gateway, request("hi", false, "end"));

            assertThat(answer.status()).isEqualTo(200);
            JsonNode line = UsageLines.of(gateway, "end");
            if (cutting) {
                assertThat(answer.end().orElseThrow()).isIn(RawResponse.End.CUT_FIN, RawResponse.End.CUT_RST);
                UsageLines.assertEnd(line, "upstream_aborted", 200, "upstream_incomplete");
            } else {
                assertThat(answer.end()).contains(RawResponse.End.CLEAN);
                assertThat(answer.text()).isEqualTo(Payloads.JSON);
                UsageLines.assertEnd(line, "success", 200, null);
            }
        }
    }

    @Test
    void aTrustStoreThatIsNoneEndsTheStart(@TempDir Path folder) throws Exception {
        Path garbled = Files.writeString(folder.resolve("garbled.pem"), "no certificate at all");
        for (Path path : new Path[] {folder.resolve("missing.pem"), garbled}) {
            assertThatThrownBy(() -> gateway(NAME, path).close())
                    .hasStackTraceContaining("trust store '" + path + "'")
                    .hasStackTraceContaining("expected: a PEM file with certificates");
        }
    }
}
