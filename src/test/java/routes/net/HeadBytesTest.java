package routes.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class HeadBytesTest {

    @Test
    void putsTextBytesAndNumbersOneAfterTheOther() {
        assertThat(text(HeadBytes.begin()
                        .put("length: ".getBytes(StandardCharsets.US_ASCII))
                        .put(0)
                        .put(" ")
                        .put(9)
                        .put(" ")
                        .put(10)
                        .put(" caf\u00e9 ")
                        .put(Long.MAX_VALUE)))
                .isEqualTo("length: 0 9 10 caf\u00e9 9223372036854775807");
    }

    @Test
    void growsAndBeginsEmptyEachTime() {
        String long1 = "x".repeat(10_000);

        assertThat(text(HeadBytes.begin().put("a").put(long1))).isEqualTo("a" + long1);
        assertThat(text(HeadBytes.begin().put("b"))).isEqualTo("b");
    }

    private static String text(HeadBytes head) {
        ByteBuf out = Unpooled.buffer();
        head.writeTo(out);
        assertThat(out.readableBytes()).isEqualTo(head.length());
        return out.toString(StandardCharsets.ISO_8859_1);
    }
}
