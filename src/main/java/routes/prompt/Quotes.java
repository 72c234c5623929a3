package routes.prompt;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Finds where JSON strings end: 16 bytes at a time in plain Java, and by vectors from some length on if the runtime has
 * them (JDK 25 with the module {@code jdk.incubator.vector}).
 *
 * <p>A block is passed over without a branch that depends on its content unless it holds a quote that is not preceded
 * by a backslash or two backslashes in a row; then the runs of backslashes are resolved exactly, with the parity of
 * their lengths computed by a carrying addition on one bit for each byte.
 */
final class Quotes {

    /** Bytes of a string that are searched the plain way first: most strings end there. */
    private static final int SHORT = 128;

    /** Bytes that must be left in the body for the vectors to be worth their setting up. */
    private static final int LONG = 256;

    private static final long LOW_BITS = 0x7f7f7f7f7f7f7f7fL;
    private static final long QUOTE = 0x2222222222222222L;
    private static final long BACKSLASH = 0x5c5c5c5c5c5c5c5cL;
    private static final long EVEN_BITS = 0x5555555555555555L;

    private static final @Nullable QuoteFinder VECTOR = load();

    private Quotes() {}

    /** As {@link QuoteFinder#end} for a string's first byte, whatever is fastest. */
    static int end(ByteBuffer view, int from, int limit) {
        QuoteFinder vector = VECTOR;
        if (vector == null || limit - from < LONG) {
            return plain(view, from, limit, 0);
        }
        int end = plain(view, from, from + SHORT, 0);
        return end >= 0 ? end : vector.end(view, from + SHORT, limit, ~end);
    }

    /** The finder that uses vectors; null if this runtime has none. */
    static @Nullable QuoteFinder vector() {
        return VECTOR;
    }

    /** As {@link QuoteFinder#end}, in plain Java. */
    static int plain(ByteBuffer view, int from, int limit, int escaped) {
        int at = from;
        long carry = escaped;
        for (; at <= limit - 16; at += 16) {
            long low = view.getLong(at);
            long high = view.getLong(at + 8);
            long quotesLow = zeroBytes(low ^ QUOTE);
            long quotesHigh = zeroBytes(high ^ QUOTE);
            long slashesLow = zeroBytes(low ^ BACKSLASH);
            long slashesHigh = zeroBytes(high ^ BACKSLASH);
            long behindLow = slashesLow << 8 | carry << 7;
            long behindHigh = slashesHigh << 8 | slashesLow >>> 56;
            long unclear = quotesLow & ~behindLow
                    | slashesLow & behindLow
                    | quotesHigh & ~behindHigh
                    | slashesHigh & behindHigh;
            if (unclear == 0) {
                carry = slashesHigh >>> 63;
            } else {
                long slashes = bits(slashesLow) | bits(slashesHigh) << 8;
                long hidden = escapedBits(slashes, carry);
                long real = (bits(quotesLow) | bits(quotesHigh) << 8) & ~hidden;
                if (real != 0) {
                    return at + Long.numberOfTrailingZeros(real) + 1;
                }
                carry = (slashes & ~hidden) >>> 15 & 1;
            }
        }
        for (; at < limit; at++) {
            byte b = view.get(at);
            if (carry != 0) {
                carry = 0;
            } else if (b == '"') {
                return at + 1;
            } else if (b == '\\') {
                carry = 1;
            }
        }
        return ~(int) carry;
    }

    /**
     * Which bytes of a block of up to 64 are escaped.
     *
     * @param slashes bit i: byte i is a backslash
     * @param carry 1 when the first byte is escaped by the block before
     */
    static long escapedBits(long slashes, long carry) {
        long escaping = slashes & ~carry;
        long follows = escaping << 1 | carry;
        long oddStarts = escaping & ~EVEN_BITS & ~follows;
        long evenRuns = oddStarts + escaping;
        return (EVEN_BITS ^ evenRuns << 1) & follows;
    }

    /** The top bit of each byte that is zero, exactly. */
    private static long zeroBytes(long word) {
        return ~((word & LOW_BITS) + LOW_BITS | word | LOW_BITS);
    }

    /** The top bits of eight bytes, side by side. */
    private static long bits(long topBits) {
        return (topBits >>> 7) * 0x0102040810204080L >>> 56;
    }

    private static @Nullable QuoteFinder load() {
        if (Runtime.version().feature() < 25
                || ModuleLayer.boot().findModule("jdk.incubator.vector").isEmpty()) {
            return null;
        }
        try {
            Class<?> type = Class.forName("routes.prompt.VectorQuotes");
            return (QuoteFinder) type.getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException | LinkageError absent) {
            return null;
        }
    }
}
