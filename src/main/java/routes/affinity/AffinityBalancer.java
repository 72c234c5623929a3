package routes.affinity;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.camel.AsyncCallback;
import org.apache.camel.AsyncProcessor;
import org.apache.camel.CamelContext;
import org.apache.camel.CamelContextAware;
import org.apache.camel.Endpoint;
import org.apache.camel.EndpointAware;
import org.apache.camel.Exchange;
import org.apache.camel.Navigate;
import org.apache.camel.Processor;
import org.apache.camel.processor.loadbalancer.LoadBalancerSupport;
import org.apache.camel.spi.Configurer;
import org.apache.camel.spi.InterceptSendToEndpoint;
import org.apache.camel.spi.Metadata;
import org.apache.camel.spi.Registry;
import org.apache.camel.support.CamelContextHelper;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import routes.error.ErrorCode;
import routes.queue.Candidates;
import routes.queue.Pool;
import routes.queue.Queue;
import routes.replica.Replica;
import routes.replica.ReplicaGroup;
import routes.replica.ReplicaTarget;
import routes.replica.Replicas;
import routes.request.InferenceRequest;

/**
 * Chooses a replica for each attempt, takes its slots or waits for them in the queue of the request's pool, and tries again
 * elsewhere as long as no byte of an answer has gone to the client.
 *
 * <p>In routes by the names {@code affinity}, {@code rendezvous}, {@code round-robin} and {@code least-loaded}, which differ
 * in their strategy; with other numbers as a bean of one's own, one for each route.
 *
 * <p><b>Threading:</b> works on the request's event loop and returns to it. <b>Ownership:</b> slots and the place in the
 * queue belong to the request's lease. <b>Failure:</b> ends the exchange with the error of the last attempt, or with
 * {@link ErrorCode#QUEUE_FULL}, {@link ErrorCode#QUEUE_TIMEOUT} or {@link ErrorCode#NO_REPLICA} when there was nobody to try.
 */
@Metadata(
        label = "bean",
        description =
                "Balances inference requests over replicas: which one has the prompt's prefix in its cache, and what it"
                        + " costs to leave that one.",
        annotations = {"interfaceName=org.apache.camel.processor.loadbalancer.LoadBalancer"})
@Configurer(metadataOnly = true)
public final class AffinityBalancer extends LoadBalancerSupport implements CamelContextAware {

    private static final Logger LOG = LoggerFactory.getLogger(AffinityBalancer.class);
    private static final int LARGEST_POOL = Walk.LARGEST_POOL;

    /**
     * What all balancers of a gateway share.
     *
     * @param gateways that share the replicas
     */
    public record Shared(
            Queue queue,
            Replicas replicas,
            Breakers breakers,
            RetryPolicy retries,
            Affinities affinities,
            int gateways) {}

    @Metadata(
            description = "How a replica is chosen",
            enums = "nested,rendezvous,round-robin,least-loaded",
            defaultValue = "nested")
    private String strategy = Strategies.NESTED.text();

    @Metadata(
            description = "A prefix is kept on about as many replicas as it is used within this time",
            javaType = "java.time.Duration",
            defaultValue = "10s")
    private Duration period = Tuning.DEFAULTS.homes().period();

    @Metadata(
            description = "After which a use of a prefix counts half",
            javaType = "java.time.Duration",
            defaultValue = "300s")
    private Duration halfLife = Tuning.DEFAULTS.homes().halfLife();

    @Metadata(
            description = "Most prefixes of a model whose uses are counted; those used longest ago are forgotten first",
            javaType = "int",
            defaultValue = "32768")
    private int prefixes = Tuning.DEFAULTS.homes().prefixes();

    @Metadata(
            description =
                    "Price of a token of the request's own prompt that would have to be computed, in an idle pool."
                            + " The unit of all prices is a token of somebody else's prompt that is still to be computed.",
            javaType = "double",
            defaultValue = "2")
    private double uncachedPrice = Tuning.DEFAULTS.price().uncached();

    @Metadata(
            description = "Mean cost of the pool's replicas at which uncachedPrice has doubled",
            javaType = "double",
            defaultValue = "4096")
    private double uncachedDoublesAt = Tuning.DEFAULTS.price().doublesAt();

    @Metadata(
            description = "Price of a request that the replica has already",
            javaType = "double",
            defaultValue = "128")
    private double requestPrice = Tuning.DEFAULTS.price().request();

    @Metadata(
            description = "Price of a request that it has beyond its slots",
            javaType = "double",
            defaultValue = "2000")
    private double excessPrice = Tuning.DEFAULTS.price().excess();

    @Metadata(
            description =
                    "Price of a second of waiting for a slot: about the prompt tokens that a replica computes in it",
            javaType = "double",
            defaultValue = "8000")
    private double waitSecondPrice = Tuning.DEFAULTS.price().waitSecond();

