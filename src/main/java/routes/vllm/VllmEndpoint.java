package routes.vllm;

import io.netty.util.concurrent.EventExecutor;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ScheduledFuture;
import org.apache.camel.AsyncEndpoint;
import org.apache.camel.Category;
import org.apache.camel.Consumer;
import org.apache.camel.Processor;
import org.apache.camel.Producer;
import org.apache.camel.spi.Metadata;
import org.apache.camel.spi.UriEndpoint;
import org.apache.camel.spi.UriParam;
import org.apache.camel.spi.UriPath;
import org.apache.camel.support.DefaultEndpoint;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import routes.net.Tls;
import routes.replica.Replica;
import routes.replica.ReplicaAddress;
import routes.replica.ReplicaGroup;
import routes.replica.ReplicaOptions;
import routes.replica.ReplicaTarget;
import routes.request.InferenceRequest;

/** Send chat, completion and embedding requests to an OpenAI-compatible server such as vLLM, and relay its answers. */
@UriEndpoint(
        firstVersion = "1.0.0",
        scheme = "vllm",
        title = "vLLM",
        syntax = "vllm:address",
        category = {Category.AI, Category.HTTP},
        producerOnly = true)
public final class VllmEndpoint extends DefaultEndpoint implements AsyncEndpoint, ReplicaTarget {

    private static final Logger LOG = LoggerFactory.getLogger(VllmEndpoint.class);
    private static final String DEFAULT_SLOTS = "256";
    private static final String DEFAULT_STATUS = "200-299";
    private static final String DEFAULT_KEY_HEADER = "authorization";
    private static final String ONE = "one";
    private static final String ALL = "all";

    @UriPath
    @Metadata(
            required = true,
            description = "Where the server listens: http[s]://host:port[/base], or k8s://namespace/service:port.")
    private String address = "";

    @UriParam(
            defaultValue = DEFAULT_SLOTS,
            description =
                    "Most requests of this gateway that the server runs at the same time; ranks x max-num-seqs of vLLM.")
    private int slots = Integer.parseInt(DEFAULT_SLOTS);

    @UriParam(description = "The server's own name for the model, sent instead of the one that the client wrote.")
    private @Nullable String model;

    @UriParam(
            enums = ONE + "," + ALL,
            defaultValue = ONE,
            description = "Whether a host with several addresses is one server, or one for each address. What k8s://"
                    + " finds is always one for each.")
    private String resolve = ONE;

    @UriParam(
            label = "health",
            description = "Path that tells whether the server can serve, such as /health; none for no probes. The"
                    + " gateway's own when left out (gateway.health.path).")
    private @Nullable String healthPath;

    @UriParam(
            label = "health",
            defaultValue = DEFAULT_STATUS,
            description = "Status of a probe's good answer, such as 204, or a range such as 200-299.")
    private String healthStatus = DEFAULT_STATUS;

    @UriParam(
            label = "health",
            description = "Path where the server reports its load, such as /metrics; none when it doesn't. The"
                    + " gateway's own when left out (gateway.load.path).")
    private @Nullable String loadPath;

    @UriParam(
            label = "security",
            description =
                    "PEM file with the certificates that alone are trusted with https; the system's when left out.")
    private String trustStore = "";

    @UriParam(
            label = "security",
            secret = true,
            description = "The server's own API key, or several, separated by commas and used in turn; one that the"
                    + " server refuses with 401 or 429 rests. A client's key never goes there.")
    private @Nullable String apiKey;

    @UriParam(
            label = "security",
            description = "File with one API key a line, read again within seconds of a change; instead of apiKey.")
    private String apiKeyFile = "";

    @UriParam(
            label = "security",
            defaultValue = DEFAULT_KEY_HEADER,
            description = "Header that the API key is sent in. In authorization it follows Bearer; in any other, such"
                    + " as x-api-key or api-key, it stands alone.")
    private String apiKeyHeader = DEFAULT_KEY_HEADER;

