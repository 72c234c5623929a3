package routes.request;

import org.jspecify.annotations.Nullable;
import routes.error.ErrorCode;
import routes.error.GatewayException;

/**
 * What is asked of a response that a replica keeps.
 *
 * @param id as the replica has given it
 * @param stream whether it is to be told as events
 * @param target path and query for the replica; of the client's query only what the API defines
 */
public record StoredResponse(String id, boolean stream, String target) {

    /** Most replicas that are asked for an id that this gateway doesn't know. */
    public static final int MOST_ASKED = 8;

    private static final int MOST_DIGITS = 18;

    /** @throws GatewayException INVALID_FIELD for a value in the query that makes no sense */
    public static StoredResponse of(Api api, RequestHead head) throws GatewayException {
        String id = api.responseId(head.path());
        String query = head.query();
        if (query == null || api != Api.STORED_RESPONSE) {
            return new StoredResponse(id, false, head.path());
        }
        String stream = null;
        String after = null;
        for (String part : query.split("&", -1)) {
            if (part.startsWith("stream=")) {
                stream = once("stream", stream, part);
            } else if (part.startsWith("starting_after=")) {
                after = once("starting_after", after, part);
            }
        }
        if (stream != null && !stream.equals("true") && !stream.equals("false")) {
            throw invalid("stream", "true or false");
        }
        if (after != null && !(after.length() <= MOST_DIGITS && after.matches("[0-9]+"))) {
            throw invalid("starting_after", "an integer, 0 or more");
        }
        String target = head.path()
                + (stream == null ? "" : "?stream=" + stream)
                + (after == null ? "" : (stream == null ? "?" : "&") + "starting_after=" + after);
        return new StoredResponse(id, "true".equals(stream), target);
    }

    /** The answer to a client that asks for a response that isn't there, or not for it. */
    public static GatewayException notFound(String id, @Nullable String param) {
        return new GatewayException(ErrorCode.RESPONSE_NOT_FOUND, "Response with id '" + id + "' not found.", param);
    }

    private static String once(String name, @Nullable String before, String part) throws GatewayException {
        if (before != null) {
            throw new GatewayException(ErrorCode.DUPLICATE_FIELD, "'" + name + "' appears twice: send it once.", name);
        }
        return part.substring(name.length() + 1);
    }

    private static GatewayException invalid(String name, String shape) {
        return new GatewayException(ErrorCode.INVALID_FIELD, "'" + name + "' has to be " + shape + ".", name);
    }
}
