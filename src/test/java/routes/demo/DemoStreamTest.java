package routes.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class DemoStreamTest {

    private DemoReplica replica;
    private DemoClient client;

    @BeforeEach
    void start() throws IOException {
        replica = DemoReplica.start(DemoOptions.builder().instant().tokens(12).build());
        client = new DemoClient(replica.url());
    }

    @AfterEach
    void close() {
        replica.close();
    }

    @Test
    void a_chat_streams_a_role_then_contents_then_the_finish() throws Exception {
        HttpResponse<String> response = client.chat("'stream':true");
        assertThat(response.headers().firstValue("content-type")).contains("text/event-stream; charset=utf-8");
        assertThat(response.headers().firstValue("transfer-encoding")).contains("chunked");
        List<JsonNode> events = DemoClient.events(response.body());
        assertThat(events).hasSize(1 + 12 + 1).allSatisfy(event -> {
            assertThat(event.path("object").asText()).isEqualTo("chat.completion.chunk");
            assertThat(event.path("id").asText()).startsWith("chatcmpl-");
            assertThat(event.path("system_fingerprint").asText()).isEqualTo("dromedary-demo");
            assertThat(event.path("choices")).hasSize(1);
            assertThat(event.has("usage")).isFalse();
        });
        assertThat(delta(events.get(0))).hasToString("{\"role\":\"assistant\",\"content\":\"\"}");
        assertThat(events.subList(0, 13)).allMatch(event -> finish(event).isNull());
        assertThat(delta(events.get(13))).hasToString("{}");
        assertThat(finish(events.get(13)).asText()).isEqualTo("stop");
    }

    @Test
    void a_stream_says_the_same_as_a_plain_answer() throws Exception {
        String plain =
                DemoClient.json(client.chat()).at("/choices/0/message/content").asText();
        List<JsonNode> events = DemoClient.events(client.chat("'stream':true").body());
        assertThat(texts(events, 0)).isEqualTo(plain).isNotBlank().doesNotStartWith(" ");
    }

    @Test
    void usage_comes_last_and_only_when_it_is_asked_for() throws Exception {
        List<JsonNode> events =
                DemoClient.events(client.chat("'stream':true", "'stream_options':{'include_usage':true}")
                        .body());
        assertThat(events).hasSize(15);
        assertThat(events.subList(0, 14)).noneMatch(event -> event.has("usage"));
        JsonNode last = events.get(14);
        assertThat(last.path("choices")).isEmpty();
        assertThat(last.at("/usage/prompt_tokens").asInt()).isEqualTo(2);
        assertThat(last.at("/usage/completion_tokens").asInt()).isEqualTo(12);
        assertThat(last.at("/usage/total_tokens").asInt()).isEqualTo(14);
    }

    @Test
    void continuous_usage_stands_in_every_event_and_grows() throws Exception {
        List<JsonNode> events = DemoClient.events(
                client.chat("'stream':true", "'stream_options':{'include_usage':true,'continuous_usage_stats':true}")
                        .body());
        assertThat(events).allMatch(event -> event.has("usage"));
        assertThat(events.get(0).at("/usage/completion_tokens").asInt()).isZero();
        assertThat(events.get(1).at("/usage/completion_tokens").asInt()).isEqualTo(1);
        assertThat(events.get(13).at("/usage/completion_tokens").asInt()).isEqualTo(12);
    }

    @Test
    void the_finish_reason_is_length_when_the_request_limits_the_answer() throws Exception {
        for (String limit :
                List.of("'max_tokens':3", "'max_completion_tokens':3", "'max_tokens':9,'max_completion_tokens':3")) {
            List<JsonNode> events =
                    DemoClient.events(client.chat("'stream':true", limit).body());
            assertThat(events).hasSize(1 + 3 + 1);
            assertThat(finish(events.get(4)).asText()).isEqualTo("length");
        }
        assertThat(finish(DemoClient.events(client.chat("'stream':true", "'max_tokens':12")
                                        .body())
                                .get(13))
                        .asText())
                .isEqualTo("stop");
    }

    @Test
    void ignore_eos_generates_all_that_was_asked_for() throws Exception {
        JsonNode answer = DemoClient.json(client.chat("'max_tokens':30", "'ignore_eos':true"));
        assertThat(answer.at("/usage/completion_tokens").asInt()).isEqualTo(30);
        assertThat(answer.at("/choices/0/finish_reason").asText()).isEqualTo("length");
    }

    @Test
    void several_choices_are_streamed_side_by_side() throws Exception {
        List<JsonNode> events =
                DemoClient.events(client.chat("'stream':true", "'n':2", "'stream_options':{'include_usage':true}")
                        .body());
        assertThat(events).hasSize(2 * 14 + 1);
        assertThat(texts(events, 0)).isNotBlank().isNotEqualTo(texts(events, 1));
        assertThat(events.get(28).at("/usage/completion_tokens").asInt()).isEqualTo(24);
    }

    @Test
    void a_tool_is_called_in_deltas() throws Exception {
        List<JsonNode> events = DemoClient.events(
                client.chat("'stream':true", "'tools':[{'type':'function','function':{'name':'weather'}}]")
                        .body());
        assertThat(events).hasSize(4);
        JsonNode head = delta(events.get(1)).at("/tool_calls/0");
        assertThat(head.path("id").asText()).startsWith("chatcmpl-tool-");
        assertThat(head.at("/function/name").asText()).isEqualTo("weather");
        assertThat(head.at("/function/arguments").asText()).isEmpty();
        assertThat(delta(events.get(2)))
                .hasToString("{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{}\"}}]}");
        assertThat(finish(events.get(3)).asText()).isEqualTo("tool_calls");
    }

    @Test
    void completions_stream_text_with_a_null_usage() throws Exception {
        List<JsonNode> events = DemoClient.events(client.post(
                        "/v1/completions",
                        "{'prompt':['one two','three'],'stream':true,'stream_options':{'include_usage':true}}")
                .body());
        assertThat(events)
                .hasSize(2 * 13 + 1)
                .allSatisfy(event -> assertThat(event.path("object").asText()).isEqualTo("text_completion"));
        assertThat(events.subList(0, 26)).allMatch(event -> event.get("usage").isNull());
        assertThat(events.get(0).at("/choices/0/text").asText()).isNotBlank();
        assertThat(events.get(26).path("choices")).isEmpty();
        assertThat(events.get(26).at("/usage/total_tokens").asInt()).isEqualTo(3 + 24);
    }

    private static JsonNode delta(JsonNode event) {
        return event.at("/choices/0/delta");
    }

    private static JsonNode finish(JsonNode event) {
        return event.at("/choices/0/finish_reason");
    }

    private static String texts(List<JsonNode> events, int choice) {
        return events.stream()
                .filter(event -> event.at("/choices/0/index").asInt() == choice)
                .map(event -> delta(event).path("content").asText())
                .collect(Collectors.joining());
    }
}
