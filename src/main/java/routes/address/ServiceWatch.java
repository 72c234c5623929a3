package routes.address;

import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.netty.channel.EventLoop;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import routes.replica.ReplicaGroup;
import routes.replica.ReplicaGroup.Member;

/**
 * Follows one Kubernetes service through its endpoint slices.
 *
 * <p><b>Threading:</b> events come on the client's threads and only ask for a look, which happens on the cluster's thread;
 * the group hears of it on the event loop. Several events within {@link #GATHER_MILLIS} make one look: pods that move from
 * slice to slice don't seem to be gone between two events.
 *
 * <p><b>Failure:</b> the last members stay; the log has a line when it begins and when it is over.
 */
final class ServiceWatch implements ResourceEventHandler<EndpointSlice>, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ServiceWatch.class);

    private static final String SERVICE_LABEL = "kubernetes.io/service-name";
    private static final long GATHER_MILLIS = 100;
    private static final long CHECK_MILLIS = 5_000;

    private final ReplicaGroup group;
    private final KubernetesClient client;
    private final ScheduledExecutorService thread;
    private final EventLoop loop;
    private final String name;
    private final String namespace;
    private final SharedIndexInformer<EndpointSlice> slices;
    private final AtomicBoolean lookIsDue = new AtomicBoolean();
    private List<Member> members = List.of();
    private boolean known;
    private boolean failing;

    ServiceWatch(ReplicaGroup group, KubernetesClient client, ScheduledExecutorService thread, EventLoop loop) {
        this.group = group;
        this.client = client;
        this.thread = thread;
        this.loop = loop;
        String host = group.address().host();
        int dot = host.indexOf('.');
        this.name = host.substring(0, dot);
        this.namespace = host.substring(dot + 1);
        this.slices = client.discovery()
                .v1()
                .endpointSlices()
                .inNamespace(namespace)
                .withLabel(SERVICE_LABEL, name)
                .runnableInformer(0)
                .exceptionHandler((started, failure) -> true)
                .addEventHandler(this);
    }

    void start() {
        slices.start().thenRun(this::lookSoon);
        thread.scheduleWithFixedDelay(this::check, CHECK_MILLIS, CHECK_MILLIS, TimeUnit.MILLISECONDS);
    }

    @Override
    public void onAdd(EndpointSlice slice) {
        lookSoon();
    }

    @Override
    public void onUpdate(EndpointSlice before, EndpointSlice now) {
        lookSoon();
    }

    @Override
    public void onDelete(EndpointSlice slice, boolean finalStateUnknown) {
        lookSoon();
    }

    private void lookSoon() {
        if (lookIsDue.compareAndSet(false, true)) {
            try {
                thread.schedule(this::look, GATHER_MILLIS, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException e) {
                // closed
            }
        }
    }

    private void look() {
        lookIsDue.set(false);
        if (!slices.hasSynced()) {
            return;
        }
        try {
            tell(new ServiceMembers(group.address().port(), this::service)
                    .of(slices.getStore().list()));
        } catch (ServiceMembers.NoSuchPort | KubernetesClientException e) {
            failed(String.valueOf(e.getMessage()));
        }
    }

    private Service service() {
        Service service =
                client.services().inNamespace(namespace).withName(name).get();
        if (service == null) {
            throw new KubernetesClientException("there is no such service");
        }
        return service;
    }

    private void tell(List<Member> now) {
        if (!known || !now.equals(members)) {
            known = true;
            members = now;
            LOG.info("{} leads to {} pods, of which {} are about to stop", group, now.size(), leaving(now));
            loop.execute(() -> hear(now));
        }
        well();
    }

    private void hear(List<Member> now) {
        try {
            group.members(now);
        } catch (IllegalArgumentException e) {
            LOG.warn("{} can't be followed: {}; its last pods stay in use", group, e.getMessage());
        }
    }

    private void check() {
        if (!slices.isWatching()) {
            failed("no answer from the cluster");
        } else if (failing) {
            lookSoon();
        }
    }

    private void failed(String reason) {
        if (!failing) {
            failing = true;
            LOG.warn(
                    "{} can't be followed: {}; {}",
                    group,
                    reason,
                    members.isEmpty() ? "it has no replicas until it can" : "its last pods stay in use");
        }
    }

    private void well() {
        if (failing) {
            failing = false;
            LOG.warn("{} is followed again", group);
        }
    }

    private static long leaving(List<Member> now) {
        return now.stream().filter(Member::leaving).count();
    }

    @Override
    public void close() {
        slices.stop();
    }
}