    @UriParam(
            label = "advanced",
            prefix = "header.",
            multiValue = true,
            description = "Further headers for every request, such as header.OpenAI-Organization=org-1.")
    private Map<String, Object> headers = Map.of();

    private @Nullable ReplicaGroup group;
    private @Nullable RequestWriter writer;
    private @Nullable Credentials credentials;
    private @Nullable KeyFile keyFile;
    private @Nullable ScheduledFuture<?> keyFileChecks;

    public VllmEndpoint(String uri, VllmComponent component) {
        super(uri, component);
    }

    VllmComponent component() {
        return (VllmComponent) getComponent();
    }

    @Override
    protected void doInit() throws Exception {
        super.doInit();
        UpstreamSettings settings = component().settings();
        ReplicaAddress parsed = ReplicaAddress.parse(address);
        checkTrustStore(parsed);
        String keyHeader = UpstreamHeaders.keyHeader(apiKeyHeader);
        credentials = readKeys(new Credentials(keyHeader, settings.credentialRestNanos()));
        writer = writer(parsed, keyHeader, settings.forwardHeaders());
        ReplicaOptions options = new ReplicaOptions(
                slots,
                settings.probes().health(healthPath, healthStatus),
                settings.probes().load(loadPath),
                trustStore);
        group = component().replicas().group(parsed, options, mode(parsed));
    }

    private void checkTrustStore(ReplicaAddress parsed) {
        if (parsed.isSecure()) {
            Tls.check(trustStore);
        } else if (!trustStore.isEmpty()) {
            throw new IllegalArgumentException("trustStore of " + parsed + " (expected: only with https)");
        }
    }

    private Credentials readKeys(Credentials into) {
        String keys = apiKey == null ? "" : apiKey;
        if (!apiKeyFile.isEmpty()) {
            if (!keys.isEmpty()) {
                throw new IllegalArgumentException("apiKey and apiKeyFile (expected: one of the two)");
            }
            KeyFile file = new KeyFile(Path.of(apiKeyFile), into);
            file.read();
            keyFile = file;
        } else {
            into.replace(Arrays.stream(keys.split(",", -1))
                    .map(String::strip)
                    .filter(key -> !key.isEmpty())
                    .toList());
        }
        return into;
    }

    /** A client's header never stands beside one of the endpoint's own. */
    private RequestWriter writer(ReplicaAddress parsed, String keyHeader, Set<String> forwardHeaders) {
        Map<String, String> own = UpstreamHeaders.own(headers);
        Set<String> forwarded = new HashSet<>(forwardHeaders);
        forwarded.removeAll(own.keySet());
        forwarded.remove(keyHeader);
        if (own.containsKey(keyHeader)) {
            throw new IllegalArgumentException("header." + keyHeader + " (expected: only apiKeyHeader names it)");
        }
        return new RequestWriter(parsed, own, forwarded);
    }

    private ReplicaGroup.Mode mode(ReplicaAddress parsed) {
        boolean all = resolve.toLowerCase(Locale.ROOT).equals(ALL);
        if (!all && !resolve.toLowerCase(Locale.ROOT).equals(ONE)) {
            throw new IllegalArgumentException("resolve: '" + resolve + "' (expected: one or all)");
        }
        return all || !parsed.isDirect() ? ReplicaGroup.Mode.ALL : ReplicaGroup.Mode.ONE;
    }

    @Override
    protected void doStart() throws Exception {
        super.doStart();
        KeyFile file = keyFile;
        if (file != null) {
            keyFileChecks = component().repeat(file);
        }
        ReplicaGroup found = initialised(group);
        if (!isOnEventLoop()
                && !found.await(Duration.ofMillis(component().settings().connectMillis()))) {
            LOG.warn("Replica {} has not been found yet; it is down until it is", found);
        }
    }

    private boolean isOnEventLoop() {
        for (EventExecutor loop : component().loops().group()) {
            if (loop.inEventLoop()) {
                return true;
            }
        }
        return false;
    }

