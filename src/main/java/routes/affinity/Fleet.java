package routes.affinity;

import java.util.List;
import org.apache.camel.AsyncProcessor;
import routes.replica.Replica;

/** The replicas of a route at one time, with who sends to each and what its breaker is. Immutable. */
final class Fleet {

    private final Replica[] replicas;
    private final AsyncProcessor[] senders;
    private final Breaker[] breakers;

    Fleet(List<Replica> replicas, List<AsyncProcessor> senders, Breakers breakers) {
        this.replicas = replicas.toArray(new Replica[0]);
        this.senders = senders.toArray(new AsyncProcessor[0]);
        this.breakers = replicas.stream().map(breakers::of).toArray(Breaker[]::new);
    }

    /** Never written to. */
    Replica[] replicas() {
        return replicas;
    }

    AsyncProcessor sender(int index) {
        return senders[index];
    }

    Breaker breaker(int index) {
        return breakers[index];
    }

    /** Index of a replica; -1 when it has left. */
    int indexOf(Replica replica) {
        for (int i = 0; i < replicas.length; i++) {
            if (replicas[i] == replica) {
                return i;
            }
        }
        return -1;
    }
}
