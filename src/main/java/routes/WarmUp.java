package routes;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.github.resilience4j.retry.RetryRegistry;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.camel.CamelContext;
import org.apache.camel.StartupListener;
import org.apache.camel.StartupSummaryLevel;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.spi.Registry;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import routes.affinity.Affinities;
import routes.affinity.AffinityBalancer;
import routes.affinity.Breakers;
import routes.affinity.RetryPolicy;
import routes.auth.AuthStep;
import routes.auth.KeyEntry;
import routes.auth.KeyStore;
import routes.auth.Keys;
import routes.config.Setting;
import routes.config.Settings;
import routes.door.Door;
import routes.door.DoorComponent;
import routes.limits.LimitsStep;
import routes.net.EventLoops;
import routes.prompt.PromptStep;
import routes.queue.Queue;
import routes.quota.Prices;
import routes.quota.Quota;
import routes.quota.Quotas;
import routes.quota.Term;
import routes.quota.Terms;
import routes.replica.Replicas;
import routes.request.ApiKey;
import routes.request.BodyBudget;
import routes.telemetry.RequestMeters;
import routes.usage.UsageJournal;
import routes.vllm.UpstreamSettings;

/**
 * Takes requests through the stages before clients come, so that the first of them doesn't wait until classes are loaded
 * and compiled.
 *
 * <p>The stages are the real ones over real sockets, in a Camel context of their own with a stub for a replica, and are
 * thrown away afterwards: nothing is counted or billed, and no route of the gateway's runs.
 *
 * <p><b>Threading:</b> runs beside the gateway's start; the ports open when both are done. <b>Failure:</b> a warm-up that
 * fails or takes too long is logged and otherwise ignored.
 */
final class WarmUp implements StartupListener, Runnable {

    private static final Logger LOG = LoggerFactory.getLogger(WarmUp.class);
    private static final Duration LIMIT = Duration.ofSeconds(5);
    private static final int LEAST_ROUNDS = 30;
    private static final int MOST_ROUNDS = 3_000;
    private static final String SECRET = "warm-up";

    private final Settings settings;
    private final Thread thread = new Thread(this, "warm-up");
    private volatile boolean awaited;

    private WarmUp(Settings settings) {
        this.settings = settings;
        this.thread.setDaemon(true);
    }

    static WarmUp begin(Settings settings) {
        WarmUp warmUp = new WarmUp(settings);
        warmUp.thread.start();
        return warmUp;
    }

    @Override
    public void onCamelContextStarted(CamelContext context, boolean alreadyStarted) {}

    @Override
    public void onCamelContextFullyStarted(CamelContext context, boolean alreadyStarted) throws InterruptedException {
        awaited = true;
        thread.join(LIMIT.toMillis());
        if (thread.isAlive()) {
            LOG.warn("The warm-up takes longer than {} s: starting without", LIMIT.toSeconds());
        }
    }

    @Override
    public void run() {
        EventLoops loops = new EventLoops(1, settings.flag(Setting.NATIVE_TRANSPORT));
        CamelContext context = new DefaultCamelContext();
        try (WarmUpReplica replica = new WarmUpReplica()) {
            Queue queue = new Queue(System::nanoTime);
            Replicas replicas = new Replicas(queue::freed);
            context.getRegistry().bind("replicas", Replicas.class, replicas);
            Door door = assemble(context, loops, queue);
            AffinityBalancer.bind(
                    context,
                    new AffinityBalancer.Shared(
                            queue,
                            replicas,
                            new Breakers(context, CircuitBreakerRegistry.ofDefaults(), loops.watch()),
                            new RetryPolicy(settings, RetryRegistry.ofDefaults()),
                            new Affinities(System::nanoTime),
                            1));
            context.addRoutes(routes(replica.url()));
            context.start();
            rounds(URI.create(door.listening()));
        } catch (Exception e) {
            LOG.warn("The warm-up failed; the first requests will be slower: {}", e.toString());
        } finally {
            context.stop();
            loops.close();
        }
    }

    private Door assemble(CamelContext context, EventLoops loops, Queue queue) {
        BodyBudget budget = new BodyBudget(settings.bytes(Setting.BODY_BUDGET_BYTES));
        // never started: it takes records and writes nothing
        UsageJournal journal = new UsageJournal(new UsageJournal.Settings(
                Path.of("warm-up"), 8 * MOST_ROUNDS, settings.duration(Setting.USAGE_FLUSH_INTERVAL)));
        Door door = new Door(
                loops, settings, budget, new UsageAccount(journal, new RequestMeters(), "warm-up")::finished, null);
        ApiKey key = new ApiKey("warm-up", "warm-up", ApiKey.ALL_MODELS, ApiKey.NEVER, quota());

        Registry registry = context.getRegistry();
        registry.bind("eventLoops", EventLoops.class, loops);
        registry.bind("queue", Queue.class, queue);
        registry.bind("settings", Settings.class, settings);
        registry.bind("upstreamSettings", UpstreamSettings.class, UpstreamSettings.of(settings));
        registry.bind("door", Door.class, door);
        registry.bind("netty-http", new DoorComponent(door));
        registry.bind("auth", new AuthStep(new Keys(KeyStore.of(List.of(KeyEntry.ofSecret(key, SECRET)))), () -> true));
        registry.bind("limits", new LimitsStep());
        registry.bind("prompt", new PromptStep(settings.text(Setting.SESSION_HEADER)));
        context.setStartupSummaryLevel(StartupSummaryLevel.Off);
        return door;
    }

    /** Limits that are never reached, so that checking them is exercised too. */
    private static Quota quota() {
        Map<Term, Long> limits = Map.of(
                Term.REQUESTS_PER_MINUTE, Term.REQUESTS_PER_MINUTE.max(),
                Term.TOKENS_PER_MINUTE, Term.TOKENS_PER_MINUTE.max(),
                Term.CONCURRENT_REQUESTS, Term.CONCURRENT_REQUESTS.max(),
                Term.TOKENS_PER_MONTH, Term.TOKENS_PER_MONTH.max());
        return new Quotas().quota("warm-up", Terms.of(limits), "warm-up", Terms.NONE, Prices.NONE);
    }

    private static RouteBuilder routes(String replica) {
        return new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from("netty-http:http://127.0.0.1:0?serverInitializerFactory=#door")
                        .process("auth")
                        .process("limits")
                        .process("prompt")
                        .to("model:*");
                from("model:warm-up")
                        .loadBalance()
                        .custom("affinity")
                        .to("vllm:" + replica + "?healthPath=none&loadPath=none")
                        .end();
            }
        };
    }

    private void rounds(URI door) throws IOException {
        long end = System.nanoTime() + LIMIT.toNanos();
        int round = 0;
        try (WarmUpClient client = new WarmUpClient(door, SECRET)) {
            while (round < LEAST_ROUNDS || !awaited && round < MOST_ROUNDS && System.nanoTime() - end < 0) {
                client.round();
                round++;
            }
        }
        LOG.debug("Warmed up in {} rounds", round);
    }
}
