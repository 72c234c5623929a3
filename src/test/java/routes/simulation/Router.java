package routes.simulation;

/** A rule of one gateway: which replica gets a request. */
interface Router {

    /** No replica now: the gateway keeps the request and asks again. */
    int HOLD = -1;

    int choose(Turn turn);

    /** The replica that it would choose were all idle; -1 when the rule knows no such thing. */
    default int home(Turn turn) {
        return -1;
    }

    default void dispatched(Turn turn) {}

    default void firstToken(Turn turn) {}

    /** The answer is complete, or the replica has died. */
    default void ended(Turn turn) {}

    /** The gateway has read every replica's load. */
    default void polled() {}

    default double pollSeconds() {
        return 1;
    }

    default void left(int replica) {}

    default void joined(int replica) {}
}
