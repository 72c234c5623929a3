package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.Requests;

/** The main job, end to end. */
class ChatJourneyTest {

    @Test
    void aStreamReachesTheClientAndItsUsageIsWritten() throws Exception {
        try (FakeReplica replica = FakeReplica.start();
                TestGateway gateway = TestGateway.serving(replica.url());
                RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = client.exchange(Requests.chat("m1", true).key(TestGateway.KEY));

            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.text()).isEqualTo(String.join("", Payloads.STREAM_WITHOUT_USAGE));
            assertThat(answer.end()).contains(RawResponse.End.CLEAN);
            assertThat(gateway.usageLines(1)).singleElement().asString().contains("\"total_tokens\":7");
        }
    }
}
