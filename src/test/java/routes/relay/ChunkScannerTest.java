package routes.relay;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChunkScannerTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "zz\r\nab\r\n",
                "-5\r\n",
                "+5\r\n",
                "\r\n",
                ";x\r\n",
                " 5\r\nhello\r\n",
                "0x5\r\nhello\r\n",
                "5\nhello\r\n",
                "5\r\rhello\r\n",
                "5\rhello\r\n",
                "5;x\ny\r\nhello\r\n",
                "5;x\0\r\nhello\r\n",
                "1000000000000000\r\n",
                "0000000000000005\r\nhello\r\n",
                "\u00b5\r\n",
                "\uff15\r\n",
                "5\r\nhelloX\r\n",
                "5\r\nhello\n",
                "5\r\nhello\rX",
                "0\r\nX-A: 1\n\r\n",
                "0\r\nX-A: 1\rX",
                "0\r\n\n",
                "0\r\n\rX"
            })
    void refusesBrokenFramingInAnySplit(String wire) {
        byte[] bytes = RelayRun.bytes(wire);
        assertThat(scan(bytes, bytes.length).malformed()).isTrue();
        assertThat(scan(bytes, 1).malformed()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0\r\n\r\n",
                "5\r\nhello\r\n0\r\n\r\n",
                "A\r\n0123456789\r\n000\r\n\r\n",
                "5;name=value\r\nhello\r\n0;last\r\n\r\n",
                "5 \t;q=\"\u00fc\"\r\nhello\r\n0\r\nX-A: 1\r\nX-B:\r\n\r\n",
                "000000000000005\r\nhello\r\n0\r\n\r\n"
            })
    void endsWithTheLastByteInAnySplit(String wire) {
        byte[] bytes = RelayRun.bytes(wire);
        assertThat(scan(bytes, bytes.length).ended()).isTrue();
        assertThat(scan(bytes, 1).ended()).isTrue();
        byte[] shorter = RelayRun.bytes(wire.substring(0, wire.length() - 1));
        assertThat(scan(shorter, 1).ended()).isFalse();
        assertThat(scan(shorter, 1).malformed()).isFalse();
    }

    @Test
    void boundsTheSizeLine() {
        String most = "5;" + "x".repeat(ChunkScanner.MAX_SIZE_LINE - 2);
        assertThat(scan(RelayRun.bytes(most + "\r\nhello\r\n"), 100).atBoundary())
                .isTrue();
        assertThat(scan(RelayRun.bytes(most + "x\r\nhello\r\n"), 100).malformed())
                .isTrue();
    }

    @Test
    void boundsTheTrailers() {
        String most = "x".repeat(ChunkScanner.MAX_TRAILERS / 2) + "\r\n";
        assertThat(scan(RelayRun.bytes("0\r\n" + most + most + "\r\n"), 100).ended())
                .isTrue();
        assertThat(scan(RelayRun.bytes("0\r\n" + most + most + "x\r\n\r\n"), 100)
                        .malformed())
                .isTrue();
    }

    private static ChunkScanner scan(byte[] bytes, int step) {
        ChunkScanner scanner = new ChunkScanner();
        for (int from = 0; from < bytes.length; from += step) {
            int to = Math.min(bytes.length, from + step);
            int p = from;
            while (p < to && !scanner.ended() && !scanner.malformed()) {
                p = scanner.inData() ? p + scanner.takeData(to - p) : scanner.advance(bytes, p, to);
            }
        }
        return scanner;
    }
}
