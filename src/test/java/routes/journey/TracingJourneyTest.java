package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.RecordedRequest;
import routes.fixture.Requests;
import routes.fixture.Scripts;

/** A span for each request: whose child it is, what it says, and that nobody else hears of a request that isn't sampled. */
class TracingJourneyTest {

    private static final String TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
    private static final String PARENT_ID = "b7ad6b7169203331";
    private static final String SAMPLED = "00-" + TRACE_ID + "-" + PARENT_ID + "-01";
    private static final String NOT_SAMPLED = "00-" + TRACE_ID + "-" + PARENT_ID + "-00";

    private static final InMemorySpanExporter EXPORTER = InMemorySpanExporter.create();
    private static FakeReplica replica;
    private static FakeReplica closed;
    private static TestGateway gateway;

    @BeforeAll
    static void start() throws IOException {
        replica = FakeReplica.start();
        closed = FakeReplica.start();
        closed.refuse();
        gateway = traced(SimpleSpanProcessor.create(EXPORTER), Sampler.parentBased(Sampler.alwaysOn()))
                .model("m1", replica.url())
                .model("half", closed.url(), replica.url())
                .model("none", closed.url())
                .modelWith("fallback: m1", "weak", closed.url())
                .modelWith("totalTimeout: 200ms", "quick", replica.url())
                .property("gateway.retry-budget", 100)
                .start();
    }

    @AfterAll
    static void stop() throws IOException {
        gateway.close();
        replica.close();
    }

    @BeforeEach
    void forget() {
        replica.answering(Scripts.normal());
        EXPORTER.reset();
    }

    @AfterEach
    void nothingIsLeft() {
        gateway.awaitIdle();
        assertThat(replica.errors()).isEmpty();
    }

    private static TestGateway.Builder traced(SpanProcessor processor, Sampler sampler) {
        SdkTracerProvider provider = SdkTracerProvider.builder()
                .addSpanProcessor(processor)
                .setSampler(sampler)
                .build();
        return TestGateway.builder()
                .property("gateway.tracing", true)
                .bean(
                        "telemetry",
                        OpenTelemetrySdk.builder().setTracerProvider(provider).build());
    }

    private static RawResponse ask(TestGateway of, Requests request) throws IOException {
        try (RawClient client = RawClient.connect(of.port())) {
            return client.exchange(request);
        }
    }

    private static Requests chat(String model, boolean stream) {
        return Requests.chat(model, stream).key(TestGateway.KEY);
    }

    /** The span of the one request there was. */
    private static SpanData span() {
        TestGateway.await(() -> !EXPORTER.getFinishedSpanItems().isEmpty(), "the span");
        gateway.awaitIdle();
        assertThat(EXPORTER.getFinishedSpanItems()).hasSize(1);
        return EXPORTER.getFinishedSpanItems().get(0);
    }

    private static Map<String, Object> attributes(SpanData span) {
        Map<String, Object> attributes = new TreeMap<>();
        span.getAttributes().forEach((key, value) -> attributes.put(key.getKey(), value));
        return attributes;
    }

    private static String parentLine(SpanData span) {
        assertThat(span.getSpanContext().isSampled()).isTrue();
        return "00-" + span.getTraceId() + "-" + span.getSpanId() + "-"
                + span.getSpanContext().getTraceFlags().asHex();
    }

    // ---- what it says

