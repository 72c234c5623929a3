package routes.address;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import routes.replica.ReplicaGroup;

/**
 * The connection to the cluster that this process runs in, or that its kubeconfig names, and the services followed there.
 *
 * <p><b>Threading:</b> callers only hand over; the rest is confined to one thread, which may block.
 */
final class ClusterWatch implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ClusterWatch.class);

    private final EventLoop loop;
    private final ScheduledExecutorService thread =
            Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("gateway-kubernetes", true));
    private final List<ServiceWatch> services = new ArrayList<>();
    private @Nullable KubernetesClient client;

    ClusterWatch(EventLoop loop) {
        this.loop = loop;
    }

    void follow(ReplicaGroup group) {
        thread.execute(() -> begin(group));
    }

    private void begin(ReplicaGroup group) {
        try {
            if (client == null) {
                client = new KubernetesClientBuilder().build();
                LOG.info("Kubernetes is asked at {}", client.getMasterUrl());
            }
            ServiceWatch service = new ServiceWatch(group, client, thread, loop);
            services.add(service);
            service.start();
        } catch (RuntimeException e) {
            LOG.error("{} can't be followed", group, e);
        }
    }

    /** Returns at once; open watches end soon after. */
    @Override
    public void close() {
        thread.execute(() -> {
            services.forEach(ServiceWatch::close);
            if (client != null) {
                client.close();
            }
        });
        thread.shutdown();
    }
}
