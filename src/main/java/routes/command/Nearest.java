package routes.command;

import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** Finds what somebody may have meant: the known word with the fewest letters changed. */
public final class Nearest {

    private Nearest() {}

    /** The nearest of the known words, or null when none is near. */
    public static @Nullable String to(String word, Collection<String> known) {
        String nearest = null;
        int least = Math.max(1, word.length() / 4) + 1;
        for (String each : known) {
            int distance = distance(word, each);
            if (distance < least) {
                least = distance;
                nearest = each;
            }
        }
        return nearest;
    }

    /** Levenshtein's. */
    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int changed = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(changed, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.length()];
    }
}