    @Override
    protected void doStop() throws Exception {
        ScheduledFuture<?> checks = keyFileChecks;
        if (checks != null) {
            checks.cancel(false);
            keyFileChecks = null;
        }
        super.doStop();
    }

    @Override
    public List<Replica> replicas() {
        return initialised(group).replicas();
    }

    /**
     * The replica that the request must go to, or was given slots of; without any, the first that is fit and has some, or
     * the first that is left. Null when none can serve.
     */
    @Nullable
    Replica replicaFor(InferenceRequest request) {
        List<Replica> members = replicas();
        Replica only = request.mustGoTo();
        if (only != null) {
            return members.contains(only) ? only : null;
        }
        Replica left = null;
        for (Replica each : members) {
            if (request.lease().holdsSlotsOf(each)) {
                return each;
            }
        }
        for (Replica each : members) {
            boolean free = each.hasFree(each.slotsFor(request.answers()));
            if (free && each.fitness() == Replica.Fitness.FIT) {
                return each;
            }
            if (each.isUp() && (left == null || free && !left.hasFree(left.slotsFor(request.answers())))) {
                left = each;
            }
        }
        return left;
    }

    /** The server as it is configured, in a form that is the same for equal ones. */
    public String server() {
        return initialised(group).address().toString();
    }

    /** Whether it stands for as many replicas as its name has addresses. */
    public boolean isMany() {
        return initialised(group).mode() == ReplicaGroup.Mode.ALL;
    }

    RequestWriter writer() {
        return initialised(writer);
    }

    Credentials credentials() {
        return initialised(credentials);
    }

    private static <T> T initialised(@Nullable T part) {
        if (part == null) {
            throw new IllegalStateException("not initialised");
        }
        return part;
    }

    @Override
    public Producer createProducer() {
        return new VllmProducer(this);
    }

    @Override
    public Consumer createConsumer(Processor processor) {
        throw new UnsupportedOperationException("vllm: sends requests; it can't begin a route (expected: to: vllm:…)");
    }

    public String getAddress() {
        return address;
    }

    public void setAddress(String address) {
        this.address = address;
    }

    public int getSlots() {
        return slots;
    }

    public void setSlots(int slots) {
        this.slots = slots;
    }

    public @Nullable String getModel() {
        return model;
    }

    public void setModel(@Nullable String model) {
        this.model = model;
    }

    public String getResolve() {
        return resolve;
    }

    public void setResolve(String resolve) {
        this.resolve = resolve;
    }

    public @Nullable String getHealthPath() {
        return healthPath;
    }

    public void setHealthPath(@Nullable String healthPath) {
        this.healthPath = healthPath;
    }

    public String getHealthStatus() {
        return healthStatus;
    }

    public void setHealthStatus(String healthStatus) {
        this.healthStatus = healthStatus;
    }

    public @Nullable String getLoadPath() {
        return loadPath;
    }

    public void setLoadPath(@Nullable String loadPath) {
        this.loadPath = loadPath;
    }

    public String getTrustStore() {
        return trustStore;
    }

    public void setTrustStore(String trustStore) {
        this.trustStore = trustStore;
    }

    public @Nullable String getApiKey() {
        return apiKey;
    }

    public void setApiKey(@Nullable String apiKey) {
        this.apiKey = apiKey;
    }

    public String getApiKeyFile() {
        return apiKeyFile;
    }

    public void setApiKeyFile(String apiKeyFile) {
        this.apiKeyFile = apiKeyFile;
    }

    public String getApiKeyHeader() {
        return apiKeyHeader;
    }

    public void setApiKeyHeader(String apiKeyHeader) {
        this.apiKeyHeader = apiKeyHeader;
    }

    public Map<String, Object> getHeaders() {
        return headers;
    }

    public void setHeaders(Map<String, Object> headers) {
        this.headers = headers;
    }
}
