package routes.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.http.StreamResponse;
import com.openai.errors.NotFoundException;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseStreamEvent;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Responses and messages of a demo replica. */
@Timeout(30)
class DemoResponsesTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private DemoReplica replica;
    private DemoClient http;
    private OpenAIClient client;

    @BeforeEach
    void start() throws IOException {
        replica = DemoReplica.start(DemoOptions.builder().instant().tokens(12).build());
        http = new DemoClient(replica.url());
        client = OpenAIOkHttpClient.builder()
                .baseUrl(replica.url() + "/v1")
                .apiKey("key")
                .maxRetries(0)
                .build();
    }

    @AfterEach
    void close() {
        client.close();
        replica.close();
    }

    private static ResponseCreateParams asking(String input) {
        return ResponseCreateParams.builder().model("demo").input(input).build();
    }

    private static String text(Response response) {
        return response.output().stream()
                .flatMap(item -> item.message().stream())
                .flatMap(message -> message.content().stream())
                .flatMap(part -> part.outputText().stream())
                .map(part -> part.text())
                .collect(Collectors.joining());
    }

    @Test
    void a_response_is_the_same_whole_streamed_and_told_again() {
        Response whole = client.responses().create(asking("hi there"));
        assertThat(whole.usage().orElseThrow().outputTokens()).isEqualTo(12);
        assertThat(whole.usage().orElseThrow().inputTokens()).isEqualTo(2);
        try (StreamResponse<ResponseStreamEvent> stream = client.responses().createStreaming(asking("hi there"))) {
            List<ResponseStreamEvent> events = stream.stream().toList();
            assertThat(events.stream()
                            .flatMap(event -> event.outputTextDelta().stream())
                            .map(delta -> delta.delta())
                            .collect(Collectors.joining()))
                    .isEqualTo(text(whole));
            Response last =
                    events.get(events.size() - 1).completed().orElseThrow().response();
            assertThat(text(last)).isEqualTo(text(whole));
        }
        assertThat(text(client.responses().retrieve(whole.id()))).isEqualTo(text(whole));
    }

    @Test
    void a_response_goes_on_from_another_one() {
        Response first = client.responses().create(asking("hi there"));
        Response next = client.responses()
                .create(ResponseCreateParams.builder()
                        .model("demo")
                        .input("go on")
                        .previousResponseId(first.id())
                        .build());
        assertThat(next.usage().orElseThrow().inputTokens()).isGreaterThan(4);
        assertThat(next.usage().orElseThrow().inputTokensDetails().cachedTokens())
                .isPositive();
        assertThatThrownBy(() -> client.responses().retrieve("resp_unknown")).isInstanceOf(NotFoundException.class);
    }

    @Test
    void a_message_is_the_same_whole_and_streamed() throws Exception {
        String body = "{'model':'demo','max_tokens':5,'messages':[{'role':'user','content':'hi'}]";
        JsonNode whole = DemoClient.json(http.post("/v1/messages", body + "}"));
        assertThat(whole.path("stop_reason").asText()).isEqualTo("max_tokens");
        assertThat(whole.at("/usage/output_tokens").asInt()).isEqualTo(5);
        List<JsonNode> events = new ArrayList<>();
        for (String block :
                http.post("/v1/messages", body + ",'stream':true}").body().split("\n\n")) {
            String[] lines = block.split("\n");
            JsonNode data = JSON.readTree(lines[1].substring("data: ".length()));
            assertThat(lines[0]).isEqualTo("event: " + data.path("type").asText());
            events.add(data);
        }
        assertThat(events.stream()
                        .map(event -> event.at("/delta/text").asText())
                        .collect(Collectors.joining()))
                .isEqualTo(whole.at("/content/0/text").asText());
        assertThat(events.get(0).path("type").asText()).isEqualTo("message_start");
        assertThat(events.get(events.size() - 2).at("/usage/output_tokens").asInt())
                .isEqualTo(5);
        assertThat(events.get(events.size() - 1).path("type").asText()).isEqualTo("message_stop");
    }

    @Test
    void tokens_of_a_message_are_counted_and_errors_have_their_shape() throws Exception {
        JsonNode count = DemoClient.json(http.post(
                "/v1/messages/count_tokens", "{'system':'be brief','messages':[{'role':'user','content':'a b'}]}"));
        assertThat(count).hasToString("{\"input_tokens\":5}");
        HttpResponse<String> refused = http.post("/v1/messages", "{'messages':[]}");
        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(DemoClient.json(refused).path("type").asText()).isEqualTo("error");
    }
}
