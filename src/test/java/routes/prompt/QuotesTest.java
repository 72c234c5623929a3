package routes.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class QuotesTest {

    @Test
    void plainJavaFindsWhatAByteByByteReaderFinds() {
        agreesWithByteByByte(Quotes::plain);
    }

    @Test
    void vectorsFindWhatAByteByByteReaderFinds() {
        QuoteFinder vector = Quotes.vector();
        assumeTrue(vector != null, "vectors need JDK 25 with --add-modules jdk.incubator.vector");
        agreesWithByteByByte(vector);
    }

    @Test
    void theChoiceBetweenThemDoesNotShow() {
        agreesWithByteByByte((view, from, limit, escaped) -> {
            int end = Quotes.end(view, from, limit);
            return escaped == 0 ? end : Quotes.plain(view, from, limit, escaped);
        });
    }

    @Test
    void aBackslashAtABordersLastByteHidesTheQuoteBehindIt() {
        for (int slashes = 1; slashes <= 130; slashes++) {
            for (int before = 0; before <= 130; before++) {
                String text = "a".repeat(before) + "\\".repeat(slashes) + "\"" + "b".repeat(300) + "\"";
                ByteBuffer view = view(Bodies.utf8(text));
                int expected = slashes % 2 == 0 ? before + slashes + 1 : text.length();
                assertThat(Quotes.plain(view, 0, text.length(), 0)).isEqualTo(expected);
                assertThat(Quotes.end(view, 0, text.length())).isEqualTo(expected);
            }
        }
    }

    private static void agreesWithByteByByte(QuoteFinder finder) {
        SplittableRandom random = new SplittableRandom(25);
        for (int i = 0; i < 30_000; i++) {
            byte[] text = text(random);
            ByteBuffer view = view(text);
            int from = random.nextInt(Math.min(20, text.length));
            int escaped = random.nextInt(2);
            assertThat(finder.end(view, from, text.length, escaped))
                    .as("text %d", i)
                    .isEqualTo(byteByByte(text, from, escaped));
        }
    }

    private static int byteByByte(byte[] text, int from, int escaped) {
        boolean hidden = escaped == 1;
        for (int at = from; at < text.length; at++) {
            if (!hidden && text[at] == '"') {
                return at + 1;
            }
            hidden = !hidden && text[at] == '\\';
        }
        return hidden ? ~1 : ~0;
    }

    /** Mostly letters, with runs of backslashes and with quotes that tend to follow them. */
    private static byte[] text(SplittableRandom random) {
        byte[] text = new byte[1 + random.nextInt(600)];
        int rarity = 2 + random.nextInt(200);
        int at = 0;
        while (at < text.length) {
            if (random.nextInt(rarity) == 0) {
                int run = random.nextInt(random.nextInt(10) == 0 ? 150 : 5);
                while (run-- > 0 && at < text.length) {
                    text[at++] = '\\';
                }
                if (at < text.length && random.nextInt(4) > 0) {
                    text[at++] = (byte) (random.nextInt(rarity) == 0 || text[Math.max(0, at - 2)] == '\\' ? '"' : 0xdc);
                }
            } else {
                text[at++] = (byte) (random.nextInt(3) == 0 ? random.nextInt(128, 256) : 'a');
            }
        }
        return text;
    }

    private static ByteBuffer view(byte[] text) {
        ByteBuffer view = ByteBuffer.allocateDirect(text.length).order(ByteOrder.LITTLE_ENDIAN);
        return view.put(text).flip();
    }
}
