package routes.request;

import java.util.Objects;

/**
 * What a prompt's beginning looks like from afar: at a few depths, the tokens up to there and a hash of all that stands
 * before. Prompts that begin alike have equal hashes down to the depth where they part.
 *
 * <p>The hashes are chained, each over its level and the hash before it, and equal in every gateway. The last one may stand
 * for a key that the client named instead, such as a session.
 *
 * <p><b>Threading:</b> immutable.
 */
public final class PrefixLevels {

    public static final int MOST = 24;

    /** A prompt of which nothing is known. */
    public static final PrefixLevels NONE = new PrefixLevels(new long[0], 0, 0);

    /** Tokens and hash of each level, in turns: one array keeps them together. */
    private final long[] levels;

    private final int totalTokens;
    private final int earlierTokens;

    private PrefixLevels(long[] levels, int totalTokens, int earlierTokens) {
        this.levels = levels;
        this.totalTokens = totalTokens;
        this.earlierTokens = earlierTokens;
    }

    /**
     * Copies the first entries of two arrays.
     *
     * @param count how many levels there are, 0 to {@value #MOST}
     * @param tokens tokens from the beginning to the end of each level, never falling; such as 256, 512, 700
     * @param hashes of each level
     * @param totalTokens of the whole prompt, estimated
     * @param earlierTokens those before the newest message of user or tool where the replica has answered the conversation
     *     before; 0 for a first turn
     */
    public static PrefixLevels of(int count, int[] tokens, long[] hashes, int totalTokens, int earlierTokens) {
        if (count < 0 || count > MOST) {
            throw new IllegalArgumentException("levels: " + count + " (expected: 0 to " + MOST + ")");
        }
        Objects.checkFromToIndex(0, count, tokens.length);
        Objects.checkFromToIndex(0, count, hashes.length);
        if (totalTokens < 0) {
            throw new IllegalArgumentException("total tokens: " + totalTokens + " (expected: >= 0)");
        }
        if (earlierTokens < 0 || earlierTokens > totalTokens) {
            throw new IllegalArgumentException(
                    "earlier tokens: " + earlierTokens + " (expected: 0 to " + totalTokens + ")");
        }
        long[] levels = new long[2 * count];
        int before = 0;
        for (int i = 0; i < count; i++) {
            if (tokens[i] < before || tokens[i] > totalTokens) {
                throw new IllegalArgumentException("tokens of level " + i + ": " + tokens[i] + " (expected: " + before
                        + " to " + totalTokens + ")");
            }
            before = tokens[i];
            levels[2 * i] = before;
            levels[2 * i + 1] = hashes[i];
        }
        return new PrefixLevels(levels, totalTokens, earlierTokens);
    }

    /** The same prompt under a cache salt, whose cached prefixes nobody without that salt can use. */
    public PrefixLevels salted(long salt) {
        if (salt == 0 || levels.length == 0) {
            return this;
        }
        long[] mixed = levels.clone();
        for (int i = 1; i < mixed.length; i += 2) {
            mixed[i] = CacheSalt.mix(mixed[i], salt);
        }
        return new PrefixLevels(mixed, totalTokens, earlierTokens);
    }

    public int count() {
        return levels.length / 2;
    }

    /** Tokens from the beginning to the end of a level. */
    public int tokens(int level) {
        return (int) levels[2 * level];
    }

    public long hash(int level) {
        return levels[2 * level + 1];
    }

    /** Tokens of the whole prompt. */
    public int totalTokens() {
        return totalTokens;
    }

    /** Tokens of a conversation's earlier turns, which a replica has seen; 0 for a first turn. */
    public int earlierTokens() {
        return earlierTokens;
    }

    public boolean isFollowUp() {
        return earlierTokens > 0;
    }

    @Override
    public String toString() {
        return count() + " levels of " + totalTokens + " tokens, " + earlierTokens + " of them earlier";
    }
}
