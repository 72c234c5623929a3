package routes.demo;

import java.util.Arrays;

/**
 * The words of a prompt, each counted as one token, with a hash of every prefix up to {@link #REMEMBERED} words. A salt
 * (the request's {@code cache_salt}) keeps its prefixes apart from all others.
 */
final class Prompt {

    static final int REMEMBERED = 4096;

    private long hash;
    private long[] prefixes = new long[64];
    private int tokens;

    Prompt(String salt) {
        hash = mix(salt.hashCode());
    }

    /** Adds the words of a text. */
    Prompt text(String text) {
        int i = 0;
        while (i < text.length()) {
            while (i < text.length() && Character.isWhitespace(text.charAt(i))) {
                i++;
            }
            long word = 0;
            int begin = i;
            while (i < text.length() && !Character.isWhitespace(text.charAt(i))) {
                word = word * 31 + text.charAt(i++);
            }
            if (i > begin) {
                token(word);
            }
        }
        return this;
    }

    /** Adds one token by its number. */
    Prompt token(long id) {
        hash = mix(hash * 31 + id);
        if (tokens < REMEMBERED) {
            if (tokens == prefixes.length) {
                prefixes = Arrays.copyOf(prefixes, tokens * 2);
            }
            prefixes[tokens] = hash;
        }
        tokens++;
        return this;
    }

    int tokens() {
        return tokens;
    }

    /** Number of prefixes that have a hash: all, or the first {@link #REMEMBERED}. */
    int prefixes() {
        return Math.min(tokens, REMEMBERED);
    }

    /** Hash of the first {@code words} words, from 1. */
    long prefix(int words) {
        return prefixes[words - 1];
    }

    /** Hash of the whole prompt. */
    long seed() {
        return hash;
    }

    private static long mix(long value) {
        long z = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }
}
