package routes.journey;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;

/** The usage lines that a gateway which several tests share writes from a moment on. */
final class UsageMark {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final TestGateway gateway;
    private final int before;

    private UsageMark(TestGateway gateway, int before) {
        this.gateway = gateway;
        this.before = before;
    }

    /** From now on; waits until the gateway is idle. */
    static UsageMark of(TestGateway gateway) {
        gateway.awaitIdle();
        return new UsageMark(gateway, gateway.lines().size());
    }

    /** The lines, once the gateway is idle again. */
    List<JsonNode> lines() {
        gateway.awaitIdle();
        List<String> all = gateway.lines();
        return all.subList(before, all.size()).stream().map(UsageMark::parse).toList();
    }

    /** How each request ended: outcome, error code if any, and status. */
    List<String> ends() {
        return lines().stream()
                .map(line -> line.path("outcome").asText()
                        + (line.path("error_code").isNull()
                                ? ""
                                : " " + line.path("error_code").asText())
                        + " " + line.path("status").asInt())
                .toList();
    }

    private static JsonNode parse(String line) {
        try {
            return JSON.readTree(line);
        } catch (JsonProcessingException e) {
            throw new AssertionError("not JSON: " + line, e);
        }
    }
}
