package routes.demo;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The responses that a replica keeps, the oldest forgotten first.
 *
 * <p><b>Threading</b>: event-loop confined.
 */
final class StoredAnswers {

    private static final int MOST = 1000;

    /** @param said all that was said up to its end, for the response that goes on from it */
    record Stored(ObjectNode json, String said) {}

    private final Map<String, Stored> byId = new LinkedHashMap<>();

    void keep(String id, Stored stored) {
        byId.put(id, stored);
        if (byId.size() > MOST) {
            byId.remove(byId.keySet().iterator().next());
        }
    }

    Stored find(@Nullable String id) throws DemoRejection {
        Stored found = id == null ? null : byId.get(id);
        if (found == null) {
            throw DemoRejection.unknownResponse(String.valueOf(id));
        }
        return found;
    }
}
