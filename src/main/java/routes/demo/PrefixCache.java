package routes.demo;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The prefixes of prompts seen lately, the least recently used forgotten first: a small picture of vLLM's prefix cache,
 * word by word instead of block by block.
 *
 * <p><b>Threading</b>: event-loop confined.
 */
final class PrefixCache {

    private final int limit;
    private final Map<Long, Boolean> seen = new LinkedHashMap<>(64, 0.75f, true);

    PrefixCache(int limit) {
        this.limit = limit;
    }

    /** Words of the longest prefix seen before, but never the whole prompt; remembers all of its prefixes. */
    int visit(Prompt prompt) {
        int cached = 0;
        while (cached < prompt.prefixes() && seen.containsKey(prompt.prefix(cached + 1))) {
            cached++;
        }
        // the shortest last, so that a chain of prefixes is forgotten from its far end
        for (int words = prompt.prefixes(); words > 0; words--) {
            seen.put(prompt.prefix(words), Boolean.TRUE);
        }
        Iterator<Long> oldest = seen.keySet().iterator();
        for (int excess = seen.size() - limit; excess > 0; excess--) {
            oldest.next();
            oldest.remove();
        }
        return Math.max(0, Math.min(cached, prompt.tokens() - 1));
    }
}
