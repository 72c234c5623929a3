package routes.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import routes.error.GatewayException;
import routes.request.Prompt;

/** Request bodies in buffers, as tests want them. */
public final class Bodies {

    /** Bytes before the body, so that an offset counted from the buffer's start instead of the body's shows. */
    private static final int HEADROOM = 13;

    private Bodies() {}

    public static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** A direct buffer with bytes before and behind the body. The caller releases it. */
    public static ByteBuf direct(byte[] json) {
        ByteBuf buffer = Unpooled.directBuffer(HEADROOM + json.length + 1);
        buffer.writeZero(HEADROOM).readerIndex(HEADROOM).writeBytes(json);
        buffer.setByte(buffer.writerIndex(), '"');
        return buffer;
    }

    public static Prompt scan(String json) throws GatewayException {
        return scan(utf8(json));
    }

    /** Scans a body and checks that the buffer stays as it was. */
    public static Prompt scan(byte[] json) throws GatewayException {
        ByteBuf body = direct(json);
        try {
            return PromptScanner.scan(body);
        } finally {
            byte[] left = new byte[body.readableBytes()];
            body.getBytes(body.readerIndex(), left);
            assertThat(body.readerIndex()).isEqualTo(HEADROOM);
            assertThat(left).isEqualTo(json);
            assertThat(body.release()).isTrue();
        }
    }

    static GatewayException refusal(String json) {
        return refusal(utf8(json));
    }

    static GatewayException refusal(byte[] json) {
        GatewayException refusal = catchThrowableOfType(GatewayException.class, () -> scan(json));
        assertThat(refusal)
                .as("refusal of %s", new String(json, StandardCharsets.UTF_8))
                .isNotNull();
        return refusal;
    }
}
