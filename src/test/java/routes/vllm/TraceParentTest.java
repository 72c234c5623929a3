package routes.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import routes.net.HeadBytes;

/** Which traces go on, and how one begins. */
class TraceParentTest {

    private static final String GOOD = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    private static boolean isWellFormed(String value) {
        byte[] bytes = ("x" + value + "\r\n").getBytes(StandardCharsets.ISO_8859_1);
        return TraceParent.isWellFormed(bytes, 1, value.length());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                GOOD,
                "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
                "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes-later"
            })
    void theseGoOn(String value) {
        assertThat(isWellFormed(value)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "00",
                "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
                "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
                "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.more"
            })
    void theseDoNot(String value) {
        assertThat(isWellFormed(value)).isFalse();
    }

    @Test
    void noCharacterMayBeAnother() {
        for (int i = 0; i < GOOD.length(); i++) {
            assertThat(isWellFormed(GOOD.substring(0, i) + "g" + GOOD.substring(i + 1)))
                    .as("at %d", i)
                    .isFalse();
        }
    }

    @Test
    void oneThatBeginsIsWellFormedAndNew() {
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            HeadBytes head = HeadBytes.begin();
            TraceParent.begin(head);
            ByteBuf out = Unpooled.buffer();
            head.writeTo(out);
            String line = out.toString(StandardCharsets.US_ASCII);
            assertThat(line).startsWith("traceparent: 00-").endsWith("-00\r\n");
            assertThat(isWellFormed(line.substring(13).trim())).as(line).isTrue();
            assertThat(seen.add(line)).as(line).isTrue();
        }
    }
}
