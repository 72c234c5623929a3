package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.core.http.StreamResponse;
import com.openai.errors.NotFoundException;
import com.openai.errors.UnauthorizedException;
import com.openai.models.FunctionDefinition;
import com.openai.models.FunctionParameters;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionFunctionTool;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
import com.openai.models.embeddings.EmbeddingCreateParams;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiEmbeddingModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import routes.demo.DemoOptions;
import routes.demo.DemoReplica;

/** The libraries that people have, with nothing changed but the base URL and the key. */
@Timeout(120)
class ClientLibrariesJourneyTest {

    private static final int TOKENS = 12;
    private static DemoReplica replica;
    private static TestGateway gateway;
    private static OpenAIClient openAi;
    private UsageMark usage;

    @BeforeAll
    static void start() throws IOException {
        replica = DemoReplica.start(
                DemoOptions.builder().instant().tokens(TOKENS).models("demo").build());
        gateway = TestGateway.builder()
                .modelWithAliases("demo", "gpt-4o-mini, text-embedding-3-small", replica.url())
                .start();
        openAi = OpenAIOkHttpClient.builder()
                .baseUrl(baseUrl())
                .apiKey(TestGateway.KEY)
                .maxRetries(0)
                .build();
    }

    @AfterAll
    static void stop() {
        openAi.close();
        gateway.close();
        replica.close();
    }

    @BeforeEach
    void mark() {
        usage = UsageMark.of(gateway);
    }

    // ---- com.openai:openai-java

    @Test
    void openAiChatIsTheSameWholeAndStreamed() {
        ChatCompletion whole = openAi.chat().completions().create(chat("demo").build());
        String text = whole.choices().get(0).message().content().orElseThrow();
        assertThat(whole.usage().orElseThrow().completionTokens()).isEqualTo(TOKENS);

        List<ChatCompletionChunk> chunks = stream(chat("gpt-4o-mini").build());
        assertThat(textOf(chunks)).isEqualTo(text);
        assertThat(chunks)
                .as("a client that did not ask for usage")
                .allMatch(chunk -> chunk.choices().size() == 1);

        List<ChatCompletionChunk> withUsage = stream(chat("demo")
                .streamOptions(
                        ChatCompletionStreamOptions.builder().includeUsage(true).build())
                .build());
        assertThat(textOf(withUsage)).isEqualTo(text);
        assertThat(withUsage.get(withUsage.size() - 1).usage().orElseThrow().completionTokens())
                .isEqualTo(TOKENS);

        assertThat(usage.lines()).hasSize(3).allSatisfy(ClientLibrariesJourneyTest::assertCounted);
    }

    @Test
    void openAiToolsAreCalledWholeAndStreamed() {
        ChatCompletionCreateParams asked = chat("demo")
                .addTool(ChatCompletionFunctionTool.builder()
                        .function(FunctionDefinition.builder()
                                .name("weather")
                                .parameters(FunctionParameters.builder()
                                        .putAdditionalProperty("type", JsonValue.from("object"))
                                        .build())
                                .build())
                        .build())
                .build();
        ChatCompletion whole = openAi.chat().completions().create(asked);
        assertThat(whole.choices().get(0).message().toolCalls().orElseThrow())
                .singleElement()
                .satisfies(
                        call -> assertThat(call.asFunction().function().name()).isEqualTo("weather"));
        assertThat(stream(asked).stream()
                        .flatMap(chunk -> chunk.choices().stream())
                        .flatMap(choice -> choice.delta().toolCalls().stream().flatMap(List::stream))
                        .flatMap(call -> call.function().stream())
                        .flatMap(function -> function.name().stream()))
                .containsExactly("weather");
        assertThat(usage.lines())
                .extracting(line -> line.path("finish_reason").asText())
                .containsExactly("tool_calls", "tool_calls");
    }

    @Test
    void openAiEmbeddingsAreDecoded() {
        var embeddings = openAi.embeddings()
                .create(EmbeddingCreateParams.builder()
                        .model("text-embedding-3-small")
                        .inputOfArrayOfStrings(List.of("one", "two"))
                        .build());
        assertThat(embeddings.data())
                .hasSize(2)
                .allSatisfy(item -> assertThat(item.embedding()).hasSize(64));
        assertThat(usage.lines()).singleElement().satisfies(line -> {
            assertThat(line.path("api").asText()).isEqualTo("embeddings");
            assertThat(line.path("prompt_tokens").asInt()).isEqualTo(2);
        });
    }

