package routes.simulation;

import java.util.Arrays;

/**
 * The key-value memory of one engine: blocks of 16 tokens, counted references, least recently used out first, the end of a
 * prefix before its beginning. Blocks of one segment are kept together, as a number of blocks from its start.
 */
final class PrefixCache {

    private final int capacity;
    private final LongMap numbers = new LongMap();
    private final Recency idle = new Recency();
    private long[] ids = new long[1024];
    private int[] held = new int[1024];
    private int[] computed = new int[1024];
    private int[] users = new int[1024];
    private int[] spare = new int[1024];
    private int spares;
    private int made;
    private int used;
    private int idleBlocks;

    PrefixCache(int capacity) {
        this.capacity = capacity;
    }

    /** Share of the memory that running requests hold. */
    double usage() {
        return (used - idleBlocks) / (double) capacity;
    }

    /** Tokens of the prompt that need not be computed; one always must. */
    int match(Turn turn) {
        Chain prompt = turn.prompt;
        int blocks = 0;
        for (int i = 0; i < prompt.segments; i++) {
            int number = (int) numbers.get(prompt.ids[i], 0);
            if (number == 0) {
                break;
            }
            blocks += Math.min(computed[number], prompt.blocks[i]);
            if (computed[number] < prompt.blocks[i]) {
                break;
            }
        }
        return Math.min(blocks, prompt.allBlocks - 1) * Chain.BLOCK_TOKENS;
    }

    /** Takes memory for prompt and answer; false, and nothing taken, when there isn't enough. */
    boolean admit(Turn turn) {
        Chain prompt = turn.prompt;
        int need = turn.answerBlocks();
        int idleOfPath = 0;
        int[] path = new int[prompt.segments];
        for (int i = 0; i < path.length; i++) {
            int number = (int) numbers.get(prompt.ids[i], 0);
            path[i] = number;
            need += prompt.blocks[i] - (number == 0 ? 0 : Math.min(held[number], prompt.blocks[i]));
            idleOfPath += number != 0 && users[number] == 0 ? held[number] : 0;
        }
        if (need > capacity - used + idleBlocks - idleOfPath) {
            return false;
        }
        turn.cachedTokens = match(turn);
        for (int i = 0; i < path.length; i++) {
            if (path[i] == 0) {
                path[i] = create(prompt.ids[i]);
            } else if (users[path[i]] == 0) {
                idle.remove(path[i]);
                idleBlocks -= held[path[i]];
            }
            users[path[i]]++;
        }
        evict(need - (capacity - used));
        for (int i = 0; i < path.length; i++) {
            held[path[i]] = Math.max(held[path[i]], prompt.blocks[i]);
        }
        used += need;
        turn.path = path;
        turn.markedSegments = 0;
        turn.markedBlocks = 0;
        return true;
    }

    private void evict(int blocks) {
        for (int left = blocks; left > 0; ) {
            int number = idle.oldest();
            int taken = Math.min(left, held[number]);
            left -= taken;
            used -= taken;
            idleBlocks -= taken;
            held[number] -= taken;
            computed[number] = Math.min(computed[number], held[number]);
            if (held[number] == 0) {
                idle.remove(number);
                numbers.remove(ids[number]);
                spare[spares++] = number;
            }
        }
    }

    /** More of the prompt has been computed: others may use it. */
    void computed(Turn turn) {
        int[] blocks = turn.prompt.blocks;
        int done = turn.prompt.allBlocks - (turn.prefillLeft + Chain.BLOCK_TOKENS - 1) / Chain.BLOCK_TOKENS;
        while (turn.markedSegments < turn.path.length) {
            int number = turn.path[turn.markedSegments];
            int length = blocks[turn.markedSegments];
            computed[number] = Math.max(computed[number], Math.min(length, done - turn.markedBlocks));
            if (turn.markedBlocks + length > done) {
                return;
            }
            turn.markedBlocks += length;
            turn.markedSegments++;
        }
    }

    /** The answer is complete: all stays as long as there is room, the answer too. */
    void release(Turn turn) {
        int answer = (int) numbers.get(turn.answerId, 0);
        if (answer == 0) {
            answer = create(turn.answerId);
            held[answer] = turn.answerBlocks();
            computed[answer] = held[answer];
            keep(answer);
        } else {
            used -= turn.answerBlocks();
        }
        for (int i = turn.path.length - 1; i >= 0; i--) {
            if (--users[turn.path[i]] == 0) {
                keep(turn.path[i]);
            }
        }
    }

    private void keep(int number) {
        idle.append(number);
        idleBlocks += held[number];
    }

    private int create(long id) {
        int number = spares > 0 ? spare[--spares] : ++made;
        if (number == ids.length) {
            ids = Arrays.copyOf(ids, 2 * number);
            held = Arrays.copyOf(held, 2 * number);
            computed = Arrays.copyOf(computed, 2 * number);
            users = Arrays.copyOf(users, 2 * number);
            spare = Arrays.copyOf(spare, 2 * number);
        }
        ids[number] = id;
        held[number] = 0;
        computed[number] = 0;
        users[number] = 0;
        numbers.put(id, number);
        return number;
    }
}
