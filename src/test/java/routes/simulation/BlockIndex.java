package routes.simulation;

import java.util.Arrays;

/** Which prefixes a replica was sent lately, as far as a number of blocks goes. */
final class BlockIndex {

    private final int capacity;
    private final LongMap numbers = new LongMap();
    private final Recency recency = new Recency();
    private long[] ids = new long[1024];
    private int[] blocks = new int[1024];
    private int[] spare = new int[1024];
    private int spares;
    private int made;
    private int used;

    BlockIndex(int capacity) {
        this.capacity = capacity;
    }

    /** Blocks of the prompt that are known from its start. */
    int match(Chain prompt) {
        int known = 0;
        for (int i = 0; i < prompt.segments && numbers.get(prompt.ids[i], 0) != 0; i++) {
            known += prompt.blocks[i];
        }
        return known;
    }

    void add(Chain prompt) {
        for (int i = prompt.segments - 1; i >= 0; i--) {
            int number = (int) numbers.get(prompt.ids[i], 0);
            if (number == 0) {
                number = create(prompt.ids[i], prompt.blocks[i]);
            } else {
                recency.remove(number);
            }
            recency.append(number);
        }
        while (used > capacity) {
            int oldest = recency.oldest();
            recency.remove(oldest);
            numbers.remove(ids[oldest]);
            used -= blocks[oldest];
            spare[spares++] = oldest;
        }
    }

    private int create(long id, int length) {
        int number = spares > 0 ? spare[--spares] : ++made;
        if (number == ids.length) {
            ids = Arrays.copyOf(ids, 2 * number);
            blocks = Arrays.copyOf(blocks, 2 * number);
            spare = Arrays.copyOf(spare, 2 * number);
        }
        ids[number] = id;
        blocks[number] = length;
        numbers.put(id, number);
        used += length;
        return number;
    }
}
