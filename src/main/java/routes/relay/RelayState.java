package routes.relay;

/** Where an answer stands after a read. */
public enum RelayState {
    /** The answer goes on. */
    MORE,
    /** The last byte of the answer was seen and handed on. */
    END,
    /** The framing is broken or the answer was cut off: the client must see an abort, never a clean end. */
    MALFORMED
}
