package routes.request;

import routes.net.HeadBytes;

/**
 * A request's place in a trace of its client's, or in one that begins here.
 *
 * <p><b>Threading:</b> the request's event loop.
 */
public interface Trace {

    /**
     * Appends the header lines that make an attempt's request a part of the trace, below this one.
     *
     * @return false when nothing was appended: what the client sent goes on as it is
     */
    boolean writeTo(HeadBytes attempt);

    /** The request has ended; called once. */
    void ended(InferenceRequest request);
}
