package routes.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class AsciiTest {

    @Test
    void theCaseOfLettersDoesNotMatter() {
        assertThat(equal("ChUnKeD", "chunked")).isTrue();
        assertThat(equal("100-Continue", "100-continue")).isTrue();
        assertThat(equal("", "")).isTrue();
    }

    @Test
    void everythingElseMatters() {
        assertThat(equal("chunke", "chunked")).isFalse();
        assertThat(equal("chunkedd", "chunked")).isFalse();
        assertThat(equal("chunkeD", "chunkex")).isFalse();
        // of these pairs the same bit tells one from the other that tells the cases of a letter
        assertThat(equal("[\r@", "{-`")).isFalse();
        assertThat(equal("\u00c4", "\u00e4")).isFalse();
    }

    @Test
    void onlyTheBytesFromStartToEndCount() {
        byte[] bytes = "Bearer secret".getBytes(StandardCharsets.US_ASCII);

        assertThat(Ascii.equalsIgnoreCase(bytes, 0, 7, "bearer ")).isTrue();
        assertThat(Ascii.equalsIgnoreCase(bytes, 7, 13, "secret")).isTrue();
        assertThat(Ascii.equalsIgnoreCase(bytes, 7, 13, "bearer")).isFalse();
    }

    private static boolean equal(String text, String lowerCase) {
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        return Ascii.equalsIgnoreCase(bytes, 0, bytes.length, lowerCase);
    }
}