    @Test
    void aSpanSaysWhatTheConventionsAskForAndWhatTheUsageLineSays() throws Exception {
        ask(gateway, chat("m1", true).header("X-Request-Id", "request-1"));

        SpanData span = span();
        assertThat(span.getName()).isEqualTo("chat m1");
        assertThat(span.getKind()).isEqualTo(SpanKind.SERVER);
        assertThat(span.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
        assertThat(span.getEvents()).isEmpty();
        assertThat(span.hasEnded()).isTrue();
        Map<String, Object> attributes = attributes(span);
        assertThat((Double) attributes.remove("dromedary.first_token_seconds"))
                .isBetween(0.0, (span.getEndEpochNanos() - span.getStartEpochNanos()) / 1e9 + 0.1);
        assertThat(attributes)
                .containsExactlyInAnyOrderEntriesOf(Map.ofEntries(
                        Map.entry("gen_ai.operation.name", "chat"),
                        Map.entry("gen_ai.provider.name", "vllm"),
                        Map.entry("gen_ai.request.model", "m1"),
                        Map.entry("gen_ai.response.finish_reasons", List.of("stop")),
                        Map.entry("gen_ai.usage.input_tokens", 5L),
                        Map.entry("gen_ai.usage.output_tokens", 2L),
                        Map.entry("http.request.method", "POST"),
                        Map.entry("http.route", "/v1/chat/completions"),
                        Map.entry("http.response.status_code", 200L),
                        Map.entry("server.address", "127.0.0.1"),
                        Map.entry("server.port", (long) replica.port()),
                        Map.entry("dromedary.request_id", "request-1"),
                        Map.entry("dromedary.tenant", "tenant-one"),
                        Map.entry("dromedary.key_id", "key-one"),
                        Map.entry("dromedary.replica", replica.url()),
                        Map.entry("dromedary.affinity", attributes.get("dromedary.affinity")),
                        Map.entry("dromedary.attempts", 1L),
                        Map.entry("dromedary.stream", true)));
        assertThat(gateway.usageLines(1))
                .last()
                .asString()
                .contains("\"affinity\":\"" + attributes.get("dromedary.affinity") + "\"");
    }

    @Test
    void aSpanHasTheCachedAndReasoningTokensWhereTheReplicaCountsThem() throws Exception {
        replica.answering(Scripts.status(
                200,
                "{\"choices\":[],\"usage\":{\"prompt_tokens\":50,\"completion_tokens\":7,\"total_tokens\":57,"
                        + "\"prompt_tokens_details\":{\"cached_tokens\":32},"
                        + "\"completion_tokens_details\":{\"reasoning_tokens\":3}}}"));
        ask(gateway, chat("m1", false));
        assertThat(attributes(span()))
                .containsEntry("gen_ai.usage.cache_read.input_tokens", 32L)
                .containsEntry("gen_ai.usage.reasoning.output_tokens", 3L)
                .containsEntry("dromedary.stream", false)
                .doesNotContainKey("dromedary.first_token_seconds");
    }

    @Test
    void nothingThatAClientWroteIsInASpan() throws Exception {
        String hostile = "hostile-7f3a";
        ask(
                gateway,
                Requests.post(
                                "/v1/chat/completions?" + hostile,
                                "{\"model\":\"" + hostile + "\",\"user\":\"" + hostile + "\",\"messages\":[{\"role\":\""
                                        + hostile + "\",\"content\":\"" + hostile + "\"}]}")
                        .key(TestGateway.KEY)
                        .header("X-Request-Id", hostile + "\u00e9")
                        .header("X-Session-Id", hostile)
                        .header("User-Agent", hostile)
                        .header("baggage", "a=" + hostile)
                        .header("traceparent", hostile));
        SpanData unknown = span();
        assertThat(unknown.toString()).doesNotContain(hostile).doesNotContain(TestGateway.KEY);
        assertThat(unknown.getName()).isEqualTo("chat");
        assertThat(attributes(unknown))
                .doesNotContainKeys("gen_ai.request.model", "server.address", "dromedary.replica");

        EXPORTER.reset();
        ask(gateway, Requests.chat("m1", hostile, false).key(TestGateway.KEY).header("baggage", "a=" + hostile));
        assertThat(span().toString()).doesNotContain(hostile).doesNotContain(TestGateway.KEY);
    }

    @Test
    void whatNoModelAnswersHasNoSpan() throws Exception {
        ask(gateway, Requests.get("/v1/models").key(TestGateway.KEY));
        ask(gateway, Requests.get("/nowhere"));
        ask(gateway, chat("m1", false));
        assertThat(span().getName()).isEqualTo("chat m1");
    }

    // ---- how it ends

    @ParameterizedTest
    @CsvSource({
        "m1, 400, UNSET, upstream_error, upstream_error",
        "m1, 500, ERROR, upstream_error, upstream_error",
        "none, 502, ERROR, upstream_error, upstream_connect_failed",
        "nowhere, 404, UNSET, rejected, model_not_found"
    })
    void anErrorIsOneOfTheSpanUnlessItIsTheClients(
            String model, int status, StatusCode expected, String type, String code) throws Exception {
        replica.answering(Scripts.status(status, Payloads.error(status, "Error", "no")));
        assertThat(ask(gateway, chat(model, false)).status()).isEqualTo(status);

        SpanData span = span();
        assertThat(span.getStatus().getStatusCode()).isEqualTo(expected);
        assertThat(span.getStatus().getDescription()).isEmpty();
        assertThat(attributes(span))
                .containsEntry("http.response.status_code", (long) status)
                .containsEntry("error.type", type)
                .containsEntry("dromedary.error_code", code);
    }

    @Test
    void aRequestWithoutAKeyHasASpanWithoutATenant() throws Exception {
        ask(gateway, Requests.chat("m1", false));
        assertThat(attributes(span()))
                .containsEntry("http.response.status_code", 401L)
                .containsEntry("dromedary.error_code", "missing_api_key")
                .containsEntry("dromedary.attempts", 0L)
                .doesNotContainKeys("dromedary.tenant", "dromedary.key_id");
    }

    @Test
    void aClientThatLeavesEndsTheSpanWithWhatWasSeen() throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        replica.answering(Scripts.held(latch, List.of(Payloads.EVENT_A), List.of()));
        try (RawClient client = RawClient.connect(gateway.port())) {
            assertThat(client.send(chat("m1", true)).begin().until(Payloads.EVENT_A))
                    .isTrue();
            client.leaveRst();
            SpanData span = span();
            assertThat(span.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
            assertThat(attributes(span))
                    .containsEntry("error.type", "client_closed")
                    .containsEntry("http.response.status_code", 200L)
                    .containsKey("dromedary.first_token_seconds");
        } finally {
            latch.countDown();
        }
    }

    @Test
    void aTimeoutEndsTheSpanOnce() throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        replica.answering(Scripts.holding(latch));
        try {
            assertThat(ask(gateway, chat("quick", false)).status()).isEqualTo(504);
            SpanData span = span();
            assertThat(span.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
            assertThat(attributes(span)).containsEntry("error.type", "timeout");
            assertThat((span.getEndEpochNanos() - span.getStartEpochNanos()) / 1e9)
                    .isGreaterThan(0.15);
        } finally {
            latch.countDown();
        }
        replica.awaitQuiet();
        assertThat(span().hasEnded()).isTrue();
    }

    @Test
    void severalAttemptsAreOneSpanAndItsReplicaIsTheLast() throws Exception {
        int attempts = 0;
        for (int i = 0; i < 20 && attempts < 2; i++) {
            EXPORTER.reset();
            ask(gateway, Requests.chat("half", "prompt " + i, false).key(TestGateway.KEY));
            attempts = ((Long) attributes(span()).get("dromedary.attempts")).intValue();
        }
        assertThat(attributes(span()))
                .containsEntry("dromedary.attempts", 2L)
                .containsEntry("dromedary.replica", replica.url())
                .containsEntry("http.response.status_code", 200L)
                .doesNotContainKey("error.type");
    }

    @Test
    void everyAttemptHasTheSameParent() throws Exception {
        int seen = replica.requests().size();
        replica.answering(Scripts.sequence(Scripts.status(503, "{}"), Scripts.normal()));
        try (TestGateway two = traced(SimpleSpanProcessor.create(EXPORTER), Sampler.alwaysOn())
                .model("m1", replica.url(), replica.url() + "/two")
                .start()) {
            assertThat(ask(two, chat("m1", false)).status()).isEqualTo(200);
            two.awaitIdle();
        }
        String expected = parentLine(span());
        for (RecordedRequest attempt : replica.requests().subList(seen, seen + 2)) {
            assertThat(attempt.allHeaders("traceparent")).containsExactly(expected);
        }
    }

    @Test
    void aFallbackIsNamed() throws Exception {
        ask(gateway, chat("weak", false));
        assertThat(attributes(span()))
                .containsEntry("gen_ai.request.model", "m1")
                .containsEntry("dromedary.fallback_from", "weak");
    }

    @Test
    void aRequestThatWaitedSaysHowLong() throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        replica.answering(Scripts.holding(latch));
        try (TestGateway narrow = traced(SimpleSpanProcessor.create(EXPORTER), Sampler.alwaysOn())
                        .model("m1", replica.url() + "?slots=1")
                        .start();
                RawClient first = RawClient.connect(narrow.port());
                RawClient second = RawClient.connect(narrow.port())) {
            first.send(chat("m1", false));
            TestGateway.await(() -> replica.active() == 1, "the first");
            second.send(chat("m1", false));
            TestGateway.await(() -> narrow.queued() == 1, "the second");
            latch.countDown();
            assertThat(first.response().status()).isEqualTo(200);
            assertThat(second.response().status()).isEqualTo(200);
            TestGateway.await(() -> EXPORTER.getFinishedSpanItems().size() == 2, "both spans");
            assertThat(EXPORTER.getFinishedSpanItems())
                    .filteredOn(span -> attributes(span).containsKey("dromedary.queue_seconds"))
                    .singleElement()
                    .satisfies(span -> assertThat((Double) attributes(span).get("dromedary.queue_seconds"))
                            .isPositive());
        }
    }

