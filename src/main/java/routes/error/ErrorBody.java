package routes.error;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Renders an error as the JSON that a client of the given API expects. */
public final class ErrorBody {

    private ErrorBody() {}

    /**
     * OpenAI's shape, {@code {"error":{"message":…,"type":…,"param":…,"code":…}}}; Anthropic's on paths below
     * {@code /v1/messages}, {@code {"type":"error","error":{"type":…,"message":…}}}.
     *
     * @return UTF-8 JSON
     */
    public static byte[] render(GatewayException error, @Nullable String path) {
        StringBuilder json = new StringBuilder(192);
        ErrorCode code = error.code();
        String message = error.getMessage() == null ? code.text() : error.getMessage();
        if (isAnthropic(path)) {
            json.append("{\"type\":\"error\",\"error\":{\"type\":\"").append(code.anthropicType());
            json.append("\",\"message\":");
            quote(json, message);
            return json.append("}}").toString().getBytes(StandardCharsets.UTF_8);
        }
        json.append("{\"error\":{\"message\":");
        quote(json, message);
        json.append(",\"type\":\"").append(code.type()).append("\",\"param\":");
        if (error.param() == null) {
            json.append("null");
        } else {
            quote(json, error.param());
        }
        json.append(",\"code\":\"").append(code.code()).append("\"}}");
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static boolean isAnthropic(@Nullable String path) {
        return path != null && (path.equals("/v1/messages") || path.startsWith("/v1/messages/"));
    }

    /** The error as the last event of a stream that has begun, with the end that the API's clients wait for. */
    public static byte[] event(GatewayException error, @Nullable String path) {
        String json = new String(render(error, path), StandardCharsets.UTF_8);
        String event;
        if (isAnthropic(path)) {
            event = "event: error\ndata: " + json + "\n\n";
        } else if (path != null && path.startsWith("/v1/responses")) {
            // the members of OpenAI's error object stand in the event itself
            event = "event: error\ndata: {\"type\":\"error\"," + withoutType(error) + "}\n\n";
        } else {
            event = "data: " + json + "\n\ndata: [DONE]\n\n";
        }
        return event.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * A short, printable piece of client input for a message: at most 64 characters, everything but printable ASCII as
     * {@code ?}, so that it can forge neither JSON nor a log line.
     */
    public static String excerpt(CharSequence input) {
        int length = Math.min(input.length(), 64);
        StringBuilder out = new StringBuilder(length + 1);
        for (int i = 0; i < length; i++) {
            char c = input.charAt(i);
            out.append(c >= ' ' && c < 0x7f && c != '"' && c != '\\' && c != '<' && c != '>' ? c : '?');
        }
        return input.length() > length ? out.append('…').toString() : out.toString();
    }

    private static String withoutType(GatewayException error) {
        StringBuilder json =
                new StringBuilder(128).append("\"code\":\"").append(error.code().code());
        json.append("\",\"message\":");
        quote(json, error.getMessage() == null ? error.code().text() : error.getMessage());
        json.append(",\"param\":");
        if (error.param() == null) {
            json.append("null");
        } else {
            quote(json, error.param());
        }
        return json.toString();
    }

    private static void quote(StringBuilder json, String text) {
        json.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> json.append("\\\"");
                case '\\' -> json.append("\\\\");
                default -> {
                    if (c < ' ' || c == 0x7f || c == 0x2028 || c == 0x2029) {
                        json.append(String.format("\\u%04x", (int) c));
                    } else {
                        json.append(c);
                    }
                }
            }
        }
        json.append('"');
    }
}
