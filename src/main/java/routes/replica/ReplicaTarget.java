package routes.replica;

import java.util.List;

/** An endpoint that sends requests to replicas: what a balancer may choose among. */
public interface ReplicaTarget {

    /** The replicas behind it now; the same list until they change. */
    List<Replica> replicas();
}
