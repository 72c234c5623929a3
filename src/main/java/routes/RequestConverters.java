package routes;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.camel.Converter;
import org.apache.camel.TypeConverters;
import routes.request.InferenceRequest;

/** Lets steps read a request as text or a map: what is known of it, never the prompt itself. */
@Converter(generateLoader = false)
public final class RequestConverters implements TypeConverters {

    private static final ObjectMapper JSON = new ObjectMapper();

    @Converter
    public Map<String, Object> toMap(InferenceRequest request) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("request_id", request.getRequestId());
        map.put("api", request.getApi());
        map.put("tenant", request.getTenant());
        map.put("key_id", request.getKeyId());
        map.put("model", request.getModel());
        map.put("pool", request.getPool());
        map.put("user", request.getUser());
        map.put("stream", request.isStream());
        map.put("attempts", request.getAttempts());
        map.put(
                "replica",
                request.getReplica() == null ? null : request.getReplica().toString());
        map.put("status", request.getStatus());
        map.put(
                "outcome",
                request.getOutcome() == null ? null : request.getOutcome().label());
        map.put("request_bytes", request.getBodyBytes());
        map.put("response_bytes", request.getAnswerBytes());
        return map;
    }

    @Converter
    public String toJson(InferenceRequest request) throws JsonProcessingException {
        return JSON.writeValueAsString(toMap(request));
    }
}
