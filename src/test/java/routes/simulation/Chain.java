package routes.simulation;

import java.util.Arrays;

/**
 * A prompt as a growing chain of segments. A segment's id stands for its content and all that comes before it, so two
 * prompts have a prefix in common exactly as far as their ids are equal.
 */
final class Chain {

    static final int BLOCK_TOKENS = 16;

    long[] ids = new long[8];
    int[] blocks = new int[8];
    int segments;
    int allBlocks;
    /** Segments of the system prompt and the tools. */
    int systemEnd;
    /** Segments up to the end of the first user message. */
    int firstEnd;
    /** Segments before the newest messages: on a follow-up turn a replica may have seen them. */
    int seenEnd;

    Chain copy() {
        Chain copy = new Chain();
        copy.ids = Arrays.copyOf(ids, ids.length);
        copy.blocks = Arrays.copyOf(blocks, blocks.length);
        copy.segments = segments;
        copy.allBlocks = allBlocks;
        copy.systemEnd = systemEnd;
        copy.firstEnd = firstEnd;
        copy.seenEnd = seenEnd;
        return copy;
    }

    Chain add(long content, int tokens) {
        if (segments == ids.length) {
            ids = Arrays.copyOf(ids, 2 * segments);
            blocks = Arrays.copyOf(blocks, 2 * segments);
        }
        ids[segments] = after(content);
        blocks[segments] = blocksFor(tokens);
        allBlocks += blocks[segments++];
        return this;
    }

    /** The id of a segment that would come next. */
    long after(long content) {
        return hash(segments == 0 ? 0 : ids[segments - 1], content);
    }

    int tokens() {
        return allBlocks * BLOCK_TOKENS;
    }

    int tokensUpTo(int end) {
        int sum = 0;
        for (int i = 0; i < end; i++) {
            sum += blocks[i];
        }
        return sum * BLOCK_TOKENS;
    }

    boolean isFollowUp() {
        return seenEnd >= firstEnd;
    }

    long systemId() {
        return ids[systemEnd - 1];
    }

    long firstId() {
        return ids[firstEnd - 1];
    }

    static int blocksFor(int tokens) {
        return Math.max(1, (tokens + BLOCK_TOKENS / 2) / BLOCK_TOKENS);
    }

    /** A hash that is never 0. */
    static long hash(long a, long b) {
        long z = mix(a * 0x9e3779b97f4a7c15L + mix(b + 0x632be59bd9b4e019L));
        return z == 0 ? 1 : z;
    }

    private static long mix(long value) {
        long z = (value ^ value >>> 33) * 0xff51afd7ed558ccdL;
        z = (z ^ z >>> 33) * 0xc4ceb9fe1a85ec53L;
        return z ^ z >>> 33;
    }
}
