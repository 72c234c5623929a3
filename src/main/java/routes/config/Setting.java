package routes.config;

import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Every property of the gateway: the single source of names, defaults and meanings. Each can also come from the
 * environment ({@link #environmentName()}).
 */
public enum Setting {
    HOST("gateway.host", Kind.TEXT, "0.0.0.0", "Address that the front door listens on."),
    PORT("gateway.port", Kind.INTEGER, "8080", "Port of the front door; 0 picks a free one."),
    EVENT_LOOPS(
            "gateway.event-loops",
            Kind.INTEGER,
            "0",
            "Event loops; 0 takes as many as the process's CPU quota grants."),
    NATIVE_TRANSPORT(
            "gateway.native-transport", Kind.FLAG, "true", "Use epoll where the system has it; NIO otherwise."),
    KEYS_FILE("gateway.keys-file", Kind.TEXT, "", "keys.yaml; without one only the dev profile starts."),
    ROUTES("gateway.routes", Kind.TEXT, "classpath:routes.yaml", "The routes that the gateway runs."),
    MANAGEMENT_HOST("gateway.management.host", Kind.TEXT, "127.0.0.1", "Address of the management port."),
    MANAGEMENT_PORT(
            "gateway.management.port", Kind.INTEGER, "9876", "Port for health and metrics; 0 picks a free one."),
    READY_WHEN(
            "gateway.ready-when",
            Kind.TEXT,
            "any-pool",
            "When /observe/health/ready says so, while the gateway doesn't drain: listening; any-pool: and a replica of some"
                    + " model is up; all-pools: and one of each model is."),
    CONSOLE(
            "gateway.console",
            Kind.FLAG,
            "false",
            "Show pools, replicas, queues and what keys have used at /q/dev/dromedary of the management port."),
    NAME("gateway.name", Kind.TEXT, "dromedary", "Name of this gateway in usage lines."),
    TRACING(
            "gateway.tracing",
            Kind.FLAG,
            "false",
            "Make a span of each inference request, with OpenTelemetry as OTEL_* in the environment sets it up; needs a"
                    + " distribution built with -Ptracing."),
    WARM_UP(
            "gateway.warm-up",
            Kind.FLAG,
            "true",
            "Exercise the request's path before listening, so that the first clients don't wait for classes to load."),

    MAX_HEAD_BYTES("gateway.max-head-bytes", Kind.BYTES, "32768", "Largest request line and headers (431 beyond)."),
    MAX_HEADER_FIELDS(
            "gateway.max-header-fields", Kind.INTEGER, "100", "Most header fields of a request (431 beyond)."),
    MAX_BODY_BYTES("gateway.max-body-bytes", Kind.BYTES, "32m", "Largest request body (413 beyond)."),
    BODY_BUDGET_BYTES("gateway.body-budget-bytes", Kind.BYTES, "1g", "All request bodies held at once (503 beyond)."),
    FORWARD_HEADERS(
            "gateway.forward-headers",
            Kind.TEXT,
            "",
            "Further request headers that go to replicas, separated by commas."),
    SESSION_HEADER(
            "gateway.session-header",
            Kind.TEXT,
            "x-session-id",
            "Request header that names a conversation; requests with the same value prefer the same replica."),

    CORS_ORIGINS(
            "gateway.cors.origins",
            Kind.TEXT,
            "",
            "Origins whose pages may call the gateway from a browser, such as https://chat.example.com, separated by commas; *"
                    + " for all; empty for none."),
    CORS_HEADERS(
            "gateway.cors.headers",
            Kind.TEXT,
            "*",
            "Request headers that such pages may send, separated by commas; * for those that they ask for."),
    CORS_MAX_AGE(
            "gateway.cors.max-age", Kind.DURATION, "10m", "How long a browser may keep the answer to its preflight."),
    CORS_CREDENTIALS(
            "gateway.cors.credentials",
            Kind.FLAG,
            "false",
            "Let such pages send cookies and the like; for listed origins only. A key in a header needs none."),

    HEADER_TIMEOUT(
            "gateway.header-timeout", Kind.DURATION, "10s", "From a request's first byte to the end of its headers."),
    BODY_TIMEOUT("gateway.body-timeout", Kind.DURATION, "60s", "From the headers to the last byte of the body."),
    IDLE_TIMEOUT(
            "gateway.idle-timeout",
            Kind.DURATION,
            "300s",
            "How long a client's connection may stay open between requests."),
    WRITE_STALL_TIMEOUT(
            "gateway.write-stall-timeout",
            Kind.DURATION,
            "60s",
            "How long a client may take nothing of an answer that waits for it."),
    CONNECT_TIMEOUT("gateway.connect-timeout", Kind.DURATION, "2s", "For a connection to a replica."),
    HEAD_TIMEOUT(
            "gateway.head-timeout",
            Kind.DURATION,
            "60s",
            "From sending a streaming request to the first event of its answer; a model's route may say otherwise."),
    STALL_TIMEOUT(
            "gateway.stall-timeout",
            Kind.DURATION,
            "60s",
            "Longest silence inside a streamed answer, after its first event."),
    TOTAL_TIMEOUT(
            "gateway.total-timeout",
            Kind.DURATION,
            "10m",
            "The whole request, from its headers to the last byte of the answer; a model's route may say otherwise."),
    TIMEOUT_HEADER(
            "gateway.timeout-header",
            Kind.TEXT,
            "x-request-timeout",
            "Request header with a client's own limit for the whole request, such as 30, 30s or 500ms; empty for none."),
    MAX_TOTAL_TIMEOUT("gateway.max-total-timeout", Kind.DURATION, "1h", "The longest limit that a client may ask for."),
    POOL_IDLE_TIMEOUT(
            "gateway.pool-idle-timeout",
            Kind.DURATION,
            "4s",
            "How long an idle connection to a replica is kept; below the replica's own limit (5 s for vLLM)."),
    POOL_MAX_AGE(
            "gateway.pool-max-age",
            Kind.DURATION,
            "10m",
            "How long a connection to a replica is used for new requests."),
    DRAIN_TIMEOUT(
            "gateway.drain-timeout", Kind.DURATION, "30s", "After SIGTERM: how long requests in flight may go on."),
    MAX_ATTEMPTS(
            "gateway.max-attempts",
            Kind.INTEGER,
            "2",
            "Most tries of a request before its first byte, the first included."),
    RETRY_STATUSES(
            "gateway.retry-statuses",
            Kind.TEXT,
            "429, 502, 503",
            "Statuses of a replica after which another one is tried; of 429 and 500 to 599."),
    RETRY_BUDGET(
            "gateway.retry-budget",
            Kind.INTEGER,
            "20",
            "Second tries of a model's requests, in percent of them; beyond that the first failure counts."),
    AFFINITY_GATEWAYS(
            "gateway.affinity.gateways",
            Kind.INTEGER,
            "1",
            "How many gateways share the replicas and get about the same traffic."),

    HEALTH_PATH(
            "gateway.health.path",
            Kind.TEXT,
            "/health",
            "Where replicas tell whether they can serve; none for no probes. A replica's route may say otherwise."),
    HEALTH_INTERVAL("gateway.health.interval", Kind.DURATION, "2s", "Time between two probes of a replica."),
    HEALTH_TIMEOUT("gateway.health.timeout", Kind.DURATION, "2s", "Within which a probe must be answered."),
    HEALTH_MISSES("gateway.health.misses", Kind.INTEGER, "3", "Probes in a row that fail until a replica is down."),
    HEALTH_HITS("gateway.health.hits", Kind.INTEGER, "2", "Probes in a row that succeed until a replica is up again."),
    SLOW_START(
            "gateway.slow-start",
            Kind.DURATION,
            "10s",
            "Time in which a replica that has come back gets all of its slots; 0s at once."),
    LOAD_PATH(
            "gateway.load.path",
            Kind.TEXT,
            "/metrics",
            "Where replicas report their load; none for not at all. A replica's route may say otherwise."),
    LOAD_INTERVAL("gateway.load.interval", Kind.DURATION, "1s", "Time between two looks at a replica's load."),
    LOAD_MAX_AGE("gateway.load.max-age", Kind.DURATION, "5s", "After which a load that was reported counts no more."),
    LOAD_RUNNING(
            "gateway.load.running",
            Kind.TEXT,
            "vllm:num_requests_running, ray_vllm_num_requests_running, sglang:num_running_reqs",
            "Metrics with the requests that a replica runs; the first that it has counts."),
    LOAD_WAITING(
            "gateway.load.waiting",
            Kind.TEXT,
            "vllm:num_requests_waiting, ray_vllm_num_requests_waiting, sglang:num_queue_reqs",
            "Metrics with the requests that wait in a replica; the first that it has counts."),

    DNS_SERVERS(
            "gateway.dns.servers",
            Kind.TEXT,
            "",
            "Name servers, such as 10.0.0.2 or 10.0.0.2:5353, separated by commas; empty for the system's."),
    DNS_MIN_TTL("gateway.dns.min-ttl", Kind.DURATION, "1s", "Shortest time that an address is kept."),
    DNS_MAX_TTL("gateway.dns.max-ttl", Kind.DURATION, "30s", "Longest time until a name is looked up again."),

    RESPONSES_REMEMBERED(
            "gateway.responses.remembered",
            Kind.INTEGER,
            "65536",
            "Most responses of which the gateway knows the replica that keeps them; it asks around for others."),
    RESPONSES_REMEMBERED_FOR(
            "gateway.responses.remembered-for",
            Kind.DURATION,
            "24h",
            "How long the gateway knows which replica keeps a response."),

    CREDENTIAL_REST(
            "gateway.credential-rest",
            Kind.DURATION,
            "60s",
            "How long one of several keys of a provider is not used after a 401, or a 429 that doesn't say."),
    CACHE_SALT_SECRET(
            "gateway.cache-salt-secret",
            Kind.TEXT,
            "",
            "Secret from which each tenant's cache_salt is made; needed where tenants' prefix caches are kept apart."),

    USAGE_FILE("gateway.usage.file", Kind.TEXT, "usage.jsonl", "File that usage lines are appended to."),
    USAGE_FLUSH_INTERVAL(
            "gateway.usage.flush-interval", Kind.DURATION, "1s", "Longest time until a usage line is in the file."),
    USAGE_MAX_PENDING(
            "gateway.usage.max-pending",
            Kind.INTEGER,
            "65536",
            "Usage lines not yet written; beyond that requests get 503."),

    DEMO_REPLICAS(
            "gateway.demo.replicas", Kind.INTEGER, "0", "Demo replicas started inside the gateway (dev profile)."),
    DEMO_FIRST_PORT(
            "gateway.demo.first-port",
            Kind.INTEGER,
            "9001",
            "Port of the first demo replica; the others follow; 0 picks free ones.");

    /** How a value is written: {@code 2s}, {@code 150ms}, {@code 10m}; {@code 32m} (mebibytes); {@code true}. */
    public enum Kind {
        TEXT("text"),
        INTEGER("a whole number"),
        FLAG("true or false"),
        BYTES("a number of bytes, such as 65536, 64k, 32m or 1g"),
        DURATION("a duration, such as 250ms, 2s or 10m");

        private final String expected;

        Kind(String expected) {
            this.expected = expected;
        }

        public String expected() {
            return expected;
        }
    }

    private static final Set<String> KEYS =
            Stream.of(values()).map(Setting::key).collect(Collectors.toUnmodifiableSet());

    private final String key;
    private final Kind kind;
    private final String defaultValue;
    private final String meaning;

    Setting(String key, Kind kind, String defaultValue, String meaning) {
        this.key = key;
        this.kind = kind;
        this.defaultValue = defaultValue;
        this.meaning = meaning;
    }

    public String key() {
        return key;
    }

    /** Whether a property is one of these, or the level that the log's configuration reads. */
    public static boolean exists(String key) {
        return KEYS.contains(key) || key.equals("gateway.log.level");
    }

    public Kind kind() {
        return kind;
    }

    public String defaultValue() {
        return defaultValue;
    }

    public String meaning() {
        return meaning;
    }

    /** {@code gateway.max-body-bytes} is {@code GATEWAY_MAX_BODY_BYTES}. */
    public String environmentName() {
        return key.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
    }
}
