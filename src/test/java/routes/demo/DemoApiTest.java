package routes.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class DemoApiTest {

    private DemoReplica replica;
    private DemoClient client;

    @BeforeEach
    void start() throws IOException {
        replica = DemoReplica.start(DemoOptions.builder()
                .instant()
                .tokens(12)
                .models("demo", "org/other")
                .name("left")
                .build());
        client = new DemoClient(replica.url());
    }

    @AfterEach
    void close() {
        replica.close();
    }

    @Test
    void a_plain_chat_is_one_json_with_usage() throws Exception {
        HttpResponse<String> response = client.post(
                "/v1/chat/completions", DemoClient.chatJson("'model':'org/other'", "'n':2"), "X-Request-Id", "abc");
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("server")).contains("left");
        JsonNode answer = DemoClient.json(response);
        assertThat(answer.path("id").asText()).isEqualTo("chatcmpl-abc");
        assertThat(answer.path("object").asText()).isEqualTo("chat.completion");
        assertThat(answer.path("model").asText()).isEqualTo("org/other");
        assertThat(answer.path("system_fingerprint").asText()).isEqualTo("left");
        assertThat(answer.path("choices")).hasSize(2);
        assertThat(answer.at("/choices/1/message/content").asText()).isNotBlank();
        assertThat(answer.path("usage"))
                .hasToString("{\"prompt_tokens\":2,\"total_tokens\":26,\"completion_tokens\":24,"
                        + "\"prompt_tokens_details\":{\"cached_tokens\":0}}");
        assertThat(replica.requests()).isEqualTo(1);
        assertThat(replica.promptTokens()).isEqualTo(2);
        assertThat(replica.completionTokens()).isEqualTo(24);
    }

    @Test
    void a_plain_completion_takes_texts_and_token_ids() throws Exception {
        JsonNode answer = DemoClient.json(client.post("/v1/completions", "{'prompt':[1,2,3],'max_tokens':2}"));
        assertThat(answer.path("object").asText()).isEqualTo("text_completion");
        assertThat(answer.at("/choices/0/text").asText()).isNotBlank();
        assertThat(answer.at("/choices/0/finish_reason").asText()).isEqualTo("length");
        assertThat(answer.at("/usage/total_tokens").asInt()).isEqualTo(5);
    }

    @Test
    void a_tool_is_called_unless_its_result_is_there_or_it_is_not_wanted() throws Exception {
        String tools = "'tools':[{'type':'function','function':{'name':'weather'}}]";
        JsonNode called = DemoClient.json(client.chat(tools));
        assertThat(called.at("/choices/0/finish_reason").asText()).isEqualTo("tool_calls");
        assertThat(called.at("/choices/0/message/content").isNull()).isTrue();
        assertThat(called.at("/choices/0/message/tool_calls/0/function"))
                .hasToString("{\"name\":\"weather\",\"arguments\":\"{}\"}");
        assertThat(DemoClient.json(client.chat(tools, "'tool_choice':'none'"))
                        .at("/choices/0/finish_reason")
                        .asText())
                .isEqualTo("stop");
        String result = "{'messages':[{'role':'user','content':'hi'},{'role':'tool','content':'sun'}]," + tools + "}";
        assertThat(DemoClient.json(client.post("/v1/chat/completions", result))
                        .at("/choices/0/message/content")
                        .asText())
                .isNotBlank();
    }

    @Test
    void a_repeated_prefix_is_told_as_cached() throws Exception {
        String body = "{'prompt':'a caravan of five camels','cache_salt':'s'}";
        assertThat(cached(body)).isZero();
        assertThat(cached(body)).isEqualTo(4);
        assertThat(cached(body.replace("five", "six"))).isEqualTo(3);
        assertThat(cached(body.replace("'s'", "'other'"))).isZero();
        assertThat(replica.cachedTokens()).isEqualTo(7);
        assertThat(client.get("/metrics").body())
                .contains("vllm:prefix_cache_queries_total{engine=\"0\",model_name=\"demo\"} 20.0\n")
                .contains("vllm:prefix_cache_hits_total{engine=\"0\",model_name=\"demo\"} 7.0\n");
    }

    @Test
    void embeddings_are_equal_for_equal_texts_as_floats_and_as_base64() throws Exception {
        JsonNode floats = DemoClient.json(client.post("/v1/embeddings", "{'input':['one two','one two','three']}"));
        assertThat(floats.path("data")).hasSize(3);
        assertThat(floats.at("/data/0/embedding"))
                .isEqualTo(floats.at("/data/1/embedding"))
                .isNotEqualTo(floats.at("/data/2/embedding"));
        assertThat(floats.at("/usage/prompt_tokens").asInt()).isEqualTo(5);
        assertThat(floats.at("/usage/total_tokens").asInt()).isEqualTo(5);
        JsonNode base64 =
                DemoClient.json(client.post("/v1/embeddings", "{'input':'one two','encoding_format':'base64'}"));
        ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder()
                        .decode(base64.at("/data/0/embedding").asText()))
                .order(ByteOrder.LITTLE_ENDIAN);
        double squares = 0;
        for (JsonNode expected : floats.at("/data/0/embedding")) {
            float value = bytes.getFloat();
            assertThat(value).isEqualTo(expected.floatValue());
            squares += value * value;
        }
        assertThat(bytes.remaining()).isZero();
        assertThat(squares).isBetween(0.999, 1.001);
    }

    @Test
    void models_are_listed_and_found_by_name() throws Exception {
        assertThat(DemoClient.json(client.get("/v1/models")).findValuesAsText("id"))
                .containsExactly("demo", "org/other");
        assertThat(DemoClient.json(client.get("/v1/models/org/other"))
                        .path("id")
                        .asText())
                .isEqualTo("org/other");
        assertThat(client.get("/v1/models/none").statusCode()).isEqualTo(404);
    }

    @Test
    void health_is_an_empty_200_and_version_is_told() throws Exception {
        assertThat(client.get("/health").statusCode()).isEqualTo(200);
        assertThat(client.get("/health").body()).isEmpty();
        assertThat(DemoClient.json(client.get("/version")).path("version").asText())
                .isNotBlank();
    }

    @Test
    void metrics_count_tokens() throws Exception {
        client.chat();
        assertThat(client.get("/metrics").body())
                .contains("# TYPE vllm:num_requests_running gauge\n")
                .contains("vllm:num_requests_running{engine=\"0\",model_name=\"demo\"} 0.0\n")
                .contains("vllm:num_requests_waiting{engine=\"0\",model_name=\"demo\"} 0.0\n")
                .contains("vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"demo\"} 0.0\n")
                .contains("vllm:prompt_tokens_total{engine=\"0\",model_name=\"demo\"} 2.0\n")
                .contains("vllm:generation_tokens_total{engine=\"0\",model_name=\"demo\"} 12.0\n");
    }

    @Test
    void what_is_wrong_is_answered_in_vllms_shape() throws Exception {
        assertError(client.post("/v1/chat/completions", "{'model':"), 400, "BadRequestError", "JSON");
        assertError(client.post("/v1/chat/completions", "[]"), 400, "BadRequestError", "JSON object");
        assertError(client.post("/v1/chat/completions", "{}"), 400, "BadRequestError", "messages");
        assertError(client.chat("'stream_options':{}"), 400, "BadRequestError", "Stream options");
        assertError(client.chat("'max_tokens':0"), 400, "BadRequestError", "max_tokens");
        assertError(client.chat("'n':'two'"), 400, "BadRequestError", "n: a whole number");
        assertError(client.chat("'stream':'yes'"), 400, "BadRequestError", "stream");
        assertError(client.chat("'model':7"), 400, "BadRequestError", "model");
        assertError(client.chat("'model':'no'"), 404, "NotFoundError", "The model `no` does not exist.");
        assertError(client.post("/v1/completions", "{'prompt':{}}"), 400, "BadRequestError", "prompt");
        assertError(client.post("/v1/embeddings", "{'input':[]}"), 400, "BadRequestError", "input");
        assertError(client.get("/v1/none"), 404, "Not Found", "Not Found");
        assertError(client.get("/v1/completions"), 405, "Method Not Allowed", "Method Not Allowed");
        assertThat(replica.completionTokens()).isZero();
    }

    @Test
    void documents_are_ranked_by_the_words_that_they_share_with_the_query() throws Exception {
        String body =
                "{'query':'What is a dromedary','documents':['a llama','A dromedary is a camel',{'text':'no'}],'top_n':2}";
        for (String path : new String[] {"/rerank", "/v1/rerank", "/v2/rerank"}) {
            JsonNode answer = DemoClient.json(client.post(path, body));
            assertThat(answer.at("/results")).hasSize(2);
            assertThat(answer.at("/results/0/index").asInt()).isEqualTo(1);
            assertThat(answer.at("/results/0/relevance_score").asDouble()).isEqualTo(0.75);
            assertThat(answer.at("/results/0/document/text").asText()).startsWith("A dromedary");
            assertThat(answer.path("usage")).hasToString("{\"prompt_tokens\":12,\"total_tokens\":12}");
        }
        assertError(client.post("/v1/rerank", "{'query':'x','documents':[]}"), 400, "BadRequestError", "documents");
    }

    @Test
    void texts_are_scored_one_with_many_or_in_pairs() throws Exception {
        JsonNode many = DemoClient.json(client.post("/score", "{'text_1':'a b','text_2':['a','a b']}"));
        assertThat(many.at("/data/0/score").asDouble()).isEqualTo(0.5);
        assertThat(many.at("/data/1/score").asDouble()).isEqualTo(1);
        JsonNode pairs =
                DemoClient.json(client.post("/v1/score", "{'queries':['a','b'],'documents':['b','b'],'model':'demo'}"));
        assertThat(pairs.at("/data/0/score").asDouble()).isZero();
        assertThat(pairs.at("/data/1/score").asDouble()).isEqualTo(1);
        assertThat(pairs.at("/usage/total_tokens").asInt()).isEqualTo(4);
        assertError(client.post("/score", "{'text_1':['a','b'],'text_2':'x'}"), 400, "BadRequestError", "text_1");
    }

    @Test
    void words_have_numbers() throws Exception {
        JsonNode answer = DemoClient.json(client.post("/tokenize", "{'model':'demo','prompt':'a b  a'}"));
        assertThat(answer.path("count").asInt()).isEqualTo(3);
        assertThat(answer.at("/tokens/0")).isEqualTo(answer.at("/tokens/2")).isNotEqualTo(answer.at("/tokens/1"));
        assertThat(DemoClient.json(client.post("/tokenize", DemoClient.chatJson()))
                        .path("count")
                        .asInt())
                .isEqualTo(2);
        assertError(client.post("/tokenize", "{'model':'no'}"), 404, "NotFoundError", "no");
    }

    private static void assertError(HttpResponse<String> response, int status, String type, String message)
            throws IOException {
        assertThat(response.statusCode()).isEqualTo(status);
        JsonNode error = DemoClient.json(response).path("error");
        assertThat(error.path("message").asText()).contains(message);
        assertThat(error.path("type").asText()).isEqualTo(type);
        assertThat(error.has("param")).isTrue();
        assertThat(error.path("code").asInt()).isEqualTo(status);
    }

    private int cached(String body) throws Exception {
        return DemoClient.json(client.post("/v1/completions", body))
                .at("/usage/prompt_tokens_details/cached_tokens")
                .asInt(-1);
    }
}
