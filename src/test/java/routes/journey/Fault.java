package routes.journey;

/** What is wrong with a {@link FaultyReplica} while it lasts. */
enum Fault {
    NONE,

    // ---- the process or the network
    /** Its port is closed and its connections were reset. */
    KILLED,
    /** As by SIGSTOP: the kernel takes connections and bytes, nobody reads or answers them. */
    PAUSED,
    /** New connections neither come about nor fail; those that are open are silent. */
    BLACK_HOLED,
    /** Killed and back again, twice a second. */
    FLAPPING,

    // ---- what it says of itself
    /** Probes and requests get 503. */
    LOADING,
    /** Requests get 429 and are asked to come back in a second. */
    BUSY,
    /** Requests get 500. */
    FAILING,
    /** It reports that others use all of its slots, and serves. */
    CROWDED,

    // ---- how it answers
    /** Probes and requests get bytes that are not HTTP. */
    GARBAGE,
    /** The connection is closed within an answer's head. */
    HALF_HEAD,
    /** The connection is closed within an answer's body, within a chunk if it has chunks. */
    HALF_BODY,
    /** The answer's framing goes wrong. */
    BAD_CHUNK,
    /** The connection is reset when the request has been read. */
    RESET,
    /** The connection is reset while the request is still being sent. */
    RESET_UNREAD,
    /** The connection is reset within an answer's body. */
    RESET_INSIDE,

    // ---- when it answers
    /** Never. */
    SILENT,
    /** It begins and never ends. */
    STALLED,
    /** Late and in small parts, each just in time. */
    SLOW;

    /** Whether the replica can give good answers meanwhile. */
    boolean serves() {
        return this == NONE || this == CROWDED || this == SLOW;
    }
}
