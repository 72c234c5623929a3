package routes.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Answers each path as vLLM does; only what lies below {@code /v1} asks for the key. */
final class DemoRoutes {

    private static final String RESPONSES = "/v1/responses";
    private static final String MESSAGES = "/v1/messages";
    private static final String COUNT_TOKENS = MESSAGES + "/count_tokens";
    private static final String CANCEL = "/cancel";
    private static final Set<String> RERANK = Set.of("/rerank", "/v1/rerank", "/v2/rerank");
    private static final Set<String> SCORE = Set.of("/score", "/v1/score");
    private static final String TOKENIZE = "/tokenize";
    private static final int VOCABULARY = 32_000;
    private static final Set<String> GENERATING =
            Set.of("/v1/chat/completions", "/v1/completions", "/v1/embeddings", RESPONSES, MESSAGES, COUNT_TOKENS);
    private static final Set<String> READABLE = Set.of("/v1/models", "/health", "/version", "/metrics");
    private static final String MODEL = "/v1/models/";

    private final Engine engine;
    private final DemoOptions options;
    private final byte @Nullable [] authorization;

    DemoRoutes(Engine engine) {
        this.engine = engine;
        options = engine.options;
        authorization =
                options.apiKey() == null ? null : ("Bearer " + options.apiKey()).getBytes(StandardCharsets.UTF_8);
    }

    /** Borrows the request. */
    void handle(FullHttpRequest request, DemoConnection connection) {
        if (request.decoderResult().isFailure()) {
            connection.refuse("Invalid HTTP request received.");
            return;
        }
        boolean anthropic = request.uri().startsWith(MESSAGES);
        try {
            String path = path(request);
            if (path.startsWith("/v1") && !mayPass(request)) {
                connection.json(401, CompletionJson.object().put("error", "Unauthorized"));
            } else if (GENERATING.contains(path)
                    || RERANK.contains(path)
                    || SCORE.contains(path)
                    || path.equals(TOKENIZE)) {
                require(request, HttpMethod.POST);
                engine.requests.incrementAndGet();
                generate(path, request, connection);
            } else if (path.startsWith(RESPONSES + "/")) {
                stored(path.substring(RESPONSES.length() + 1), request, connection);
            } else if (READABLE.contains(path) || path.startsWith(MODEL)) {
                require(request, HttpMethod.GET);
                read(path, connection);
            } else {
                throw DemoRejection.unknownPath();
            }
        } catch (DemoRejection e) {
            connection.json(e.status(), anthropic ? e.anthropicJson() : e.json());
        }
    }

    private void read(String path, DemoConnection connection) throws DemoRejection {
        switch (path) {
            case "/health" -> connection.send(200, "", new byte[0]);
            case "/version" -> connection.json(200, CompletionJson.object().put("version", "0.0.0+demo"));
            case "/metrics" ->
                connection.send(200, "text/plain; version=0.0.4; charset=utf-8", DemoMetrics.text(engine));
            case "/v1/models" -> {
                ObjectNode list = CompletionJson.object().put("object", "list");
                ArrayNode data = list.putArray("data");
                options.models().forEach(model -> data.add(model(model)));
                connection.json(200, list);
            }
            default -> {
                String name = path.substring(MODEL.length());
                if (!options.models().contains(name)) {
                    throw DemoRejection.unknownModel(name);
                }
                connection.json(200, model(name));
            }
        }
    }

    private void generate(String path, FullHttpRequest request, DemoConnection connection) throws DemoRejection {
        requireJson(request);
        JsonNode body = Json.object(request.content());
        if (path.equals("/v1/embeddings")) {
            String model = CompletionRequest.model(body, options);
            Prompt prompt = new Prompt(body.path("cache_salt").asText(""));
            start(connection, new Generation.Job(prompt, 0, 1), new EmbeddingOutput(connection, body, model, prompt));
            return;
        }
        if (RERANK.contains(path) || SCORE.contains(path)) {
            String model = CompletionRequest.model(body, options);
            Prompt prompt = new Prompt(body.path("cache_salt").asText(""));
            RankOutput ranked = RERANK.contains(path)
                    ? RankOutput.rerank(connection, body, model, prompt)
                    : RankOutput.score(connection, body, model, prompt);
            start(connection, new Generation.Job(prompt, 0, 1), ranked);
            return;
        }
        switch (path) {
            case TOKENIZE -> connection.json(200, tokens(body));
            case RESPONSES -> respond(body, connection);
            case MESSAGES -> {
                CompletionRequest asked = CompletionRequest.message(body, options);
                start(connection, asked, new MessageOutput(connection, asked, id(request)));
            }
            case COUNT_TOKENS ->
                connection.json(
                        200,
                        CompletionJson.object()
                                .put(
                                        "input_tokens",
                                        CompletionRequest.message(body, options)
                                                .prompt()
                                                .tokens()));
            default -> complete(path, body, request, connection);
        }
    }

