package routes.usage;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.camel.Exchange;
import org.apache.camel.Processor;
import org.apache.camel.RollbackExchangeException;
import org.apache.camel.ShutdownRunningTask;
import org.apache.camel.spi.ShutdownAware;
import org.apache.camel.support.CamelContextHelper;
import org.apache.camel.support.DefaultConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs its route with the journal's records.
 *
 * <p>While the whole context stops, it serves on until every place of the journal is free: the last requests' records
 * reach the route. When its route alone stops, it takes no more and finishes what it holds.
 *
 * <p><b>Threading</b>: exchanges run one after the other on one thread per start.
 */
final class UsageConsumer extends DefaultConsumer implements ShutdownAware {

    private static final Logger LOG = LoggerFactory.getLogger(UsageConsumer.class);
    private static final long STOP_MILLIS = 5_000;

    private final UsageEndpoint endpoint;
    private volatile @Nullable UsageJournal journal;
    private volatile @Nullable UsageFeed feed;
    private @Nullable Thread thread;

    UsageConsumer(UsageEndpoint endpoint, Processor processor) {
        super(endpoint, processor);
        this.endpoint = endpoint;
    }

    @Override
    protected void doStart() throws Exception {
        super.doStart();
        UsageJournal found = CamelContextHelper.findSingleByType(endpoint.getCamelContext(), UsageJournal.class);
        if (found == null) {
            throw new IllegalStateException(endpoint.getEndpointUri() + " needs exactly one "
                    + UsageJournal.class.getName() + " in the registry");
        }
        journal = found;
        begin(found);
    }

    @Override
    protected void doStop() throws Exception {
        end();
        super.doStop();
    }

    @Override
    protected void doSuspend() throws Exception {
        end();
        super.doSuspend();
    }

    @Override
    protected void doResume() throws Exception {
        super.doResume();
        UsageJournal from = journal;
        if (from != null) {
            begin(from);
        }
    }

    @Override
    public boolean deferShutdown(ShutdownRunningTask task) {
        if (!endpoint.getCamelContext().isStopping()) {
            unsubscribe();
        }
        return true;
    }

    @Override
    public int getPendingExchangesSize() {
        UsageJournal from = journal;
        UsageFeed current = feed;
        if (from == null || current == null) {
            return 0;
        }
        return endpoint.getCamelContext().isStopping() ? (int) from.pending() : current.size();
    }

    @Override
    public void prepareShutdown(boolean suspendOnly, boolean forced) {
        // doStop and doSuspend end the feed
    }

    private void begin(UsageJournal from) {
        UsageFeed fresh = new UsageFeed(
                endpoint.getEndpointUri(),
                endpoint.getBatch(),
                TimeUnit.MILLISECONDS.toNanos(endpoint.getBatchTimeout()),
                this::receive);
        Thread runner =
                endpoint.getCamelContext().getExecutorServiceManager().newThread(endpoint.getEndpointUri(), fresh);
        feed = fresh;
        thread = runner;
        runner.start();
        from.add(fresh);
    }

    private void unsubscribe() {
        UsageJournal from = journal;
        UsageFeed current = feed;
        if (from != null && current != null) {
            from.remove(current);
        }
    }

    private void end() throws InterruptedException {
        UsageFeed current = feed;
        Thread runner = thread;
        if (current == null || runner == null) {
            return;
        }
        unsubscribe();
        current.end();
        runner.join(STOP_MILLIS);
        int left = current.abandon();
        if (runner.isAlive()) {
            runner.interrupt();
        }
        feed = null;
        thread = null;
        if (left > 0) {
            LOG.warn("{}: stopped; {} usage record(s) are in the journal's file only", endpoint.getEndpointUri(), left);
        }
    }

    private @Nullable Throwable receive(List<UsageRecord> records) {
        Exchange exchange = createExchange(false);
        try {
            exchange.getMessage().setBody(endpoint.getBatch() == 1 ? records.get(0) : records);
            getProcessor().process(exchange);
            if (exchange.getException() == null && exchange.isRollbackOnly()) {
                return new RollbackExchangeException("the route marked the exchange for rollback", exchange);
            }
            return exchange.getException();
        } catch (Exception e) {
            return e;
        } finally {
            releaseExchange(exchange, false);
        }
    }
}