    @Test
    void openAiKnowsTheModelsAndTheErrors() {
        assertThat(openAi.models().list().data())
                .extracting(model -> model.id())
                .containsExactly("demo", "gpt-4o-mini", "text-embedding-3-small");
        assertThat(openAi.models().retrieve("demo").id()).isEqualTo("demo");
        assertThatExceptionOfType(NotFoundException.class)
                .isThrownBy(
                        () -> openAi.chat().completions().create(chat("none").build()))
                .satisfies(error -> assertThat(error.code()).contains("model_not_found"))
                .withMessageContaining("does not exist");
        OpenAIClient stranger = OpenAIOkHttpClient.builder()
                .baseUrl(baseUrl())
                .apiKey("sk-nobody")
                .maxRetries(0)
                .build();
        assertThatExceptionOfType(UnauthorizedException.class)
                .isThrownBy(() -> stranger.models().list())
                .satisfies(error -> assertThat(error.code()).contains("invalid_api_key"));
        stranger.close();
    }

    // ---- dev.langchain4j:langchain4j-open-ai

    @Test
    void langChainChatIsTheSameWholeAndStreamed() throws Exception {
        ChatResponse whole = OpenAiChatModel.builder()
                .baseUrl(baseUrl())
                .apiKey(TestGateway.KEY)
                .modelName("gpt-4o-mini")
                .build()
                .chat(UserMessage.from("hi"));
        assertThat(whole.aiMessage().text()).isNotBlank();
        assertThat(whole.tokenUsage().outputTokenCount()).isEqualTo(TOKENS);

        ChatResponse streamed =
                streamed(ChatRequest.builder().messages(UserMessage.from("hi")).build());
        assertThat(streamed.aiMessage().text()).isEqualTo(whole.aiMessage().text());
        assertThat(streamed.tokenUsage().outputTokenCount()).isEqualTo(TOKENS);
        assertThat(usage.lines()).hasSize(2).allSatisfy(ClientLibrariesJourneyTest::assertCounted);
    }

    @Test
    void langChainToolsAreCalledWhileStreaming() throws Exception {
        ChatResponse answer = streamed(ChatRequest.builder()
                .messages(UserMessage.from("How is the weather?"))
                .toolSpecifications(ToolSpecification.builder()
                        .name("weather")
                        .parameters(JsonObjectSchema.builder()
                                .addStringProperty("place")
                                .build())
                        .build())
                .build());
        assertThat(answer.aiMessage().toolExecutionRequests())
                .extracting(ToolExecutionRequest::name)
                .containsExactly("weather");
        assertThat(usage.lines()).singleElement().satisfies(ClientLibrariesJourneyTest::assertCounted);
    }

    @Test
    void langChainEmbeddingsAreDecoded() {
        var embeddings = OpenAiEmbeddingModel.builder()
                .baseUrl(baseUrl())
                .apiKey(TestGateway.KEY)
                .modelName("text-embedding-3-small")
                .build()
                .embedAll(List.of(TextSegment.from("one"), TextSegment.from("two")));
        assertThat(embeddings.content())
                .hasSize(2)
                .allSatisfy(item -> assertThat(item.dimension()).isEqualTo(64));
        assertThat(usage.ends()).containsExactly("success 200");
    }

    private static ChatResponse streamed(ChatRequest request) throws Exception {
        CompletableFuture<ChatResponse> answer = new CompletableFuture<>();
        OpenAiStreamingChatModel.builder()
                .baseUrl(baseUrl())
                .apiKey(TestGateway.KEY)
                .modelName("demo")
                .build()
                .chat(request, new StreamingChatResponseHandler() {
                    @Override
                    public void onPartialResponse(String text) {}

                    @Override
                    public void onCompleteResponse(ChatResponse complete) {
                        answer.complete(complete);
                    }

                    @Override
                    public void onError(Throwable error) {
                        answer.completeExceptionally(error);
                    }
                });
        return answer.get(30, TimeUnit.SECONDS);
    }

    private static String baseUrl() {
        return gateway.url() + "/v1";
    }

    private static ChatCompletionCreateParams.Builder chat(String model) {
        return ChatCompletionCreateParams.builder().model(model).addUserMessage("hi");
    }

    private static List<ChatCompletionChunk> stream(ChatCompletionCreateParams asked) {
        try (StreamResponse<ChatCompletionChunk> stream =
                openAi.chat().completions().createStreaming(asked)) {
            return stream.stream().toList();
        }
    }

    private static String textOf(List<ChatCompletionChunk> chunks) {
        return chunks.stream()
                .flatMap(chunk -> chunk.choices().stream())
                .flatMap(choice -> choice.delta().content().stream())
                .collect(Collectors.joining());
    }

    private static void assertCounted(JsonNode line) {
        assertThat(line.path("outcome").asText()).as("%s", line).isEqualTo("success");
        assertThat(line.path("model_served").asText()).isEqualTo("demo");
        assertThat(line.path("completion_tokens").asInt()).as("%s", line).isPositive();
        assertThat(line.path("usage_source").asText()).isEqualTo("final");
    }
}
