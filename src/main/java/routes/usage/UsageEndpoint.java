package routes.usage;

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

/**
 * Receive the usage record of each request after its line is in the usage journal.
 *
 * <p>Every consumer gets every record, in the order of the file, on a thread of its own. A record that its route fails on
 * comes again until the route takes it; meanwhile the consumer's records fill the journal's places, and when none is left
 * new requests are refused. A route whose target may refuse a record for good needs {@code onException} or a dead letter
 * channel. A stopped or suspended consumer gets nothing: those records are in the file only.
 */
@UriEndpoint(
        firstVersion = "1.0.0",
        scheme = "usage",
        title = "Usage",
        syntax = "usage:topic",
        category = {Category.MONITORING},
        consumerOnly = true,
        remote = false)
public final class UsageEndpoint extends DefaultEndpoint implements MultipleConsumersSupport {

    @UriPath(enums = "completed", description = "What to receive. The records of requests that ended: completed.")
    @Metadata(required = true)
    private String topic = "";

    @UriParam(
            label = "consumer",
            defaultValue = "1",
            description = "Records in one exchange: 1 gives a UsageRecord as the body, more a List of up to that many.")
    private int batch = 1;

    @UriParam(
            label = "consumer",
            defaultValue = "1000",
            javaType = "java.time.Duration",
            description = "How long a batch waits to be full after its first record, such as 1s.")
    private long batchTimeout = 1_000;

    UsageEndpoint(String uri, UsageComponent component) {
        super(uri, component);
    }

    @Override
    public Producer createProducer() {
        throw new UnsupportedOperationException("usage: can only be read from");
    }

    @Override
    public Consumer createConsumer(Processor processor) throws Exception {
        UsageConsumer consumer = new UsageConsumer(this, processor);
        configureConsumer(consumer);
        return consumer;
    }

    @Override
    public boolean isMultipleConsumersSupported() {
        return true;
    }

    @Override
    protected void doInit() throws Exception {
        super.doInit();
        if (batch < 1) {
            throw new IllegalArgumentException("batch: " + batch + " (expected: >= 1)");
        }
        if (batchTimeout < 1) {
            throw new IllegalArgumentException("batchTimeout: " + batchTimeout + " ms (expected: >= 1)");
        }
    }

    public String getTopic() {
        return topic;
    }

    public void setTopic(String topic) {
        this.topic = topic;
    }

    public int getBatch() {
        return batch;
    }

    public void setBatch(int batch) {
        this.batch = batch;
    }

    public long getBatchTimeout() {
        return batchTimeout;
    }

    public void setBatchTimeout(long batchTimeout) {
        this.batchTimeout = batchTimeout;
    }
}
