package routes.vllm;

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
import routes.replica.Replica;
import routes.replica.ReplicaAddress;
import routes.replica.ReplicaTarget;

/** Send chat, completion and embedding requests to an OpenAI-compatible server such as vLLM, and relay its answers. */
@UriEndpoint(
        firstVersion = "1.0.0",
        scheme = "vllm",
        title = "vLLM",
        syntax = "vllm:address",
        category = {Category.AI, Category.HTTP},
        producerOnly = true)
public final class VllmEndpoint extends DefaultEndpoint implements AsyncEndpoint, ReplicaTarget {

    private static final String DEFAULT_SLOTS = "256";

    @UriPath
    @Metadata(required = true, description = "Where the server listens, such as http://gpu-1:8000.")
    private String address = "";

    @UriParam(
            defaultValue = DEFAULT_SLOTS,
            description =
                    "Most requests of this gateway that the server runs at the same time; ranks x max-num-seqs of vLLM.")
    private int slots = Integer.parseInt(DEFAULT_SLOTS);

    @UriParam(
            label = "security",
            secret = true,
            description = "The server's own API key, sent as Authorization: Bearer. A client's key never goes there.")
    private @Nullable String apiKey;

    private @Nullable Replica replica;
    private @Nullable RequestWriter writer;

    public VllmEndpoint(String uri, VllmComponent component) {
        super(uri, component);
    }

    VllmComponent component() {
        return (VllmComponent) getComponent();
    }

    @Override
    protected void doInit() throws Exception {
        super.doInit();
        ReplicaAddress parsed = ReplicaAddress.parse(address);
        replica = component().replicas().replica(parsed, slots);
        writer = new RequestWriter(parsed, apiKey, component().settings().forwardHeaders());
    }

    @Override
    public Replica replica() {
        return initialised(replica);
    }

    RequestWriter writer() {
        return initialised(writer);
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

    public @Nullable String getApiKey() {
        return apiKey;
    }

    public void setApiKey(@Nullable String apiKey) {
        this.apiKey = apiKey;
    }
}