    // ---- whose child it is

    @Test
    void theSpanIsAChildOfTheClientsAndTheReplicasOfIt() throws Exception {
        int seen = replica.requests().size();
        ask(
                gateway,
                chat("m1", true)
                        .header("traceparent", SAMPLED)
                        .header("tracestate", "vendor=1")
                        .header("tracestate", "other=2"));
        SpanData span = span();
        assertThat(span.getTraceId()).isEqualTo(TRACE_ID);
        assertThat(span.getParentSpanId()).isEqualTo(PARENT_ID);
        assertThat(span.getParentSpanContext().isRemote()).isTrue();
        RecordedRequest received = replica.request(seen);
        assertThat(received.allHeaders("traceparent")).containsExactly(parentLine(span));
        assertThat(received.allHeaders("tracestate")).containsExactly("vendor=1,other=2");
        assertThat(received.allHeaders("baggage")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "x",
                "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                "ff-" + TRACE_ID + "-b7ad6b7169203331-01"
            })
    void withoutAParentATraceBeginsHere(String parent) throws Exception {
        int seen = replica.requests().size();
        ask(gateway, parent.isEmpty() ? chat("m1", false) : chat("m1", false).header("traceparent", parent));
        SpanData span = span();
        assertThat(span.getParentSpanId()).isEqualTo(SpanId.getInvalid());
        assertThat(replica.request(seen).allHeaders("traceparent")).containsExactly(parentLine(span));
    }