    @Metadata(
            description = "How much dearer than the cheapest a preferred replica may always be",
            javaType = "double",
            defaultValue = "1024")
    private double slackTokens = Tuning.DEFAULTS.slack().tokens();

    @Metadata(
            description = "And this share of what is to be done at the least busy replica",
            javaType = "double",
            defaultValue = "0.25")
    private double slackShare = Tuning.DEFAULTS.slack().share();

    @Metadata(
            description = "And this share of what it would cost to compute the whole prompt",
            javaType = "double",
            defaultValue = "0.06")
    private double slackPrompt = Tuning.DEFAULTS.slack().prompt();

    @Metadata(
            description = "Whether what is expected to be cached follows what replicas report to have had cached",
            javaType = "boolean",
            defaultValue = "false")
    private boolean learnedWarmth = Tuning.DEFAULTS.learnedWarmth();

    private @Nullable CamelContext camelContext;
    private @Nullable Shared shared;
    private @Nullable RetryBudget budget;
    private Affinities.Way way = new Affinities.Way(Strategies.NESTED, Tuning.DEFAULTS);
    private volatile Affinities.@Nullable OfPool last;
    private final Candidates candidates = new Candidates(List.of());
    private final Replicas.Listener members = new Replicas.Listener() {
        @Override
        public void changed(ReplicaGroup group) {
            renew();
        }
    };
    private AsyncProcessor[] children = new AsyncProcessor[0];
    private ReplicaTarget[] targets = new ReplicaTarget[0];
    private volatile @Nullable Fleet fleet;

    /** One that will find in the registry what it shares with others. */
    public AffinityBalancer() {}

    private AffinityBalancer(CamelContext context, String strategy) {
        this.camelContext = context;
        this.strategy = strategy;
    }

    /** Binds the balancers that routes may name. */
    public static void bind(CamelContext context, Shared shared) {
        Registry registry = context.getRegistry();
        registry.bind("balancing", Shared.class, shared);
        for (Strategies each : Strategies.values()) {
            registry.bindAsPrototype(
                    each == Strategies.NESTED ? "affinity" : each.text(),
                    AffinityBalancer.class,
                    () -> new AffinityBalancer(context, each.text()));
        }
    }

    @Override
    public void setRouteId(String routeId) {
        if (getRouteId() != null && !getRouteId().equals(routeId)) {
            throw new IllegalArgumentException("balancer of route " + getRouteId() + ": also in route " + routeId
                    + " (expected: a bean of its own for each route)");
        }
        super.setRouteId(routeId);
    }

    @Override
    protected void doStart() throws Exception {
        super.doStart();
        prepare();
        renew();
        shared().replicas().listen(members);
    }

    /**
     * Takes its options and its replicas without starting anything.
     *
     * @throws IllegalArgumentException saying which of them can't be
     */
    public void prepare() {
        Shared found = shared;
        if (found == null) {
            found = CamelContextHelper.findSingleByType(getCamelContext(), Shared.class);
            if (found == null) {
                throw new IllegalStateException("the balancer works inside the gateway only");
            }
            shared = found;
            budget = found.retries().newBudget();
        }
        way = new Affinities.Way(
                Strategies.named(strategy),
                new Tuning(
                        new Tuning.Homes(period, halfLife, prefixes, found.gateways()),
                        new Tuning.Price(uncachedPrice, uncachedDoublesAt, requestPrice, excessPrice, waitSecondPrice),
                        new Tuning.Slack(slackTokens, slackShare, slackPrompt),
                        learnedWarmth));
        last = null;
        children = doGetProcessors().clone();
        targets = new ReplicaTarget[children.length];
        for (int i = 0; i < children.length; i++) {
            Endpoint endpoint = endpointOf(children[i]);
            if (!(endpoint instanceof ReplicaTarget target)) {
                throw new IllegalArgumentException(
                        "affinity in route " + getRouteId() + ": " + (endpoint == null ? children[i] : endpoint)
                                + " (expected: steps 'to: vllm:http://host:port' only)");
            }
            targets[i] = target;
        }
        if (targets.length == 0 || targets.length > LARGEST_POOL) {
            throw new IllegalArgumentException("affinity in route " + getRouteId() + ": " + targets.length
                    + " replicas (expected: 1 to " + LARGEST_POOL + ")");
        }
    }

    @Override
    protected void doStop() throws Exception {
        shared().replicas().unlisten(members);
        super.doStop();
    }

    /** Looks which replicas there are; those who wait see the new ones. */
    private synchronized void renew() {
        List<Replica> replicas = new ArrayList<>();
        List<AsyncProcessor> senders = new ArrayList<>();
        for (int i = 0; i < targets.length; i++) {
            for (Replica replica : targets[i].replicas()) {
                if (replicas.size() < LARGEST_POOL && !replicas.contains(replica)) {
                    replicas.add(replica);
                    senders.add(children[i]);
                } else if (!replicas.contains(replica)) {
                    LOG.warn("Route {}: {} is not used: {} replicas at most", getRouteId(), replica, LARGEST_POOL);
                }
            }
        }
        if (!replicas.isEmpty() && replicas.equals(candidates.now())) {
            return;
        }
        fleet = new Fleet(replicas, senders, shared().breakers());
        shared().queue().change(candidates, replicas);
    }

