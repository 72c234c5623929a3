package routes.command.litellm;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A mapping of the file that knows which of its entries nobody has taken yet. */
final class Section {

    private final String path;
    private final Map<String, Object> left = new LinkedHashMap<>();

    private Section(String path) {
        this.path = path;
    }

    /** @throws IllegalArgumentException when it is there and no mapping */
    static Section of(String path, @Nullable Object value) {
        Section section = new Section(path);
        if (value instanceof Map<?, ?> map) {
            map.forEach((key, each) -> {
                if (each != null) {
                    section.left.put(String.valueOf(key), each);
                }
            });
        } else if (value != null) {
            throw new IllegalArgumentException((path.isEmpty() ? "the file" : path) + ": no mapping (expected: one)");
        }
        return section;
    }

    /** Where the entry stands, for reports. */
    String path(String key) {
        return path.isEmpty() ? key : path + "." + key;
    }

    /** Adds what it does not say itself. */
    void otherwise(Map<?, ?> defaults) {
        defaults.forEach((key, each) -> {
            if (each != null) {
                left.putIfAbsent(String.valueOf(key), each);
            }
        });
    }

    @Nullable
    Object take(String key) {
        return left.remove(key);
    }

    /** A single value as text; null when it is not there. */
    @Nullable
    String text(String key) {
        Object value = left.remove(key);
        if (value instanceof Map || value instanceof List) {
            throw new IllegalArgumentException(path(key) + ": not a single value (expected: one)");
        }
        return value == null ? null : value.toString().trim();
    }

    Section section(String key) {
        return of(path(key), left.remove(key));
    }

    List<Object> list(String key) {
        Object value = left.remove(key);
        if (value != null && !(value instanceof List)) {
            throw new IllegalArgumentException(path(key) + ": not a list (expected: one)");
        }
        return value == null ? List.of() : new ArrayList<>((List<?>) value);
    }

    /** Names of the entries that nobody took. */
    List<String> left() {
        return List.copyOf(left.keySet());
    }
}
