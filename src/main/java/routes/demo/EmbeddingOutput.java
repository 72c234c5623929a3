package routes.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;
import java.util.SplittableRandom;

/**
 * Answers {@code /v1/embeddings} with one unit vector per input, drawn from its words: equal texts give equal vectors,
 * and that is all they mean.
 */
final class EmbeddingOutput implements Output {

    private static final int DIMENSIONS = 64;
    private static final int MAX_DIMENSIONS = 4096;

    private final DemoConnection connection;
    private final ObjectNode answer = CompletionJson.object();

    /** @throws DemoRejection when a field has no usable value */
    EmbeddingOutput(DemoConnection connection, JsonNode body, String model, Prompt prompt) throws DemoRejection {
        this.connection = connection;
        JsonNode inputs = body.path("input");
        Texts.addInputs(prompt, inputs, "input");
        int dimensions = dimensions(body.path("dimensions"));
        boolean base64 = isBase64(body.path("encoding_format"));
        answer.put("id", "embd-" + Long.toHexString(prompt.seed()))
                .put("object", "list")
                .put("created", System.currentTimeMillis() / 1000)
                .put("model", model);
        ArrayNode data = answer.putArray("data");
        if (Texts.isOne(inputs)) {
            add(data, inputs, dimensions, base64);
        } else {
            for (JsonNode input : inputs) {
                add(data, input, dimensions, base64);
            }
        }
        answer.putObject("usage")
                .put("prompt_tokens", prompt.tokens())
                .put("total_tokens", prompt.tokens())
                .put("completion_tokens", 0);
    }

    @Override
    public void begin(int cachedTokens) {}

    @Override
    public void token(int index) {}

    @Override
    public void end() {
        connection.json(200, answer);
    }

    private static void add(ArrayNode data, JsonNode input, int dimensions, boolean base64) {
        Prompt prompt = new Prompt("");
        Texts.addOne(prompt, input);
        float[] vector = vector(prompt.seed(), dimensions);
        ObjectNode item = data.addObject().put("index", data.size() - 1).put("object", "embedding");
        if (base64) {
            ByteBuffer bytes = ByteBuffer.allocate(dimensions * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            bytes.asFloatBuffer().put(vector);
            item.put("embedding", Base64.getEncoder().encodeToString(bytes.array()));
        } else {
            ArrayNode floats = item.putArray("embedding");
            for (float value : vector) {
                floats.add(value);
            }
        }
    }

    private static float[] vector(long seed, int dimensions) {
        SplittableRandom random = new SplittableRandom(seed);
        double[] values = new double[dimensions];
        double squares = 0;
        for (int i = 0; i < dimensions; i++) {
            values[i] = random.nextDouble() * 2 - 1;
            squares += values[i] * values[i];
        }
        double length = Math.sqrt(squares);
        float[] vector = new float[dimensions];
        for (int i = 0; i < dimensions; i++) {
            vector[i] = (float) (values[i] / length);
        }
        return vector;
    }

    private static int dimensions(JsonNode value) throws DemoRejection {
        if (value.isMissingNode() || value.isNull()) {
            return DIMENSIONS;
        }
        if (!value.isIntegralNumber() || value.asInt() < 1 || value.asInt() > MAX_DIMENSIONS) {
            throw DemoRejection.badRequest("dimensions: 1 to " + MAX_DIMENSIONS + " is required", "dimensions");
        }
        return value.asInt();
    }

    private static boolean isBase64(JsonNode format) throws DemoRejection {
        return switch (format.asText("float")) {
            case "base64" -> true;
            case "float" -> false;
            default ->
                throw DemoRejection.badRequest("encoding_format: float or base64 is required", "encoding_format");
        };
    }
}
