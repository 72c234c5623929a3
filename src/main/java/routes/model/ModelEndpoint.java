package routes.model;

import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.camel.AsyncEndpoint;
import org.apache.camel.Category;
import org.apache.camel.Consumer;
import org.apache.camel.MultipleConsumersSupport;
import org.apache.camel.Processor;
import org.apache.camel.Producer;
import org.apache.camel.spi.Metadata;
import org.apache.camel.spi.UriEndpoint;
import org.apache.camel.spi.UriParam;
import org.apache.camel.spi.UriPath;
import org.apache.camel.support.DefaultEndpoint;
import routes.config.Setting;
import routes.queue.Pool;
import routes.request.CacheSalts;
import routes.request.Timeouts;

/** Serve a model by name, or send a request to the route that serves the model it asks for. */
@UriEndpoint(
        firstVersion = "1.0.0",
        scheme = "model",
        title = "Model",
        syntax = "model:name",
        category = {Category.AI, Category.CORE},
        remote = false)
public final class ModelEndpoint extends DefaultEndpoint implements AsyncEndpoint, MultipleConsumersSupport {

    @UriPath
    @Metadata(
            required = true,
            description =
                    "Name of the model, slashes and capitals included. A producer may use * for the model that the"
                            + " request asks for.")
    private String name = "";

    @UriParam(label = "consumer", description = "Other names for the model, separated by commas.")
    private String aliases = "";

    @UriParam(
            label = "consumer",
            defaultValue = "" + Pool.Bounds.REQUESTS,
            description = "Most requests that wait for a slot of the model's replicas (503 beyond); 0 for no queue.")
    private int queueLimit = Pool.Bounds.REQUESTS;

    @UriParam(
            label = "consumer",
            defaultValue = Pool.Bounds.BYTES,
            description =
                    "Most bytes of request bodies that wait for a slot (503 beyond), such as 65536, 64k, 32m or 1g.")
    private String queueBytes = Pool.Bounds.BYTES;

    @UriParam(
            label = "consumer",
            defaultValue = Pool.Bounds.TIMEOUT,
            description = "How long a request waits for a slot (503 beyond), such as 500ms, 30s or 2m.")
    private String queueTimeout = Pool.Bounds.TIMEOUT;

    @UriParam(
            label = "consumer",
            description = "Model that serves a request in its place when no replica can or the queue is full.")
    private String fallback = "";

    @UriParam(
            label = "consumer",
            description =
                    "From sending a streaming request to the first event of its answer, such as 60s; gateway.head-timeout"
                            + " unless given.")
    private String headTimeout = "";

    @UriParam(
            label = "consumer",
            description = "Longest silence of a streamed answer, such as 60s; gateway.stall-timeout unless given.")
    private String stallTimeout = "";

    @UriParam(label = "consumer", description = "The whole request, such as 10m; gateway.total-timeout unless given.")
    private String totalTimeout = "";

    @UriParam(
            label = "consumer,security",
            enums = "none,tenant",
            defaultValue = "none",
            description =
                    "Whether the replicas' prefix caches are kept apart by tenant, by a cache_salt in each request's body;"
                            + " needs gateway.cache-salt-secret.")
    private String cacheSalt = "none";

    public ModelEndpoint(String uri, ModelComponent component) {
        super(uri, component);
    }

    ModelComponent directory() {
        return (ModelComponent) getComponent();
    }

    /** An old and a new route may serve the same model while one replaces the other. */
    @Override
    public boolean isMultipleConsumersSupported() {
        return true;
    }

    @Override
    public Producer createProducer() {
        return new ModelProducer(this);
    }

    @Override
    public Consumer createConsumer(Processor processor) throws Exception {
        if (name.isEmpty() || name.equals("*")) {
            throw new IllegalArgumentException("from: model:" + name + " (expected: the name of one model)");
        }
        ModelConsumer consumer =
                new ModelConsumer(this, processor, directory().queue().pool(name));
        configureConsumer(consumer);
        return consumer;
    }

    /** The model's own name and its aliases. */
    public Set<String> names() {
        Set<String> names = new LinkedHashSet<>();
        names.add(name);
        for (String alias : aliases.split(",", -1)) {
            if (!alias.isBlank()) {
                names.add(alias.trim());
            }
        }
        return names;
    }

    public String getName() {
        return name;
    }

    public void setName(String name) {
        this.name = name;
    }

    /** @throws IllegalArgumentException saying which option is out of its range */
    Pool.Bounds queueBounds() {
        return Pool.Bounds.of(queueLimit, queueBytes, queueTimeout);
    }

    /** @throws IllegalArgumentException saying which option makes no sense */
    Timeouts timeouts() {
        return Timeouts.of(directory().settings()).with(headTimeout, stallTimeout, totalTimeout);
    }

    /** @throws IllegalArgumentException for a word that isn't known */
    boolean saltsTenants() {
        if (!cacheSalt.equals("none") && !cacheSalt.equals("tenant")) {
            throw new IllegalArgumentException("cacheSalt: " + cacheSalt + " (expected: none or tenant)");
        }
        if (cacheSalt.equals("tenant")) {
            new CacheSalts(directory().settings().text(Setting.CACHE_SALT_SECRET))
                    .require("model:" + name + ": cacheSalt");
            return true;
        }
        return false;
    }

    public String getFallback() {
        return fallback;
    }

    public void setFallback(String fallback) {
        this.fallback = fallback;
    }

    public String getHeadTimeout() {
        return headTimeout;
    }

    public void setHeadTimeout(String headTimeout) {
        this.headTimeout = headTimeout;
    }

    public String getStallTimeout() {
        return stallTimeout;
    }

    public void setStallTimeout(String stallTimeout) {
        this.stallTimeout = stallTimeout;
    }

    public String getTotalTimeout() {
        return totalTimeout;
    }

    public void setTotalTimeout(String totalTimeout) {
        this.totalTimeout = totalTimeout;
    }

    public String getCacheSalt() {
        return cacheSalt;
    }

    public void setCacheSalt(String cacheSalt) {
        this.cacheSalt = cacheSalt;
    }

    public int getQueueLimit() {
        return queueLimit;
    }

    public void setQueueLimit(int queueLimit) {
        this.queueLimit = queueLimit;
    }

    public String getQueueBytes() {
        return queueBytes;
    }

    public void setQueueBytes(String queueBytes) {
        this.queueBytes = queueBytes;
    }

    public String getQueueTimeout() {
        return queueTimeout;
    }

    public void setQueueTimeout(String queueTimeout) {
        this.queueTimeout = queueTimeout;
    }

    public String getAliases() {
        return aliases;
    }

    public void setAliases(String aliases) {
        this.aliases = aliases;
    }
}