    /** A number for each word, the same for the same word. */
    private ObjectNode tokens(JsonNode body) throws DemoRejection {
        CompletionRequest.model(body, options);
        ObjectNode answer = CompletionJson.object();
        ArrayNode tokens = answer.putArray("tokens");
        for (String word : Texts.said(body.path(body.has("messages") ? "messages" : "prompt"))
                .split("\\s+", -1)) {
            if (!word.isEmpty()) {
                tokens.add(Math.floorMod(word.hashCode(), VOCABULARY));
            }
        }
        return answer.put("count", tokens.size()).put("max_model_len", DemoOptions.MAX_TOKENS);
    }

    private void complete(String path, JsonNode body, FullHttpRequest request, DemoConnection connection)
            throws DemoRejection {
        boolean chat = path.equals("/v1/chat/completions");
        CompletionRequest asked = chat ? CompletionRequest.chat(body, options) : CompletionRequest.text(body, options);
        String id = id(request);
        CompletionJson json = chat ? new ChatJson(asked, id, options.name()) : new TextJson(asked, id, options.name());
        start(connection, asked, new CompletionOutput(connection, json));
    }

    private void respond(JsonNode body, DemoConnection connection) throws DemoRejection {
        JsonNode previous = body.path("previous_response_id");
        String before =
                previous.isTextual() ? engine.stored.find(previous.textValue()).said() : "";
        CompletionRequest asked = CompletionRequest.response(body, options, before);
        String id = "resp_" + UUID.randomUUID().toString().replace("-", "");
        String said = before + ' ' + Texts.said(body.path("input"));
        boolean keeps = body.path("store").asBoolean(true);
        start(connection, asked, new ResponseOutput(connection, asked, id, (json, text) -> {
            if (keeps) {
                engine.stored.keep(id, new StoredAnswers.Stored(json, said + ' ' + text));
            }
        }));
    }

    private void stored(String path, FullHttpRequest request, DemoConnection connection) throws DemoRejection {
        boolean cancel = path.endsWith(CANCEL);
        require(request, cancel ? HttpMethod.POST : HttpMethod.GET);
        StoredAnswers.Stored found =
                engine.stored.find(cancel ? path.substring(0, path.length() - CANCEL.length()) : path);
        if (cancel) {
            throw DemoRejection.badRequest("Cannot cancel a synchronous response.", null);
        }
        connection.json(200, found.json());
    }

    private void start(DemoConnection connection, CompletionRequest asked, Output output) throws DemoRejection {
        failIfAsked();
        if (asked.streaming().on()) {
            connection.startStream();
        }
        Generation.Job job = new Generation.Job(asked.prompt(), asked.tokens(), asked.choices());
        connection.generate(new Generation(engine, connection, job, output));
    }

    private void start(DemoConnection connection, Generation.Job job, Output output) throws DemoRejection {
        failIfAsked();
        connection.generate(new Generation(engine, connection, job, output));
    }

    private void failIfAsked() throws DemoRejection {
        if (engine.failsNow()) {
            throw DemoRejection.failure();
        }
    }

    private boolean mayPass(FullHttpRequest request) {
        if (authorization == null || request.method().equals(HttpMethod.OPTIONS)) {
            return true;
        }
        String given = request.headers().get(HttpHeaderNames.AUTHORIZATION, "");
        return MessageDigest.isEqual(authorization, given.getBytes(StandardCharsets.UTF_8));
    }

    private static String path(FullHttpRequest request) throws DemoRejection {
        try {
            return new QueryStringDecoder(request.uri()).path();
        } catch (IllegalArgumentException e) {
            throw DemoRejection.unknownPath();
        }
    }

    private static void require(FullHttpRequest request, HttpMethod method) throws DemoRejection {
        if (!request.method().equals(method)) {
            throw DemoRejection.wrongMethod();
        }
    }

    private static void requireJson(FullHttpRequest request) throws DemoRejection {
        String type = request.headers().get(HttpHeaderNames.CONTENT_TYPE, "");
        int end = type.indexOf(';');
        if (!(end < 0 ? type : type.substring(0, end)).strip().equalsIgnoreCase("application/json")) {
            throw DemoRejection.badRequest("Unsupported Media Type: Only 'application/json' is allowed", null);
        }
    }

    private static String id(FullHttpRequest request) {
        String given = request.headers().get("x-request-id");
        return given != null ? given : UUID.randomUUID().toString().replace("-", "");
    }

    private static ObjectNode model(String name) {
        return CompletionJson.object()
                .put("id", name)
                .put("object", "model")
                .put("created", 0)
                .put("owned_by", "dromedary-demo")
                .put("root", name)
                .putNull("parent");
    }
}
