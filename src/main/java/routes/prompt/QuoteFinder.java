package routes.prompt;

import java.nio.ByteBuffer;

/**
 * Finds the closing quote of a JSON string.
 *
 * <p><b>Threading</b>: implementations hold no state.
 */
interface QuoteFinder {

    /**
     * Looks for the first quote in {@code [from, limit)} that no backslash escapes.
     *
     * @param view little-endian, its position 0 and its limit not below {@code limit}
     * @param escaped 1 when the byte at {@code from} is escaped by one before it, else 0
     * @return the offset behind the quote, or {@code ~e} if there is none, {@code e} being {@code escaped} for the byte
     *     at {@code limit}
     */
    int end(ByteBuffer view, int from, int limit, int escaped);
}
