package routes.demo;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Asks a demo replica as an ordinary HTTP client does. */
final class DemoClient {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String url;

    DemoClient(String url) {
        this.url = url;
    }

    HttpResponse<String> get(String path, String... headers) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(URI.create(url + path)), headers);
    }

    /** JSON in single quotes for double ones. */
    HttpResponse<String> post(String path, String json, String... headers) throws IOException, InterruptedException {
        return send(
                HttpRequest.newBuilder(URI.create(url + path))
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString(json.replace('\'', '"'))),
                headers);
    }

    /** Posts a chat with one message {@code hi} and more fields, such as {@code 'n':2}. */
    HttpResponse<String> chat(String... fields) throws IOException, InterruptedException {
        return post("/v1/chat/completions", chatJson(fields));
    }

    static String chatJson(String... fields) {
        List<String> all = new ArrayList<>(List.of("'messages':[{'role':'user','content':'hi'}]"));
        all.addAll(Arrays.asList(fields));
        return "{" + String.join(",", all) + "}";
    }

    static JsonNode json(HttpResponse<String> response) throws JsonProcessingException {
        return JSON.readTree(response.body());
    }

    /** The events of a stream, which must have vLLM's exact framing and end with {@code [DONE]}. */
    static List<JsonNode> events(String stream) throws JsonProcessingException {
        List<JsonNode> events = new ArrayList<>();
        List<String> lines = new ArrayList<>(List.of(stream.split("\n\n", -1)));
        if (!lines.remove(lines.size() - 1).isEmpty()
                || !lines.remove(lines.size() - 1).equals("data: [DONE]")) {
            throw new AssertionError("not ended: " + stream);
        }
        for (String line : lines) {
            if (!line.startsWith("data: {") || line.contains("\n")) {
                throw new AssertionError("not an event: " + line);
            }
            events.add(JSON.readTree(line.substring(6)));
        }
        return events;
    }

    private HttpResponse<String> send(HttpRequest.Builder request, String... headers)
            throws IOException, InterruptedException {
        if (headers.length > 0) {
            request.headers(headers);
        }
        return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
}
