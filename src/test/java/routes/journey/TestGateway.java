package routes.journey;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.apache.camel.CamelContext;
import org.apache.camel.main.Main;
import routes.GatewayConfiguration;
import routes.door.Door;
import routes.queue.Queue;
import routes.quota.Quotas;
import routes.replica.Replica;
import routes.replica.Replicas;
import routes.usage.UsageJournal;

/**
 * A gateway inside the test's process, on a free port, with routes and keys of its own. Closing it checks what must hold
 * after every journey: nothing in flight, every slot free, every usage line written.
 */
final class TestGateway implements AutoCloseable {

    static final String KEY = "sk-test-k1";
    static final String OTHER_KEY = "sk-test-k2";
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Main main = new Main();
    private final Path folder;
    private final CamelContext context;

    private TestGateway(Path folder, Map<String, String> properties, Map<String, Object> beans) throws Exception {
        this.folder = folder;
        properties.forEach(main::addOverrideProperty);
        beans.forEach(main::bind);
        main.configure().addConfiguration(new GatewayConfiguration());
        main.setShutdownStrategy(new org.apache.camel.main.SimpleMainShutdownStrategy());
        main.start();
        context = main.getCamelContext();
    }

    /** What a journey starts with; everything may be changed. */
    static Builder builder() {
        return new Builder();
    }

    /** A gateway whose model {@code m1} runs on these replicas. */
    static TestGateway serving(String... replicas) {
        return builder().model("m1", replicas).start();
    }

    static final class Builder {
        private final Map<String, String> properties = new LinkedHashMap<>();
        private final List<String> routes = new ArrayList<>();
        private String keys = keys("*");
        private final Map<String, Object> beans = new LinkedHashMap<>();
        private String steps = "";
        private String door = FRONT_DOOR;
        private String balancer = "affinity";

        private Builder() {
            properties.put("gateway.host", "127.0.0.1");
            properties.put("gateway.port", "0");
            properties.put("gateway.usage.flush-interval", "5ms");
            properties.put("camel.management.enabled", "false");
            properties.put("camel.metrics.enabled", "false");
            properties.put("gateway.warm-up", "false");
            // replicas that are down from the start, as many journeys want them, are to be tried
            properties.put("gateway.health.path", "none");
            properties.put("gateway.load.path", "none");
        }

        Builder property(String name, Object value) {
            properties.put(name, value.toString());
            return this;
        }

        /** @param replicas base addresses, each with options if need be: {@code http://127.0.0.1:1234?slots=2} */
        Builder model(String name, String... replicas) {
            return route(modelRoute(name, "", replicas));
        }

        /** @param options of the model, such as {@code queueLimit: 2, queueTimeout: 300ms} */
        Builder modelWith(String options, String name, String... replicas) {
            return route(modelRoute(name, "\n  parameters: { " + options + " }", replicas));
        }

        Builder modelWithAliases(String name, String aliases, String... replicas) {
            return route(modelRoute(name, "\n  parameters: { aliases: \"" + aliases + "\" }", replicas));
        }

        /** Adds YAML of the test's own. */
        Builder route(String yaml) {
            routes.add(yaml);
            return this;
        }

        /** Steps between {@code prompt} and {@code model:*}, as YAML indented by eight spaces. */
        Builder steps(String yaml) {
            steps = yaml;
            return this;
        }

        /** The balancer of the models, such as {@code rendezvous}. */
        Builder balancer(String name) {
            balancer = name;
            return this;
        }

        /** Replaces the front door's route. */
        Builder door(String yaml) {
            door = yaml;
            return this;
        }

        /** Something that routes refer to by its name. */
        Builder bean(String name, Object bean) {
            beans.put(name, bean);
            return this;
        }

        /** The whole keys.yaml. */
        Builder keysFile(String yaml) {
            keys = yaml;
            return this;
        }

        /** Models that the first key may use; the second may use all. */
        Builder firstKeyMayUse(String models) {
            keys = keys(models);
            return this;
        }

