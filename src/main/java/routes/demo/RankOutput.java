package routes.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Answers reranking and scores: a text scores by the share of the query's words that it has, which is enough to see an order.
 */
final class RankOutput implements Output {

    private final DemoConnection connection;
    private final ObjectNode answer;

    private RankOutput(DemoConnection connection, ObjectNode answer) {
        this.connection = connection;
        this.answer = answer;
    }

    /** {@code query} and {@code documents}, the best first. */
    static RankOutput rerank(DemoConnection connection, JsonNode body, String model, Prompt prompt)
            throws DemoRejection {
        String query = text(body, "query");
        List<String> documents = texts(body, "documents");
        JsonNode top = body.path("top_n");
        int most = top.asInt() > 0 ? Math.min(top.asInt(), documents.size()) : documents.size();
        ObjectNode answer = begin(prompt, "rerank-", model, query, documents);
        ArrayNode results = answer.putArray("results");
        IntStream.range(0, documents.size())
                .boxed()
                .sorted((a, b) -> Double.compare(score(query, documents.get(b)), score(query, documents.get(a))))
                .limit(most)
                .forEach(index -> {
                    ObjectNode result = results.addObject().put("index", index.intValue());
                    result.putObject("document").put("text", documents.get(index));
                    result.put("relevance_score", score(query, documents.get(index)));
                });
        return new RankOutput(connection, answer);
    }

    /** {@code text_1} and {@code text_2}, one with many or each with its counterpart. */
    static RankOutput score(DemoConnection connection, JsonNode body, String model, Prompt prompt)
            throws DemoRejection {
        List<String> first = texts(body, body.has("queries") ? "queries" : "text_1");
        List<String> second = texts(body, body.has("documents") ? "documents" : "text_2");
        if (first.size() != 1 && first.size() != second.size()) {
            throw DemoRejection.badRequest("text_1: one text, or as many as text_2, are required", "text_1");
        }
        ObjectNode answer = begin(prompt, "score-", model, String.join(" ", first), second);
        answer.put("object", "list");
        ArrayNode data = answer.putArray("data");
        for (int i = 0; i < second.size(); i++) {
            data.addObject()
                    .put("index", i)
                    .put("object", "score")
                    .put("score", score(first.get(first.size() == 1 ? 0 : i), second.get(i)));
        }
        return new RankOutput(connection, answer);
    }

    @Override
    public void begin(int cachedTokens) {}

    @Override
    public void token(int index) {}

    @Override
    public void end() {
        connection.json(200, answer);
    }

    private static ObjectNode begin(Prompt prompt, String prefix, String model, String query, List<String> others) {
        prompt.text(query);
        others.forEach(prompt::text);
        ObjectNode answer = CompletionJson.object()
                .put("id", prefix + Long.toHexString(prompt.seed()))
                .put("model", model);
        answer.putObject("usage").put("prompt_tokens", prompt.tokens()).put("total_tokens", prompt.tokens());
        return answer;
    }

    private static double score(String query, String text) {
        Set<String> wanted = words(query);
        Set<String> found = words(text);
        long hits = wanted.stream().filter(found::contains).count();
        return wanted.isEmpty() ? 0 : (double) hits / wanted.size();
    }

    private static Set<String> words(String text) {
        return new HashSet<>(Arrays.asList(text.toLowerCase(Locale.ROOT).split("\\W+", -1)));
    }

    private static String text(JsonNode body, String field) throws DemoRejection {
        List<String> texts = texts(body, field);
        if (texts.size() != 1) {
            throw DemoRejection.badRequest(field + ": a text is required", field);
        }
        return texts.get(0);
    }

    private static List<String> texts(JsonNode body, String field) throws DemoRejection {
        JsonNode value = body.path(field);
        if (value.isTextual()) {
            return List.of(value.textValue());
        }
        List<String> texts = IntStream.range(0, value.size())
                .mapToObj(value::path)
                .map(each ->
                        each.isTextual() ? each.textValue() : each.path("text").asText())
                .toList();
        if (!value.isArray() || texts.isEmpty()) {
            throw DemoRejection.badRequest(field + ": a text or a list of texts is required", field);
        }
        return texts;
    }
}
