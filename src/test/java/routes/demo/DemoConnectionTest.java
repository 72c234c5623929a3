package routes.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import routes.fixture.Ended;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.Requests;

@Timeout(60)
class DemoConnectionTest {

    private static final Duration NEVER = Duration.ofHours(1);

    @Test
    void the_key_is_asked_for_below_v1_only() throws Exception {
        try (DemoReplica replica = DemoReplica.start(
                DemoOptions.builder().instant().apiKey("secret").build())) {
            DemoClient client = new DemoClient(replica.url());
            assertThat(client.get("/v1/models").statusCode()).isEqualTo(401);
            assertThat(client.chat().body()).isEqualTo("{\"error\":\"Unauthorized\"}");
            assertThat(client.get("/v1/models", "Authorization", "Bearer wrong").statusCode())
                    .isEqualTo(401);
            assertThat(client.get("/v1/models", "Authorization", "Bearer secret")
                            .statusCode())
                    .isEqualTo(200);
            assertThat(client.get("/health").statusCode()).isEqualTo(200);
            assertThat(client.get("/metrics").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void the_head_of_a_stream_is_sent_before_its_first_token() throws Exception {
        try (DemoReplica replica = DemoReplica.start(
                        DemoOptions.builder().timeToFirstToken(NEVER).build());
                RawClient client = RawClient.connect(replica.port())) {
            RawResponse response = client.send(Requests.chat("demo", true)).begin();
            assertThat(response.status()).isEqualTo(200);
            assertThat(response.end()).isEmpty();
            assertThat(response.body()).isEmpty();
            await(() -> replica.running() == 1);
        }
    }

    @Test
    void tokens_keep_the_pace() throws Exception {
        DemoOptions options = DemoOptions.builder()
                .tokens(5)
                .timeToFirstToken(Duration.ofMillis(60))
                .tokensPerSecond(50)
                .build();
        try (DemoReplica replica = DemoReplica.start(options);
                RawClient client = RawClient.connect(replica.port())) {
            long begin = System.nanoTime();
            RawResponse response = client.exchange(Requests.chat("demo", true));
            Duration took = Duration.ofNanos(System.nanoTime() - begin);
            assertThat(DemoClient.events(response.text())).hasSize(7);
            assertThat(took).isGreaterThanOrEqualTo(Duration.ofMillis(60 + 4 * 20));
        }
    }

    @Test
    void a_client_that_leaves_aborts_its_generation() throws Exception {
        try (DemoReplica replica = DemoReplica.start(DemoOptions.builder()
                .timeToFirstToken(Duration.ZERO)
                .tokensPerSecond(0.001)
                .build())) {
            RawClient fin = RawClient.connect(replica.port()).send(Requests.chat("demo", true));
            assertThat(fin.begin().until("data: ")).isTrue();
            assertThat(replica.running()).isEqualTo(1);
            fin.leaveFin();
            await(() -> replica.aborted() == 1);
            RawClient rst = RawClient.connect(replica.port()).send(Requests.chat("demo", false));
            await(() -> replica.running() == 1);
            rst.leaveRst();
            await(() -> replica.aborted() == 2);
            await(() -> replica.running() == 0);
            assertThat(replica.completionTokens()).isEqualTo(2);
        }
    }

    @Test
    void what_finds_no_slot_waits_until_one_is_free() throws Exception {
        DemoOptions options =
                DemoOptions.builder().slots(2).timeToFirstToken(NEVER).build();
        try (DemoReplica replica = DemoReplica.start(options)) {
            RawClient first = RawClient.connect(replica.port()).send(Requests.chat("demo", false));
            await(() -> replica.running() == 1);
            String two = DemoClient.chatJson("'n':2").replace('\'', '"');
            RawClient second = RawClient.connect(replica.port()).send(Requests.post("/v1/chat/completions", two));
            await(() -> replica.waiting() == 2);
            assertThat(new DemoClient(replica.url()).get("/metrics").body())
                    .contains("vllm:num_requests_running{engine=\"0\",model_name=\"demo\"} 1.0\n")
                    .contains("vllm:num_requests_waiting{engine=\"0\",model_name=\"demo\"} 2.0\n")
                    .contains("vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"demo\"} 0.5\n");
            first.leaveFin();
            await(() -> replica.running() == 2 && replica.waiting() == 0);
            second.leaveFin();
            await(() -> replica.running() == 0);
        }
    }

    @Test
    void a_client_that_leaves_the_queue_frees_its_place() throws Exception {
        DemoOptions options =
                DemoOptions.builder().slots(1).timeToFirstToken(NEVER).build();
        try (DemoReplica replica = DemoReplica.start(options);
                RawClient running = RawClient.connect(replica.port()).send(Requests.chat("demo", false))) {
            await(() -> replica.running() == 1);
            RawClient waiting = RawClient.connect(replica.port()).send(Requests.chat("demo", true));
            await(() -> replica.waiting() == 1);
            waiting.leaveRst();
            await(() -> replica.waiting() == 0);
            assertThat(replica.running()).isEqualTo(1);
            running.leaveFin();
            await(() -> replica.running() == 0);
        }
    }

    @Test
    void failing_requests_get_a_500() throws Exception {
        try (DemoReplica replica =
                DemoReplica.start(DemoOptions.builder().errorRate(1).build())) {
            DemoClient client = new DemoClient(replica.url());
            for (String stream : List.of("true", "false")) {
                var response = client.chat("'stream':" + stream);
                assertThat(response.statusCode()).isEqualTo(500);
                assertThat(DemoClient.json(response).at("/error/type").asText()).isEqualTo("InternalServerError");
            }
            assertThat(replica.running()).isZero();
        }
    }

    @Test
    void answers_are_broken_by_a_reset_after_their_first_token() throws Exception {
        try (DemoReplica replica = DemoReplica.start(
                DemoOptions.builder().instant().tokens(20).resetRate(1).build())) {
            try (RawClient client = RawClient.connect(replica.port())) {
                RawResponse response = client.exchange(Requests.chat("demo", true));
                assertThat(response.end()).contains(RawResponse.End.CUT_RST);
                assertThat(response.text()).contains("\"content\":\"").doesNotContain("[DONE]");
            }
            try (RawClient client = RawClient.connect(replica.port())) {
                RawResponse response = client.exchange(Requests.chat("demo", false));
                assertThat(response.end()).contains(RawResponse.End.NONE);
                assertThat(client.awaitEnd(Duration.ofSeconds(10))).contains(Ended.RST);
            }
            assertThat(replica.running()).isZero();
            assertThat(replica.aborted()).isZero();
        }
    }

    @Test
    void a_connection_serves_one_request_after_another_and_is_closed_when_idle() throws Exception {
        DemoOptions options = DemoOptions.builder()
                .instant()
                .keepAliveTimeout(Duration.ofMillis(200))
                .build();
        try (DemoReplica replica = DemoReplica.start(options);
                RawClient client = RawClient.connect(replica.port())) {
            assertThat(client.exchange(Requests.chat("demo", true)).end()).contains(RawResponse.End.CLEAN);
            assertThat(client.exchange(Requests.chat("demo", false).chunked(9)).end())
                    .contains(RawResponse.End.CLEAN);
            assertThat(client.awaitEnd(Duration.ofSeconds(10))).contains(Ended.FIN);
            assertThat(replica.aborted()).isZero();
        }
    }

    @Test
    void an_answer_in_the_making_is_not_idle() throws Exception {
        DemoOptions options = DemoOptions.builder()
                .tokens(1)
                .timeToFirstToken(Duration.ofMillis(1200))
                .keepAliveTimeout(Duration.ofSeconds(1))
                .build();
        try (DemoReplica replica = DemoReplica.start(options);
                RawClient client = RawClient.connect(replica.port())) {
            assertThat(client.exchange(Requests.get("/health")).status()).isEqualTo(200);
            assertThat(client.exchange(Requests.chat("demo", false)).end()).contains(RawResponse.End.CLEAN);
        }
    }

    @Test
    void pipelined_requests_are_answered_in_their_order() throws Exception {
        DemoOptions options = DemoOptions.builder()
                .tokens(3)
                .timeToFirstToken(Duration.ofMillis(20))
                .build();
        try (DemoReplica replica = DemoReplica.start(options);
                RawClient client = RawClient.connect(replica.port())) {
            client.send(Requests.chat("demo", true))
                    .send(Requests.get("/health"))
                    .send(Requests.chat("no", true));
            assertThat(client.response().text()).endsWith("data: [DONE]\n\n");
            assertThat(client.response().body()).isEmpty();
            assertThat(client.response().status()).isEqualTo(404);
        }
    }

    @Test
    void a_client_of_http_1_0_gets_a_stream_that_ends_with_the_connection() throws Exception {
        try (DemoReplica replica =
                        DemoReplica.start(DemoOptions.builder().instant().build());
                RawClient client = RawClient.connect(replica.port())) {
            RawResponse response = client.exchange(Requests.chat("demo", true).version("1.0"));
            assertThat(response.header("transfer-encoding")).isEmpty();
            assertThat(response.end()).contains(RawResponse.End.CLOSE);
            assertThat(response.text()).endsWith("data: [DONE]\n\n");
        }
    }

    @Test
    void connection_close_is_honoured() throws Exception {
        try (DemoReplica replica =
                        DemoReplica.start(DemoOptions.builder().instant().build());
                RawClient client = RawClient.connect(replica.port())) {
            RawResponse response = client.exchange(Requests.chat("demo", true).header("Connection", "close"));
            assertThat(response.end()).contains(RawResponse.End.CLEAN);
            assertThat(response.header("connection")).contains("close");
            assertThat(client.awaitEnd(Duration.ofSeconds(10))).contains(Ended.FIN);
        }
    }

    @Test
    void what_is_not_http_is_refused() throws Exception {
        try (DemoReplica replica = DemoReplica.start(DemoOptions.defaults());
                RawClient client = RawClient.connect(replica.port())) {
            assertThat(client.send("what?\r\n\r\n").response().status()).isEqualTo(400);
            assertThat(client.awaitEnd(Duration.ofSeconds(10))).contains(Ended.FIN);
        }
    }

    @Test
    void a_body_that_is_not_declared_as_json_is_refused() throws Exception {
        try (DemoReplica replica = DemoReplica.start(DemoOptions.defaults());
                RawClient client = RawClient.connect(replica.port())) {
            RawResponse response = client.exchange(Requests.request("POST", "/v1/completions")
                    .header("Content-Type", "text/plain")
                    .body("{}"));
            assertThat(response.status()).isEqualTo(400);
        }
    }

    @Test
    void a_slow_reader_stops_the_generation_and_gets_everything_in_the_end() throws Exception {
        // every event carries the id: long events fill the sockets' buffers soon
        String id = "x".repeat(8_000);
        String body = DemoClient.chatJson("'stream':true", "'max_tokens':2000", "'ignore_eos':true")
                .replace('\'', '"');
        try (DemoReplica replica =
                        DemoReplica.start(DemoOptions.builder().instant().build());
                RawClient client = RawClient.connect(replica.port(), 65_536)) {
            RawResponse response = client.send(
                            Requests.post("/v1/chat/completions", body).header("X-Request-Id", id))
                    .begin();
            assertThat(new DemoClient(replica.url()).get("/health").statusCode())
                    .isEqualTo(200);
            assertThat(replica.completionTokens()).isLessThan(2_000);
            assertThat(replica.running()).isEqualTo(1);
            assertThat(DemoClient.events(response.finish(Duration.ofSeconds(50)).text()))
                    .hasSize(2_002);
        }
    }

    @Test
    void a_port_in_use_is_an_error_that_names_it() throws Exception {
        try (DemoReplica replica = DemoReplica.start(DemoOptions.defaults())) {
            DemoOptions same = DemoOptions.builder().port(replica.port()).build();
            assertThatIOException()
                    .isThrownBy(() -> DemoReplica.start(same))
                    .withMessageContaining("cannot listen on 127.0.0.1:" + replica.port());
        }
    }

    @Test
    void closing_a_replica_ends_its_connections() throws Exception {
        DemoReplica replica =
                DemoReplica.start(DemoOptions.builder().timeToFirstToken(NEVER).build());
        try (RawClient client = RawClient.connect(replica.port()).send(Requests.chat("demo", true))) {
            RawResponse response = client.begin();
            replica.close();
            assertThat(response.finish().end()).contains(RawResponse.End.CUT_FIN);
            assertThatIOException().isThrownBy(() -> RawClient.connect(replica.port()));
        }
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + Duration.ofSeconds(10).toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("the condition came true in time").isLessThan(deadline);
            Thread.onSpinWait();
        }
    }
}
