package routes.request;

import io.netty.buffer.ByteBuf;
import java.util.List;
import java.util.Map;
import routes.error.GatewayException;
import routes.net.HeadBytes;

/**
 * The side of a request that faces its client. Knows nothing of models; the request knows nothing of connections.
 *
 * <p><b>Threading:</b> the request's event loop.
 */
public interface Client {

    /** Reads the body; exactly one of the reader's methods is called, possibly before this returns. */
    void readBody(BodyReader reader);

    /** Who waits for a body. */
    interface BodyReader {
        /** The whole body, contiguous. Takes ownership. */
        void complete(ByteBuf body);

        /** No body will come. */
        void failed(GatewayException error);
    }

    /**
     * Begins the answer with a replica's head. The bytes may wait for the first {@link #write}, {@link #flush} or {@link
     * #end}.
     *
     * @return how the body must be framed in {@link #write}
     */
    BodyFraming head(AnswerHead head);

    /** How the bytes given to {@link #write} are framed. */
    enum BodyFraming {
        /** HTTP/1.1 chunks, the last one included. */
        CHUNKED,
        /** The body's own bytes; their number was announced, or the end of the connection ends them. */
        PLAIN
    }

    /** A replica's answer head, as far as clients may see it. */
    interface AnswerHead {
        int status();

        /** Length of the body in bytes; -1 when it isn't known. */
        long contentLength();

        /** Whether the answer has no body whatever its headers say (204, 304). */
        boolean bodyless();

        /** Header lines to pass on, each ended by CRLF; no framing and no connection headers. */
        void writeLines(HeadBytes out);
    }

    /** Writes a piece of the answer's body without flushing. Takes ownership. */
    void write(ByteBuf bytes);

    void flush();

    /** Whether the client keeps up; {@link InferenceRequest#clientWritable()} tells when it does again. */
    boolean isWritable();

    /** The answer is complete. */
    void end();

    /** Breaks the answer off: the client sees a broken connection, never a tidy end. */
    void abort();

    /**
     * Answers with something of the gateway's own.
     *
     * @param headers further headers, names in lower case
     */
    void answer(int status, String contentType, byte[] body, List<Map.Entry<String, String>> headers);

    /** Answers with an error of the catalogue. */
    void answer(GatewayException error);

    /** The request has ended; whatever was not answered will not be. */
    void finished(InferenceRequest request);
}
