package routes.demo;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** JSON to and from bytes. */
final class Json {

    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();
    private static final byte[] DATA = {'d', 'a', 't', 'a', ':', ' '};

    private Json() {}

    /** Borrows the body. @throws DemoRejection unless it is one JSON object */
    static JsonNode object(ByteBuf body) throws DemoRejection {
        JsonNode json;
        try {
            json = MAPPER.readTree(new ByteBufInputStream(body.duplicate()));
        } catch (IOException e) {
            throw DemoRejection.badRequest("The body is not valid JSON.", null);
        }
        if (!json.isObject()) {
            throw DemoRejection.badRequest("The body is not a JSON object.", null);
        }
        return json;
    }

    static byte[] bytes(JsonNode json) {
        try {
            return MAPPER.writeValueAsBytes(json);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** {@code data: {…}} and an empty line. Returns owned; the caller releases. */
    static ByteBuf event(ByteBufAllocator allocator, JsonNode json) {
        byte[] bytes = bytes(json);
        return allocator
                .buffer(DATA.length + bytes.length + 2)
                .writeBytes(DATA)
                .writeBytes(bytes)
                .writeByte('\n')
                .writeByte('\n');
    }
}
