package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import routes.door.Door;
import routes.fixture.FakeReplica;
import routes.replica.Replica;
import routes.replica.Replicas;

/** Whether the gateway says that it is ready, by what it can serve. */
class ReadinessJourneyTest {

    private static final String READY = "/observe/health/ready";

    private FakeReplica one;
    private FakeReplica two;

    @BeforeEach
    void start() throws Exception {
        one = FakeReplica.start();
        two = FakeReplica.start();
    }

    @AfterEach
    void stop() throws Exception {
        one.close();
        two.close();
    }

    private TestGateway gateway(String policy) {
        return Management.gateway()
                .property("gateway.ready-when", policy)
                .model("m1", one.url())
                .model("m2", two.url())
                .start();
    }

    private static Replica replica(TestGateway gateway, FakeReplica at) {
        return gateway.bean(Replicas.class).all().stream()
                .filter(each -> each.toString().equals(at.url()))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @CsvSource({"listening, 200, 200, 200", "any-pool, 200, 200, 503", "all-pools, 200, 503, 503"})
    void readinessFollowsThePolicy(String policy, int allUp, int oneDown, int allDown) throws Exception {
        try (TestGateway gateway = gateway(policy)) {
            Management management = Management.of(gateway);

            assertThat(management.get(READY).statusCode()).isEqualTo(allUp);
            replica(gateway, one).up(false);
            assertThat(management.get(READY).statusCode()).isEqualTo(oneDown);
            replica(gateway, two).up(false);
            assertThat(management.get(READY).statusCode()).isEqualTo(allDown);
            assertThat(management.get("/observe/health/live").statusCode())
                    .as("to be left alive in any case")
                    .isEqualTo(200);
            replica(gateway, one).up(true);
            replica(gateway, two).up(true);
            assertThat(management.get(READY).statusCode()).isEqualTo(allUp);
        }
    }

    @Test
    void theCheckTellsWhichPoolIsDownAndWhy() throws Exception {
        try (TestGateway gateway = gateway("all-pools")) {
            Management management = Management.of(gateway);
            replica(gateway, one).up(false);

            HttpResponse<String> brief = management.get(READY);
            HttpResponse<String> full = management.get(READY + "?exposureLevel=full&data=true");

            assertThat(brief.body()).contains("\"name\":\"pools\"", "no replica is up of m1");
            assertThat(full.body().replace("\\/", "/"))
                    .contains("\"pool.m1\":\"0 of 1 up; " + one.url() + " is down\"", "\"pool.m2\":\"1 of 1 up\"");
        }
    }

    @Test
    void whileItDrainsItIsNotReadyWhateverThePolicy() throws Exception {
        try (TestGateway gateway = gateway("listening")) {
            gateway.bean(Door.class).drain();

            assertThat(Management.of(gateway).get(READY).statusCode()).isEqualTo(503);
        }
    }

    @Test
    void aGatewayWithoutModelsIsReadyWhenItListens() throws Exception {
        try (TestGateway gateway =
                Management.gateway().property("gateway.ready-when", "all-pools").start()) {
            assertThat(Management.of(gateway).get(READY).statusCode()).isEqualTo(200);
        }
    }
}
