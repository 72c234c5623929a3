package routes.relay;

/** How the end of a body is known. */
public enum Framing {
    /** HTTP/1.1 chunks. */
    CHUNKED,
    /** Content-Length. */
    LENGTH,
    /** The connection's end. */
    CLOSE
}
