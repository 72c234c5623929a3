package routes.auth;

import io.netty.util.concurrent.FastThreadLocal;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.DigestException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** A SHA-256 hash as a value that can key a map. */
record Sha256(long a, long b, long c, long d) {

    static final int HEX_DIGITS = 64;

    private static final int BYTES = 32;
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    private static final FastThreadLocal<Digest> DIGEST = new FastThreadLocal<>() {
        @Override
        protected Digest initialValue() throws NoSuchAlgorithmException {
            return new Digest(MessageDigest.getInstance("SHA-256"), new byte[BYTES]);
        }
    };

    /**
     * Hashes a part of an array.
     *
     * <p><b>Threading:</b> any thread; each has a digest of its own.
     */
    static Sha256 of(byte[] input, int offset, int length) {
        Digest digest = DIGEST.get();
        digest.function.update(input, offset, length);
        try {
            digest.function.digest(digest.result, 0, BYTES);
        } catch (DigestException e) {
            throw new IllegalStateException(e);
        }
        return read(digest.result);
    }

    static Sha256 of(String input) {
        byte[] bytes = input.getBytes(StandardCharsets.UTF_8);
        return of(bytes, 0, bytes.length);
    }

    /** @throws IllegalArgumentException if the text is not 64 hex digits, of either case */
    static Sha256 parse(String hex) {
        if (hex.length() != HEX_DIGITS) {
            throw new IllegalArgumentException("not " + HEX_DIGITS + " hex digits");
        }
        return read(HexFormat.of().parseHex(hex));
    }

    /** 64 hex digits, of lower case. */
    String hex() {
        byte[] bytes = new byte[BYTES];
        LONG.set(bytes, 0, a);
        LONG.set(bytes, 8, b);
        LONG.set(bytes, 16, c);
        LONG.set(bytes, 24, d);
        return HexFormat.of().formatHex(bytes);
    }

    private static Sha256 read(byte[] bytes) {
        return new Sha256((long) LONG.get(bytes, 0), (long) LONG.get(bytes, 8), (long) LONG.get(bytes, 16), (long)
                LONG.get(bytes, 24));
    }

    /** A thread's hash function and the room for its result. */
    private static final class Digest {
        private final MessageDigest function;
        private final byte[] result;

        private Digest(MessageDigest function, byte[] result) {
            this.function = function;
            this.result = result;
        }
    }
}
