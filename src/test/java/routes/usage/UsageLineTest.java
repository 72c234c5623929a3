package routes.usage;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import routes.request.Outcome;

class UsageLineTest {

    private static final ObjectReader EXACT =
            Records.JSON.reader().with(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

    @Example
    void aLineIsWhatJacksonMakesOfTheRecord() throws Exception {
        String expected = Records.JSON.writeValueAsString(Records.full().build()) + "\n";

        assertThat(new String(Records.line(Records.full().build()), StandardCharsets.UTF_8))
                .isEqualTo(expected);
    }

    @Example
    void anEmptyRecordIsWhatJacksonMakesOfIt() throws Exception {
        UsageRecord record = UsageRecord.builder().build();

        assertThat(new String(Records.line(record), StandardCharsets.UTF_8))
                .isEqualTo(Records.JSON.writeValueAsString(record) + "\n")
                .contains("\"prompt_tokens\":null");
    }

    @Property
    void anyLineParsesToTheRecord(
            @ForAll("hostile") String a,
            @ForAll("hostile") String b,
            @ForAll long number,
            @ForAll int small,
            @ForAll boolean flag)
            throws Exception {
        UsageRecord record = any(a, b, number, small, flag);

        byte[] line = Records.line(record);

        assertThat(node(line)).isEqualTo(EXACT.readTree(Records.JSON.writeValueAsBytes(record)));
        assertThat(line.length).isLessThan(UsageLine.MAX_BYTES);
        assertOneCleanLine(line);
    }

    @Property(tries = 200)
    void linesFollowOneAnotherInOneBuffer(@ForAll("hostile") String a, @ForAll("hostile") String b) throws Exception {
        UsageRecord first = any(a, b, 1, 1, true);
        UsageRecord second = any(b, a, 2, 2, false);
        UsageLine lines = new UsageLine(16);
        for (int i = 0; i < 3; i++) {
            lines.clear();
            lines.append(first);
            int end = lines.length();
            lines.append(second);

            assertThat(Arrays.copyOf(lines.array(), end)).isEqualTo(Records.line(first));
            assertThat(Arrays.copyOfRange(lines.array(), end, lines.length())).isEqualTo(Records.line(second));
        }
    }

    @Property(tries = 300)
    void evenTheLongestLineStaysBelowFourKibibytes(@ForAll("hostileCharacter") int character) throws Exception {
        String text = Character.toString(character).repeat(1_000);

        byte[] line = Records.line(any(text, text, Long.MAX_VALUE, Integer.MIN_VALUE, false));

        assertThat(line.length).isLessThan(UsageLine.MAX_BYTES);
        assertOneCleanLine(line);
        node(line);
    }

    @Property
    void textTakesAtMostItsBytesAndIsTheBeginningOfWhatItWas(@ForAll("hostile") String text) throws Exception {
        byte[] bytes = new byte[40];

        int end = UsageText.write(text, 40, bytes, 0);

        String read =
                Records.JSON.readValue('"' + new String(bytes, 0, end, StandardCharsets.UTF_8) + '"', String.class);
        assertThat(read).isEqualTo(UsageText.fit(text, 40));
        assertThat(text.replaceAll("[\\x00\\x{d800}-\\x{dfff}]", "\ufffd")).startsWith(read);
    }

    @Example
    void textIsCutByItsBytesInTheLine() {
        assertThat(UsageText.fit("\1".repeat(300), 256)).isEqualTo("\1".repeat(42));
        assertThat(UsageText.fit("a\0b", 256)).isEqualTo("a\ufffdb");
        assertThat(UsageText.fit("é".repeat(300), 256)).isEqualTo("é".repeat(128));
        assertThat(UsageText.fit("x".repeat(253) + "🐪", 256)).isEqualTo("x".repeat(253));
        assertThat(UsageText.fit("x".repeat(300), 256)).isEqualTo("x".repeat(256));
    }

    @Example
    void aNewDayChangesTheDate() {
        UsageLine lines = new UsageLine(16);
        for (long ts : new long[] {0, 86_399_999, 86_400_000, 253_402_300_799_999L, Long.MAX_VALUE, -1}) {
            lines.append(UsageRecord.builder().tsMillis(ts).build());
        }

        assertThat(new String(lines.array(), 0, lines.length(), StandardCharsets.UTF_8)
                        .lines()
                        .map(l -> l.substring(7, 31)))
                .containsExactly(
                        "1970-01-01T00:00:00.000Z",
                        "1970-01-01T23:59:59.999Z",
                        "1970-01-02T00:00:00.000Z",
                        "9999-12-31T23:59:59.999Z",
                        "9999-12-31T23:59:59.999Z",
                        "1970-01-01T00:00:00.000Z");
    }

    @Provide
    Arbitrary<String> hostile() {
        return hostileCharacter().map(UsageLineTest::text).list().ofMaxSize(300).map(parts -> String.join("", parts));
    }

    @Provide
    Arbitrary<Integer> hostileCharacter() {
        return Arbitraries.frequencyOf(
                Tuple.of(4, Arbitraries.integers().between(' ', '~')),
                Tuple.of(2, Arbitraries.integers().between(0, 0xa0)),
                Tuple.of(1, Arbitraries.of((int) '"', (int) '\\', 0x7f, 0x85, 0x2028, 0x2029, 0xfeff)),
                Tuple.of(1, Arbitraries.integers().between(0xd7ff, 0xe000)),
                Tuple.of(1, Arbitraries.integers().between(0, 0x10ffff)));
    }

    private static String text(int character) {
        return new String(Character.toChars(character));
    }

    private static UsageRecord any(String a, String b, long number, int small, boolean flag) {
        return new UsageRecord(
                number,
                a,
                b,
                a,
                b,
                a,
                b,
                a,
                b,
                small,
                -small,
                flag ? Outcome.CLIENT_CLOSED : Outcome.SUCCESS,
                a,
                b,
                flag,
                number,
                ~number,
                number,
                number,
                number,
                number,
                number,
                number,
                number,
                flag ? null : number,
                number,
                number,
                flag ? UsageRecord.Source.FINAL : UsageRecord.Source.ESTIMATED,
                !flag,
                number,
                number,
                a,
                b,
                flag ? null : a,
                flag ? b : null,
                a);
    }

    private static JsonNode node(byte[] line) throws IOException {
        return EXACT.readTree(line);
    }

    private static void assertOneCleanLine(byte[] line) throws CharacterCodingException {
        String text = StandardCharsets.UTF_8
                .newDecoder()
                .decode(ByteBuffer.wrap(line))
                .toString();
        assertThat(text).endsWith("}\n");
        assertThat(text.chars().limit(text.length() - 1L))
                .noneMatch(c -> Character.isISOControl(c) || c == 0x2028 || c == 0x2029);
    }
}
