package routes;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.github.resilience4j.retry.RetryRegistry;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.camel.CamelConfiguration;
import org.apache.camel.CamelContext;
import org.apache.camel.health.HealthCheckRegistry;
import org.apache.camel.spi.Registry;
import org.apache.camel.support.CamelContextHelper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import routes.address.KubernetesWatch;
import routes.address.NameWatch;
import routes.affinity.Affinities;
import routes.affinity.AffinityBalancer;
import routes.affinity.AffinitySection;
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
import routes.health.HealthWatch;
import routes.health.WatchSettings;
import routes.limits.LimitsStep;
import routes.net.EventLoops;
import routes.prompt.PromptStep;
import routes.queue.Queue;
import routes.quota.Quotas;
import routes.replica.ReplicaGroup;
import routes.replica.Replicas;
import routes.request.ApiKey;
import routes.request.BodyBudget;
import routes.request.CacheSalts;
import routes.telemetry.ConsoleSection;
import routes.telemetry.Gauges;
import routes.telemetry.KeysSection;
import routes.telemetry.PoolsCheck;
import routes.telemetry.PoolsSection;
import routes.telemetry.Readiness;
import routes.telemetry.ReadyWhen;
import routes.telemetry.RequestMeters;
import routes.tracing.Tracing;
import routes.usage.UsageJournal;
import routes.vllm.UpstreamSettings;

/** Puts the gateway together: reads the settings, makes what the stages share, and binds the stages for {@code routes.yaml}. */
public final class GatewayConfiguration implements CamelConfiguration {

    private static final Logger LOG = LoggerFactory.getLogger(GatewayConfiguration.class);

    /** The key of the dev profile; it exists nowhere else. */
    static final String DEV_KEY = "sk-dromedary-dev";

    private final boolean rehearsal;

    public GatewayConfiguration() {
        this(false);
    }

    /**
     * @param rehearsal whether routes are only to be built: nothing opens a port, a connection or a file then, and no key is
     *     known; see {@link Rehearsal}
     */
    GatewayConfiguration(boolean rehearsal) {
        this.rehearsal = rehearsal;
    }

    @Override
    public void configure(CamelContext context) throws Exception {
        if (!rehearsal) {
            Settings.refuseUnknown(context.getPropertiesComponent()
                    .loadProperties(name -> name.startsWith("gateway."))
                    .stringPropertyNames());
        }
        Settings settings = new Settings(key -> property(context, key));
        if (!rehearsal) {
            ManagementPort.check(context, settings);
        }
        Registry registry = context.getRegistry();

        EventLoops loops =
                new EventLoops(settings.integer(Setting.EVENT_LOOPS), settings.flag(Setting.NATIVE_TRANSPORT));
        Quotas quotas = new Quotas();
        Keys keys = new Keys(keys(context, settings, quotas, new CacheSalts(settings.text(Setting.CACHE_SALT_SECRET))));
        Queue queue = new Queue(System::nanoTime);
        Replicas replicas = new Replicas(queue::freed);
        RequestMeters meters = new RequestMeters();
        BodyBudget budget = new BodyBudget(settings.bytes(Setting.BODY_BUDGET_BYTES));
        UsageJournal journal = journal(settings);
        UsageAccount account = new UsageAccount(journal, meters, settings.text(Setting.NAME));
        Tracing tracing = settings.flag(Setting.TRACING) ? Tracing.open(registry, settings.text(Setting.NAME)) : null;
        Door door = new Door(loops, settings, budget, account::finished, tracing == null ? null : tracing::begun);

        registry.bind("eventLoops", EventLoops.class, loops);
        registry.bind("replicas", Replicas.class, replicas);
        registry.bind("queue", Queue.class, queue);
        registry.bind("bodyBudget", BodyBudget.class, budget);
        registry.bind("keys", Keys.class, keys);
        registry.bind("quotas", Quotas.class, quotas);
        registry.bind("usageJournal", UsageJournal.class, journal);
        registry.bind("upstreamSettings", UpstreamSettings.class, UpstreamSettings.of(settings));
        registry.bind("settings", Settings.class, settings);

        // the stages, by the names that routes.yaml uses
        registry.bind("door", Door.class, door);
        registry.bind("netty-http", new DoorComponent(door));
        registry.bind("auth", new AuthStep(keys, journal::tryReserve));
        registry.bind("limits", new LimitsStep());
        registry.bind(
                "prompt", new PromptStep(settings.text(Setting.SESSION_HEADER).toLowerCase(Locale.ROOT)));
        Breakers breakers = new Breakers(
                context,
                registered(
                        registry,
                        "circuitBreakerRegistry",
                        CircuitBreakerRegistry.class,
                        CircuitBreakerRegistry::ofDefaults),
                loops.watch());
        NameWatch names = new NameWatch(loops, settings);
        KubernetesWatch clusters = new KubernetesWatch(loops);
        HealthWatch health = new HealthWatch(loops, WatchSettings.of(settings));
        if (rehearsal) {
            replicas.listen(new NobodyLooks());
        } else {
            List.of(breakers, names, clusters, health).forEach(replicas::listen);
        }
        RetryPolicy retries = new RetryPolicy(
                settings, registered(registry, "retryRegistry", RetryRegistry.class, RetryRegistry::ofDefaults));
        Affinities affinities = new Affinities(System::nanoTime);
        registry.bind("affinities", Affinities.class, affinities);
        AffinityBalancer.bind(
                context,
                new AffinityBalancer.Shared(
                        queue, replicas, breakers, retries, affinities, settings.integer(Setting.AFFINITY_GATEWAYS)));

        context.getTypeConverterRegistry().addTypeConverters(new RequestConverters());
        ModelReplicas models = new ModelReplicas(context);
        ReadyWhen policy = ReadyWhen.of(settings.text(Setting.READY_WHEN));
        HealthCheckRegistry checks = HealthCheckRegistry.get(context);
        if (checks != null) {
            checks.register(new PoolsCheck(models, policy));
            checks.register(new Readiness(() -> !door.listening().isEmpty(), door::isDraining));
        }
        Runnable stopWatching = () -> {
            health.close();
            clusters.close();
            names.close();
            if (tracing != null) {
                tracing.close();
            }
        };
        Drain drain = new Drain(door, journal, loops, stopWatching, settings.duration(Setting.DRAIN_TIMEOUT));
        registry.bind("drain", Drain.class, drain);
        context.addService(drain, true, true);
        context.addStartupListener((started, already) -> meters(
                started,
                affinities,
                gauges -> gauges.requests(meters, queue)
                        .replicas(replicas, breakers::breaker)
                        .gauge(
                                "dromedary.requests.in.flight",
                                "Requests between their head and their end.",
                                door::inFlight)
                        .pools(queue, meters)
                        .refusals(quotas)
                        .gauge(
                                "dromedary.keys.requests.running",
                                "Requests that count against the concurrency of a key or tenant with limits.",
                                quotas::running)
                        .gauge("dromedary.client.connections", "Open connections of clients.", door::connections)
                        .gauge("dromedary.body.bytes", "Bytes of request bodies that are held.", budget::used)
                        .gauge(
                                "dromedary.usage.lines.pending",
                                "Usage lines reserved and not yet in the file.",
                                journal::pending)
                        .counter("dromedary.usage.lines.written", "Usage lines in the file.", journal::written)));
        if (rehearsal) {
            return;
        }
        if (settings.flag(Setting.CONSOLE)) {
            ConsoleSection pools = new PoolsSection(
                    queue, models, replica -> breakers.breaker(replica).getState());
            Console.open(context, List.of(pools, new AffinitySection(affinities), new KeysSection(quotas)));
        }
        DemoReplicas demo = new DemoReplicas(context, settings);
        // before routes are read, which ask for their addresses
        demo.start();
        context.addService(demo, true, true);
        if (settings.flag(Setting.WARM_UP)) {
            // the first of the listeners: it holds up those that open ports
            context.addStartupListener(WarmUp.begin(settings));
        }
    }

