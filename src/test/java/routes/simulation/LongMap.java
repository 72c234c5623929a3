package routes.simulation;

/** A map from long to long without boxes. Zero is no key. */
final class LongMap {

    private long[] keys = new long[1024];
    private long[] values = new long[1024];
    private int size;

    long get(long key, long absent) {
        int at = find(key);
        return keys[at] == key ? values[at] : absent;
    }

    void put(long key, long value) {
        int at = find(key);
        if (keys[at] != key) {
            keys[at] = key;
            if (++size * 2 > keys.length) {
                grow();
                at = find(key);
            }
        }
        values[at] = value;
    }

    /** Removes the key, and closes the gap by moving those behind it that may stand nearer to their place. */
    void remove(long key) {
        int gap = find(key);
        if (keys[gap] != key) {
            return;
        }
        size--;
        int mask = keys.length - 1;
        for (int next = gap + 1 & mask; keys[next] != 0; next = next + 1 & mask) {
            if ((next - place(keys[next]) & mask) >= (next - gap & mask)) {
                keys[gap] = keys[next];
                values[gap] = values[next];
                gap = next;
            }
        }
        keys[gap] = 0;
    }

    /** Takes bits out of every value. */
    void clearBits(long bits) {
        for (int i = 0; i < values.length; i++) {
            values[i] &= ~bits;
        }
    }

    private int find(long key) {
        int at = place(key);
        while (keys[at] != 0 && keys[at] != key) {
            at = at + 1 & keys.length - 1;
        }
        return at;
    }

    private int place(long key) {
        return (int) (key ^ key >>> 32) & keys.length - 1;
    }

    private void grow() {
        long[] oldKeys = keys;
        long[] oldValues = values;
        keys = new long[oldKeys.length * 2];
        values = new long[oldKeys.length * 2];
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldKeys[i] != 0) {
                int at = find(oldKeys[i]);
                keys[at] = oldKeys[i];
                values[at] = oldValues[i];
            }
        }
    }
}
