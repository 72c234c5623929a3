package routes.address;

import org.jspecify.annotations.Nullable;
import routes.net.EventLoops;
import routes.replica.ReplicaAddress;
import routes.replica.ReplicaGroup;
import routes.replica.Replicas;

/**
 * Follows the Kubernetes services that routes name as {@code k8s://namespace/service:port}.
 *
 * <p>The client for Kubernetes is an optional part of the distribution: nothing here touches it before a route names such a
 * service.
 *
 * <p><b>Threading:</b> any thread; what takes time happens on a thread of its own, and groups hear of it on the loop beside
 * those of the requests. <b>Failure:</b> while the cluster can't be asked, the last members stay.
 */
public final class KubernetesWatch implements Replicas.Listener, AutoCloseable {

    private static final String CLIENT = "io.fabric8.kubernetes.client.KubernetesClientBuilder";

    private final EventLoops loops;
    private @Nullable ClusterWatch cluster;

    public KubernetesWatch(EventLoops loops) {
        this.loops = loops;
    }

    /** @throws IllegalStateException when the distribution has no client for Kubernetes */
    @Override
    public synchronized void added(ReplicaGroup group) {
        if (!group.address().scheme().equals(ReplicaAddress.KUBERNETES)) {
            return;
        }
        if (group.mode() != ReplicaGroup.Mode.ALL) {
            throw new IllegalArgumentException(
                    group + ": one replica for a whole service (expected: resolve=all, one for each of its pods)");
        }
        if (cluster == null) {
            requireClient(group);
            cluster = new ClusterWatch(loops.watch());
        }
        cluster.follow(group);
    }

    private static void requireClient(ReplicaGroup group) {
        try {
            Class.forName(CLIENT, false, KubernetesWatch.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(
                    group + ": this distribution has no client for Kubernetes (expected: one built with -Pkubernetes)",
                    e);
        }
    }

    @Override
    public synchronized void close() {
        if (cluster != null) {
            cluster.close();
        }
    }
}