    @Test
    void twoParentsAreNone() throws Exception {
        ask(gateway, chat("m1", false).header("traceparent", SAMPLED).header("traceparent", SAMPLED));
        assertThat(span().getTraceId()).isNotEqualTo(TRACE_ID);
    }

    @Test
    void aTraceThatTheClientDoesNotSampleGoesOnUnchanged() throws Exception {
        int seen = replica.requests().size();
        ask(gateway, chat("m1", false).header("traceparent", NOT_SAMPLED).header("tracestate", "vendor=1"));
        RecordedRequest received = replica.request(seen);
        assertThat(received.allHeaders("traceparent")).containsExactly(NOT_SAMPLED);
        assertThat(received.allHeaders("tracestate")).containsExactly("vendor=1");
        gateway.awaitIdle();
        assertThat(EXPORTER.getFinishedSpanItems()).isEmpty();
    }

    @Test
    void aTraceThatTheGatewayDoesNotSampleGoesOnUnchanged() throws Exception {
        int seen = replica.requests().size();
        try (TestGateway none = traced(SimpleSpanProcessor.create(EXPORTER), Sampler.alwaysOff())
                .model("m1", replica.url())
                .start()) {
            ask(none, chat("m1", false).header("traceparent", SAMPLED));
            ask(none, chat("m1", false));
        }
        assertThat(replica.request(seen).allHeaders("traceparent")).containsExactly(SAMPLED);
        assertThat(replica.request(seen + 1).allHeaders("traceparent"))
                .singleElement()
                .asString()
                .matches("00-[0-9a-f]{32}-[0-9a-f]{16}-00");
        assertThat(EXPORTER.getFinishedSpanItems()).isEmpty();
    }

    // ---- beside Camel's own tracer

