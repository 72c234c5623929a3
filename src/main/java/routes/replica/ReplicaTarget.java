package routes.replica;

/** An endpoint that sends requests to one replica: what a balancer may choose among. */
public interface ReplicaTarget {

    Replica replica();
}
