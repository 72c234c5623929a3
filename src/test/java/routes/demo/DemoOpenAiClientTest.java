package routes.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.http.StreamResponse;
import com.openai.errors.NotFoundException;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
import com.openai.models.embeddings.EmbeddingCreateParams;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class DemoOpenAiClientTest {

    private DemoReplica replica;
    private OpenAIClient client;

    @BeforeEach
    void start() throws IOException {
        replica = DemoReplica.start(
                DemoOptions.builder().instant().tokens(12).apiKey("key").build());
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

    @Test
    void a_chat_is_the_same_whole_and_streamed() {
        ChatCompletion whole = client.chat().completions().create(chat("demo"));
        String text = whole.choices().get(0).message().content().orElseThrow();
        assertThat(whole.usage().orElseThrow().completionTokens()).isEqualTo(12);
        ChatCompletionCreateParams streamed = chat("demo").toBuilder()
                .streamOptions(
                        ChatCompletionStreamOptions.builder().includeUsage(true).build())
                .build();
        try (StreamResponse<ChatCompletionChunk> stream =
                client.chat().completions().createStreaming(streamed)) {
            List<ChatCompletionChunk> chunks = stream.stream().toList();
            assertThat(chunks.stream()
                            .flatMap(chunk -> chunk.choices().stream())
                            .flatMap(choice -> choice.delta().content().stream())
                            .collect(Collectors.joining()))
                    .isEqualTo(text);
            assertThat(chunks.get(chunks.size() - 1).usage().orElseThrow().totalTokens())
                    .isEqualTo(14);
        }
    }

    @Test
    void embeddings_are_decoded() {
        var embeddings = client.embeddings()
                .create(EmbeddingCreateParams.builder()
                        .model("demo")
                        .inputOfArrayOfStrings(List.of("one", "two"))
                        .build());
        assertThat(embeddings.data())
                .hasSize(2)
                .allSatisfy(item -> assertThat(item.embedding()).hasSize(64));
        assertThat(embeddings.usage().promptTokens()).isEqualTo(2);
    }

    @Test
    void models_are_listed_and_an_unknown_one_is_not_found() {
        assertThat(client.models().list().data())
                .extracting(model -> model.id())
                .containsExactly("demo");
        assertThatExceptionOfType(NotFoundException.class)
                .isThrownBy(() -> client.chat().completions().create(chat("none")))
                .withMessageContaining("does not exist");
    }

    private static ChatCompletionCreateParams chat(String model) {
        return ChatCompletionCreateParams.builder()
                .model(model)
                .addUserMessage("hi")
                .build();
    }
}
