package routes.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

final class Sha256Test {

    private static final String HASH_OF_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    @Test
    void theHashOfAbcIsTheOneOfTheStandard() {
        assertThat(Sha256.of("abc")).isEqualTo(Sha256.parse(HASH_OF_ABC));
        assertThat(Sha256.of("abc")).isEqualTo(Sha256.parse(HASH_OF_ABC.toUpperCase(Locale.ROOT)));
        assertThat(Sha256.of("abc")).isNotEqualTo(Sha256.of("abd"));
    }

    @Property(tries = 200)
    void hashingAPartEqualsHashingACopyOfIt(@ForAll @Size(max = 300) byte[] input, @ForAll byte[] padding)
            throws NoSuchAlgorithmException {
        byte[] whole = new byte[padding.length + input.length + padding.length];
        System.arraycopy(input, 0, whole, padding.length, input.length);
        String expected =
                HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(input));

        assertThat(Sha256.of(whole, padding.length, input.length)).isEqualTo(Sha256.parse(expected));
    }

    @Test
    void anythingButSixtyFourHexDigitsIsRefused() {
        List<String> wrong = List.of("", HASH_OF_ABC.substring(1), HASH_OF_ABC + "0", "g" + HASH_OF_ABC.substring(1));

        assertThat(wrong)
                .allSatisfy(hex ->
                        assertThatThrownBy(() -> Sha256.parse(hex)).isInstanceOf(IllegalArgumentException.class));
    }

    @Test
    void eachThreadHashesForItself() throws InterruptedException {
        byte[] secret = "abc".getBytes(StandardCharsets.US_ASCII);
        Sha256[] seen = new Sha256[1];
        Thread other = new Thread(() -> seen[0] = Sha256.of(secret, 0, secret.length));
        other.start();
        Sha256 here = Sha256.of(secret, 0, secret.length);
        other.join();

        assertThat(seen[0]).isEqualTo(here);
    }
}
