package routes.simulation;

import java.util.Arrays;

/** A list of small numbers from the least to the most recently used. Number 0 is its head and never used. */
final class Recency {

    private int[] older = new int[1024];
    private int[] newer = new int[1024];

    /** The least recently used number; 0 when there is none. */
    int oldest() {
        return newer[0];
    }

    void append(int number) {
        if (number >= older.length) {
            older = Arrays.copyOf(older, 2 * number);
            newer = Arrays.copyOf(newer, 2 * number);
        }
        int last = older[0];
        newer[last] = number;
        older[number] = last;
        newer[number] = 0;
        older[0] = number;
    }

    void remove(int number) {
        newer[older[number]] = newer[number];
        older[newer[number]] = older[number];
    }
}
