package routes.prompt;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.VectorSpecies;

/** Finds the closing quote of a long string, one of the processor's vectors at a time. */
final class VectorQuotes implements QuoteFinder {

    private static final VectorSpecies<Byte> SPECIES = ByteVector.SPECIES_PREFERRED;
    private static final int LENGTH = SPECIES.length();

    @Override
    public int end(ByteBuffer view, int from, int limit, int escaped) {
        MemorySegment bytes = MemorySegment.ofBuffer(view);
        int at = from;
        long carry = escaped;
        for (; at <= limit - LENGTH; at += LENGTH) {
            ByteVector block = ByteVector.fromMemorySegment(SPECIES, bytes, at, ByteOrder.nativeOrder());
            long quotes = block.eq((byte) '"').toLong();
            long slashes = block.eq((byte) '\\').toLong();
            long behind = slashes << 1 | carry;
            if ((quotes & ~behind | slashes & behind) == 0) {
                carry = slashes >>> LENGTH - 1;
                continue;
            }
            long hidden = Quotes.escapedBits(slashes, carry);
            long real = quotes & ~hidden;
            if (real != 0) {
                return at + Long.numberOfTrailingZeros(real) + 1;
            }
            carry = (slashes & ~hidden) >>> LENGTH - 1 & 1;
        }
        return Quotes.plain(view, at, limit, (int) carry);
    }
}