    @Override
    public boolean process(Exchange exchange, AsyncCallback callback) {
        InferenceRequest request = exchange.getMessage().getBody(InferenceRequest.class);
        if (request == null) {
            exchange.setException(new IllegalArgumentException("affinity balances inference requests only"));
            callback.done(true);
            return true;
        }
        if (request.storedResponse() != null) {
            new Inquiry(fleet(), exchange, request, callback).begin();
            return false;
        }
        Attempts attempts = new Attempts(this, exchange, request, callback);
        if (request.loop().inEventLoop()) {
            attempts.begin();
        } else {
            request.loop().execute(attempts::begin);
        }
        return false;
    }

    // ---- for attempts

    private Shared shared() {
        return Objects.requireNonNull(shared, "not started");
    }

    Queue queue() {
        return shared().queue();
    }

    RetryPolicy retries() {
        return shared().retries();
    }

    RetryBudget budget() {
        return Objects.requireNonNull(budget, "not started");
    }

    Candidates candidates() {
        return candidates;
    }

    Fleet fleet() {
        return Objects.requireNonNull(fleet, "not started");
    }

    /** The pool of the model that serves the request, or one of the route's own where no model does. */
    Pool poolOf(InferenceRequest request) {
        Pool pool = request.pool();
        return pool == null ? shared().queue().pool(getRouteId()) : pool;
    }

    /** What is known of the pool's prefixes. */
    Affinities.OfPool affinityOf(Pool pool) {
        Affinities.OfPool of = last;
        if (of == null || of.pool() != pool) {
            of = shared().affinities().of(pool, way);
            last = of;
        }
        return of;
    }

    // ---- options

    @Override
    public @Nullable CamelContext getCamelContext() {
        return camelContext;
    }

    @Override
    public void setCamelContext(CamelContext context) {
        camelContext = context;
    }

    public String getStrategy() {
        return strategy;
    }

    public void setStrategy(String strategy) {
        this.strategy = strategy;
    }

    public Duration getPeriod() {
        return period;
    }

    public void setPeriod(Duration period) {
        this.period = period;
    }

    public Duration getHalfLife() {
        return halfLife;
    }

    public void setHalfLife(Duration halfLife) {
        this.halfLife = halfLife;
    }

    public int getPrefixes() {
        return prefixes;
    }

    public void setPrefixes(int prefixes) {
        this.prefixes = prefixes;
    }

    public double getUncachedPrice() {
        return uncachedPrice;
    }

    public void setUncachedPrice(double uncachedPrice) {
        this.uncachedPrice = uncachedPrice;
    }

    public double getUncachedDoublesAt() {
        return uncachedDoublesAt;
    }

    public void setUncachedDoublesAt(double uncachedDoublesAt) {
        this.uncachedDoublesAt = uncachedDoublesAt;
    }

    public double getRequestPrice() {
        return requestPrice;
    }

    public void setRequestPrice(double requestPrice) {
        this.requestPrice = requestPrice;
    }

    public double getExcessPrice() {
        return excessPrice;
    }

    public void setExcessPrice(double excessPrice) {
        this.excessPrice = excessPrice;
    }

    public double getWaitSecondPrice() {
        return waitSecondPrice;
    }

    public void setWaitSecondPrice(double waitSecondPrice) {
        this.waitSecondPrice = waitSecondPrice;
    }

    public double getSlackTokens() {
        return slackTokens;
    }

    public void setSlackTokens(double slackTokens) {
        this.slackTokens = slackTokens;
    }

    public double getSlackShare() {
        return slackShare;
    }

    public void setSlackShare(double slackShare) {
        this.slackShare = slackShare;
    }

    public double getSlackPrompt() {
        return slackPrompt;
    }

    public void setSlackPrompt(double slackPrompt) {
        this.slackPrompt = slackPrompt;
    }

    public boolean isLearnedWarmth() {
        return learnedWarmth;
    }

    public void setLearnedWarmth(boolean learnedWarmth) {
        this.learnedWarmth = learnedWarmth;
    }

    private static @Nullable Endpoint endpointOf(Processor processor) {
        if (processor instanceof EndpointAware aware) {
            Endpoint endpoint = aware.getEndpoint();
            return endpoint instanceof InterceptSendToEndpoint wrapped ? wrapped.getOriginalEndpoint() : endpoint;
        }
        if (processor instanceof Navigate<?> navigate && navigate.hasNext()) {
            for (Object next : navigate.next()) {
                Endpoint found = endpointOf((Processor) next);
                if (found != null) {
                    return found;
                }
            }
        }
        return null;
    }
}
