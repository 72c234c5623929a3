package routes.demo;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** Ends a request with an error in vLLM's shape: {@code {"error":{"message":…,"type":…,"param":…,"code":400}}}. */
final class DemoRejection extends Exception {

    @Serial
    private static final long serialVersionUID = 1L;

    private final int status;
    private final String type;
    private final @Nullable String param;

    private DemoRejection(int status, String type, String message, @Nullable String param) {
        super(message, null, false, false);
        this.status = status;
        this.type = type;
        this.param = param;
    }

    static DemoRejection badRequest(String message, @Nullable String param) {
        return new DemoRejection(400, "BadRequestError", message, param);
    }

    static DemoRejection unknownModel(String model) {
        return new DemoRejection(404, "NotFoundError", "The model `" + model + "` does not exist.", "model");
    }

    static DemoRejection unknownResponse(String id) {
        return new DemoRejection(404, "NotFoundError", "Response with id '" + id + "' not found.", null);
    }

    static DemoRejection unknownPath() {
        return new DemoRejection(404, "Not Found", "Not Found", null);
    }

    static DemoRejection wrongMethod() {
        return new DemoRejection(405, "Method Not Allowed", "Method Not Allowed", null);
    }

    static DemoRejection failure() {
        return new DemoRejection(500, "InternalServerError", "The demo replica failed, as it was asked to.", null);
    }

    int status() {
        return status;
    }

    /** The error in Anthropic's shape. */
    ObjectNode anthropicJson() {
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("type", "error");
        body.putObject("error").put("type", type).put("message", getMessage());
        return body;
    }

    ObjectNode json() {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        body.putObject("error")
                .put("message", getMessage())
                .put("type", type)
                .put("param", param)
                .put("code", status);
        return body;
    }
}