    private static Optional<String> property(CamelContext context, String key) {
        return context.getPropertiesComponent().resolveProperty(key);
    }

    private KeyStore keys(CamelContext context, Settings settings, Quotas quotas, CacheSalts salts) {
        if (rehearsal) {
            return KeyStore.of(List.of());
        }
        String file = settings.text(Setting.KEYS_FILE);
        if (!file.isEmpty()) {
            return KeyStore.load(Path.of(file), quotas, salts);
        }
        if ("dev".equals(context.getCamelContextExtension().getProfile())) {
            LOG.warn("Dev profile: the built-in key is in use; give gateway.keys-file for any other use");
            ApiKey dev = new ApiKey("dev", "dev", ApiKey.ALL_MODELS, ApiKey.NEVER);
            return KeyStore.of(List.of(KeyEntry.ofSecret(dev.with(salts.of(dev.tenant(), false)), DEV_KEY)));
        }
        throw new IllegalArgumentException(
                "gateway.keys-file: not set (expected: the path of a keys.yaml; without keys only the dev profile starts)");
    }

    private UsageJournal journal(Settings settings) throws IOException {
        UsageJournal journal = new UsageJournal(new UsageJournal.Settings(
                Path.of(settings.text(Setting.USAGE_FILE)),
                settings.integer(Setting.USAGE_MAX_PENDING),
                settings.duration(Setting.USAGE_FLUSH_INTERVAL)));
        if (!rehearsal) {
            journal.start();
        }
        return journal;
    }

    /** In a rehearsal: no address is looked up, and nobody waits for one. */
    private static final class NobodyLooks implements Replicas.Listener {

        @Override
        public void added(ReplicaGroup group) {
            group.members(List.of());
        }
    }

    private static void meters(CamelContext context, Affinities affinities, Consumer<Gauges> all) {
        MeterRegistry registry = CamelContextHelper.findSingleByType(context, MeterRegistry.class);
        if (registry != null) {
            affinities.bindTo(registry);
            all.accept(new Gauges(registry));
        }
    }

    /** The registry that is there, for a user's own breakers, or one that others will find. */
    private static <T> T registered(Registry registry, String name, Class<T> type, Supplier<T> otherwise) {
        T found = registry.findSingleByType(type);
        if (found == null) {
            found = otherwise.get();
            registry.bind(name, type, found);
        }
        return found;
    }
}