    /** As docs/tracing.md shows it. */
    @Test
    void camelsTracerShowsOwnRoutesAndLeavesInferenceToTheGateway() throws Exception {
        SdkTracerProvider provider = SdkTracerProvider.builder()
                .addSpanProcessor(SimpleSpanProcessor.create(EXPORTER))
                .build();
        try (TestGateway both = TestGateway.builder()
                .property("gateway.tracing", true)
                .property("camel.opentelemetry2.enabled", true)
                .property("camel.opentelemetry2.exclude-patterns", "model:*,vllm:*,http://[^/]+")
                .bean(
                        "telemetry",
                        OpenTelemetrySdk.builder().setTracerProvider(provider).build())
                .bean("camel-tracer", provider.get("camel"))
                .bean("propagators", ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
                .model("m1", replica.url())
                .route("""
                        - route:
                            id: own
                            from:
                              uri: netty-http:http://{{gateway.host}}:{{gateway.port}}/own
                              steps:
                                - setBody: { constant: "hello" }
                        """)
                .start()) {
            ask(both, chat("m1", true).header("traceparent", SAMPLED));
            assertThat(span().getName()).isEqualTo("chat m1");
            EXPORTER.reset();
            assertThat(ask(both, Requests.get("/own").header("traceparent", SAMPLED))
                            .text())
                    .isEqualTo("hello");
            SpanData own = span();
            assertThat(own.getName()).isEqualTo("GET");
            assertThat(own.getParentSpanId()).isEqualTo(PARENT_ID);
        }
    }

    @Test
    void aGlobalOpenTelemetryThatDoesNothingEndsTheStart() {
        GlobalOpenTelemetry.resetForTest();
        try {
            GlobalOpenTelemetry.set(OpenTelemetry.noop());
            TestGateway.Builder builder =
                    TestGateway.builder().property("gateway.tracing", true).model("m1", replica.url());
            assertThatThrownBy(() -> builder.start().close())
                    .hasStackTraceContaining("expected: OTEL_JAVA_GLOBAL_AUTOCONFIGURE_ENABLED=true");
        } finally {
            GlobalOpenTelemetry.resetForTest();
        }
    }

    // ---- that it does no harm

    @Test
    void whenTheExporterHangsSpansAreLostAndNobodyWaits() throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        SpanProcessor full = BatchSpanProcessor.builder(new HangingExporter(latch))
                .setMaxQueueSize(1)
                .setMaxExportBatchSize(1)
                .build();
        try (TestGateway hanging = traced(full, Sampler.alwaysOn())
                        .model("m1", replica.url())
                        .start();
                RawClient client = RawClient.connect(hanging.port())) {
            for (int i = 0; i < 20; i++) {
                assertThat(client.exchange(chat("m1", false)).status()).isEqualTo(200);
            }
        } finally {
            latch.countDown();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aSpanProcessorThatThrowsCostsTheSpanOnly(boolean atStart) throws Exception {
        try (LogCapture log = LogCapture.at(Level.WARN);
                TestGateway broken = traced(new BrokenProcessor(atStart), Sampler.alwaysOn())
                        .model("m1", replica.url())
                        .start();
                RawClient client = RawClient.connect(broken.port())) {
            for (int i = 0; i < 3; i++) {
                assertThat(client.exchange(chat("m1", false)).status()).isEqualTo(200);
            }
            broken.usageLines(3);
            assertThat(log.lines())
                    .filteredOn(line -> line.contains("A span was lost"))
                    .hasSize(1);
        }
    }

    private record HangingExporter(CountDownLatch latch) implements SpanExporter {

        @Override
        public CompletableResultCode export(Collection<SpanData> spans) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return CompletableResultCode.ofSuccess();
        }

        @Override
        public CompletableResultCode flush() {
            return CompletableResultCode.ofSuccess();
        }

        @Override
        public CompletableResultCode shutdown() {
            return CompletableResultCode.ofSuccess();
        }
    }

    private record BrokenProcessor(boolean atStart) implements SpanProcessor {

        @Override
        public void onStart(Context parent, ReadWriteSpan span) {
            if (atStart) {
                throw new IllegalStateException("broken");
            }
        }

        @Override
        public boolean isStartRequired() {
            return true;
        }

        @Override
        public void onEnd(ReadableSpan span) {
            throw new IllegalStateException("broken");
        }

        @Override
        public boolean isEndRequired() {
            return true;
        }
    }
}