        TestGateway start() {
            try {
                Path folder = Files.createTempDirectory("journey");
                Files.writeString(folder.resolve("keys.yaml"), keys);
                Files.writeString(
                        folder.resolve("routes.yaml"),
                        door.formatted(steps) + String.join("", routes).replace("ref: affinity", "ref: " + balancer));
                properties.putIfAbsent(
                        "gateway.usage.file", folder.resolve("usage.jsonl").toString());
                properties.put("gateway.keys-file", folder.resolve("keys.yaml").toString());
                properties.put("gateway.routes", "file:" + folder.resolve("routes.yaml"));
                return new TestGateway(folder, properties, beans);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }

        private static String keys(String models) {
            return """
                    keys:
                      - id: key-one
                        tenant: tenant-one
                        sha256: %s
                        models: ["%s"]
                      - id: key-two
                        tenant: tenant-two
                        sha256: %s
                    """.formatted(sha256(KEY), models, sha256(OTHER_KEY));
        }

        private static String modelRoute(String name, String parameters, String... replicas) {
            String targets = List.of(replicas).stream()
                    .map(replica -> "              - to: \"vllm:" + replica + "\"\n")
                    .collect(Collectors.joining());
            return """
                    - route:
                        id: "model-%s"
                        errorHandler: { noErrorHandler: {} }
                        from:
                          uri: "model:%s"%s
                          steps:
                            - loadBalance:
                                customLoadBalancer: { ref: affinity }
                                steps:
                    """.formatted(name.replace('/', '-'), name, parameters.replace("\n  ", "\n      ")) + targets;
        }
    }

    private static final String FRONT_DOOR = """
            - route:
                id: front-door
                errorHandler: { noErrorHandler: {} }
                from:
                  uri: netty-http:http://{{gateway.host}}:{{gateway.port}}
                  parameters:
                    serverInitializerFactory: "#door"
                  steps:
                    - process: { ref: auth }
                    - process: { ref: limits }
                    - process: { ref: prompt }
            %s
                    - to: model:*
            """;

    int port() {
        return URI.create(bean(Door.class).listening()).getPort();
    }

    String url() {
        return bean(Door.class).listening();
    }

    CamelContext context() {
        return context;
    }

    <T> T bean(Class<T> type) {
        T found = context.getRegistry().findSingleByType(type);
        if (found == null) {
            throw new AssertionError("no " + type);
        }
        return found;
    }

    /** Requests that wait for a slot. */
    int queued() {
        return bean(Queue.class).waiting();
    }

    /** The usage lines, once there are at least this many. */
    List<String> usageLines(int count) {
        await(() -> lines().size() >= count, "usage lines: " + lines());
        return lines();
    }

    List<String> lines() {
        try {
            Path file = folder.resolve("usage.jsonl");
            return Files.exists(file) ? Files.readAllLines(file) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits until nothing is in flight, every slot is free and every usage line is written. */
    void awaitIdle() {
        await(() -> bean(Door.class).inFlight() == 0, "requests in flight");
        for (Replica replica : bean(Replicas.class).all()) {
            await(() -> replica.inFlight() == 0 && !replica.isWanted(), "slots of " + replica);
        }
        await(() -> queued() == 0, "requests in the queue");
        await(() -> bean(Quotas.class).running() == 0, "concurrent requests of keys");
        await(() -> bean(UsageJournal.class).pending() == 0, "usage lines pending");
        await(() -> bean(routes.request.BodyBudget.class).used() == 0, "bytes of bodies");
    }

    static void await(BooleanSupplier condition, String what) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("still waiting for " + what);
            }
            Thread.onSpinWait();
            Thread.yield();
        }
    }

    static String sha256(String secret) {
        try {
            return java.util.HexFormat.of()
                    .formatHex(
                            java.security.MessageDigest.getInstance("SHA-256").digest(secret.getBytes()));
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        try {
            awaitIdle();
        } finally {
            main.stop();
        }
    }
}
