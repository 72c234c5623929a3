package routes.usage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.Exchange;
import org.apache.camel.ExchangePattern;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.model.dataformat.JsonLibrary;
import org.apache.camel.spi.Registry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import routes.request.Outcome;

@Timeout(60)
class UsageComponentTest {

    private final FakeDisk disk = new FakeDisk();
    private final UsageJournal journal = new UsageJournal(
            new UsageJournal.Settings(Path.of("usage.jsonl"), 100, Duration.ofMillis(1)), disk, System::nanoTime);
    private final DefaultCamelContext context = new DefaultCamelContext();
    private final BlockingQueue<Object> bodies = new LinkedBlockingQueue<>();

    @BeforeEach
    void start() throws Exception {
        journal.start();
        context.addComponent("usage", new UsageComponent());
        bind(context.getRegistry());
    }

    @AfterEach
    void stop() {
        context.stop();
        journal.close();
    }

    @Test
    void aRouteGetsEachRecordOnAThreadOfItsOwn() throws Exception {
        BlockingQueue<Exchange> exchanges = new LinkedBlockingQueue<>();
        BlockingQueue<String> threads = new LinkedBlockingQueue<>();
        route("usage:completed", exchange -> {
            exchanges.add(exchange.copy());
            threads.add(Thread.currentThread().getName());
        });

        UsageRecord record = Records.full().build();
        append(record);

        Exchange exchange = exchanges.take();
        assertThat(exchange.getMessage().getBody()).isSameAs(record);
        assertThat(exchange.getPattern()).isEqualTo(ExchangePattern.InOnly);
        assertThat(threads.take()).contains("usage://completed");
        Records.await(() -> journal.pending() == 0);
    }

