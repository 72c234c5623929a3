package routes.net;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.Arrays;

/**
 * An HTTP head being put together in one array, to be copied into a buffer at once.
 *
 * <p><b>Threading:</b> one for each thread, from {@link #begin} to {@link #writeTo}; not to be kept.
 */
public final class HeadBytes {

    private static final FastThreadLocal<HeadBytes> LOCAL = new FastThreadLocal<>() {
        @Override
        protected HeadBytes initialValue() {
            return new HeadBytes();
        }
    };

    private static final byte[] HEX = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};

    private byte[] bytes = new byte[2048];
    private int length;

    private HeadBytes() {}

    /** This thread's head, empty. */
    public static HeadBytes begin() {
        HeadBytes head = LOCAL.get();
        head.length = 0;
        return head;
    }

    public HeadBytes put(byte[] more) {
        return put(more, 0, more.length);
    }

    public HeadBytes put(byte[] source, int from, int count) {
        reserve(count);
        System.arraycopy(source, from, bytes, length, count);
        length += count;
        return this;
    }

    /** @param text ISO 8859-1 */
    public HeadBytes put(String text) {
        int count = text.length();
        reserve(count);
        for (int i = 0; i < count; i++) {
            bytes[length + i] = (byte) text.charAt(i);
        }
        length += count;
        return this;
    }

    /** @param number zero or more, in decimal digits */
    public HeadBytes put(long number) {
        reserve(20);
        int digits = 1;
        for (long rest = number; rest >= 10; rest /= 10) {
            digits++;
        }
        long rest = number;
        for (int at = length + digits - 1; at >= length; at--) {
            bytes[at] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        length += digits;
        return this;
    }

    /** @param number all 64 bits, as 16 lower-case digits */
    public HeadBytes putHex(long number) {
        reserve(16);
        for (int i = 0; i < 16; i++) {
            bytes[length + i] = HEX[(int) (number >>> 60 - 4 * i) & 0xf];
        }
        length += 16;
        return this;
    }

    public int length() {
        return length;
    }

    public void writeTo(ByteBuf out) {
        out.writeBytes(bytes, 0, length);
    }

    private void reserve(int more) {
        if (bytes.length - length < more) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, length + more));
        }
    }
}