    @Test
    void aRouteCanMarshalARecordToJson() throws Exception {
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("usage:completed")
                        .marshal()
                        .json(JsonLibrary.Jackson)
                        .process(e -> bodies.add(e.getMessage().getBody(String.class)));
            }
        });
        context.start();

        UsageRecord record = Records.full().user("\ud800 \u2028").build();
        append(record);

        JsonNode json = Records.JSON.readTree((String) bodies.take());
        assertThat(json).isEqualTo(Records.JSON.readTree(Records.line(record)));
    }

    @Test
    void simpleReadsARecordByTheNamesOfItsFields() throws Exception {
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("usage:completed")
                        .filter(simple("${body.outcome} == 'upstream_aborted' && ${body.totalTokens} > 4"
                                + " && ${body.stream} && ${body.finishReason} != null"))
                        .setBody(simple("${body.tenant} ${body.promptTokens} ${body.durationMs} ${body.n}"
                                + " ${body.usageSource} ${body.ts} ${body.errorCode}"))
                        .process(e -> bodies.add(e.getMessage().getBody()));
            }
        });
        context.start();

        append(Records.full().outcome(Outcome.SUCCESS).build());
        append(Records.full().totalTokens(-1).build());
        append(Records.full().build());

        assertThat(bodies.take()).isEqualTo("acme 5 1234567.890 1 final 2026-01-31T23:59:59.042Z upstream_reset");
        assertThat(bodies).isEmpty();
    }

    @Test
    void aBatchIsAListThatComesFullOrAfterItsTime() throws Exception {
        route(
                "usage:completed?batch=2&batchTimeout=50",
                exchange -> bodies.add(exchange.getMessage().getBody()));

        for (int i = 0; i < 3; i++) {
            append(Records.numbered(i));
        }

        assertThat(bodies.take()).isEqualTo(List.of(Records.numbered(0), Records.numbered(1)));
        assertThat(bodies.take()).isEqualTo(List.of(Records.numbered(2)));
    }

    @Test
    void aRecordThatTheRouteFailsOnComesAgain() throws Exception {
        AtomicInteger tries = new AtomicInteger();
        route("usage:completed", exchange -> {
            if (tries.incrementAndGet() < 3) {
                throw new IllegalStateException("planned by the test");
            }
            bodies.add(exchange.getMessage().getBody());
        });

        append(Records.numbered(0));
        append(Records.numbered(1));

        assertThat(bodies.take()).isEqualTo(Records.numbered(0));
        assertThat(bodies.take()).isEqualTo(Records.numbered(1));
        assertThat(tries).hasValue(4);
    }

    @Test
    void twoRoutesGetEveryRecordEach() throws Exception {
        route("usage:completed", exchange -> bodies.add("a"));
        route("usage:completed", exchange -> bodies.add("b"));

        append(Records.numbered(0));
        append(Records.numbered(1));

        assertThat(List.of(bodies.take(), bodies.take(), bodies.take(), bodies.take()))
                .containsExactlyInAnyOrder("a", "a", "b", "b");
    }

    @Test
    void aStoppedRouteHoldsNothingAndGetsRecordsAgainAfterItsStart() throws Exception {
        route("usage:completed", exchange -> bodies.add(exchange.getMessage().getBody()));
        String id = context.getRoutes().get(0).getRouteId();
        for (int i = 0; i < 3; i++) {
            append(Records.numbered(3 * i));
            assertThat(bodies.take()).isEqualTo(Records.numbered(3 * i));
            context.getRouteController().stopRoute(id);
            append(Records.numbered(3 * i + 1));
            Records.await(() -> journal.pending() == 0);
            context.getRouteController().startRoute(id);
            append(Records.numbered(3 * i + 2));
            assertThat(bodies.take()).isEqualTo(Records.numbered(3 * i + 2));
            context.getRouteController().suspendRoute(id);
            append(Records.numbered(100));
            Records.await(() -> journal.pending() == 0);
            context.getRouteController().resumeRoute(id);
        }
        assertThat(bodies).isEmpty();
    }

    @Test
    void aStoppingContextServesUntilTheLastRequestIsRecorded() throws Exception {
        route("usage:completed", exchange -> bodies.add(exchange.getMessage().getBody()));
        assertThat(journal.tryReserve()).isTrue();

        Thread stopping = new Thread(context::stop);
        stopping.start();
        Records.await(context::isStopping);
        journal.append(Records.numbered(7));
        stopping.join();

        assertThat(bodies).containsExactly(Records.numbered(7));
    }

    @Test
    void anotherTopicFailsAtTheStart() {
        assertThatThrownBy(() -> route("usage:started", exchange -> {}))
                .hasStackTraceContaining("usage:started does not exist (expected: usage:completed)");
    }

    @Test
    void anUnknownOptionFailsAtTheStart() {
        assertThatThrownBy(() -> route("usage:completed?size=2", exchange -> {}))
                .hasMessageContaining("size");
    }

    @Test
    void aBatchOfNothingFailsAtTheStart() {
        assertThatThrownBy(() -> route("usage:completed?batch=0", exchange -> {}))
                .hasStackTraceContaining("batch: 0 (expected: >= 1)");
    }

    @Test
    void noJournalFailsTheStart() throws Exception {
        try (DefaultCamelContext empty = new DefaultCamelContext()) {
            empty.addComponent("usage", new UsageComponent());
            empty.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from("usage:completed").process(e -> {});
                }
            });

            assertThatThrownBy(empty::start).hasStackTraceContaining("usage://completed needs exactly one");
        }
    }

    @Test
    void nothingCanBeSentToIt() {
        assertThatThrownBy(() -> context.getEndpoint("usage:completed").createProducer())
                .isInstanceOf(UnsupportedOperationException.class);
    }

    private void bind(Registry registry) {
        registry.bind("usageJournal", journal);
    }

    private void route(String uri, org.apache.camel.Processor processor) throws Exception {
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from(uri).process(processor);
            }
        });
        context.start();
    }

    private void append(UsageRecord record) {
        Records.await(journal::tryReserve);
        journal.append(record);
    }
}
