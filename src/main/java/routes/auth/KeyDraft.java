package routes.auth;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A key that is to be made, as {@code keys.yaml} will say it.
 *
 * @param id null for the tenant's name and a number
 * @param models all when empty
 * @param expires a date or an instant; null for never
 * @param plan null for none
 * @param limits names and values of {@link routes.quota.Term}s
 * @param salted as {@link KeyEntry#salted()}
 */
public record KeyDraft(
        @Nullable String id,
        String tenant,
        List<String> models,
        @Nullable String expires,
        @Nullable String plan,
        Map<String, String> limits,
        boolean salted) {

    /** A key of a tenant with nothing else said. */
    public static KeyDraft of(String id, String tenant) {
        return new KeyDraft(id, tenant, List.of(), null, null, Map.of(), false);
    }

    /** Its fields in the order in which they are written. */
    List<String> fields(String chosenId, Sha256 hash) {
        List<String> fields = new ArrayList<>();
        fields.add("id: " + plainOrQuoted(chosenId));
        fields.add("tenant: " + plainOrQuoted(tenant));
        fields.add("sha256: \"" + hash.hex() + '"');
        if (!models.isEmpty()) {
            fields.add("models: " + models.stream().map(KeyDraft::quoted).collect(Collectors.joining(", ", "[", "]")));
        }
        if (expires != null) {
            fields.add("expires: " + quoted(expires));
        }
        if (plan != null) {
            fields.add("plan: " + plainOrQuoted(plan));
        }
        if (!limits.isEmpty()) {
            fields.add("limits: "
                    + limits.entrySet().stream()
                            .map(limit -> plainOrQuoted(limit.getKey()) + ": " + limit.getValue())
                            .collect(Collectors.joining(", ", "{ ", " }")));
        }
        if (salted) {
            fields.add("cache-salt: tenant");
        }
        return fields;
    }

    private static String plainOrQuoted(String text) {
        return text.matches("[A-Za-z][A-Za-z0-9._/@-]*") && !text.matches("(?i)null|true|false") ? text : quoted(text);
    }

    private static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        text.codePoints().forEach(each -> {
            if (each < ' ') {
                out.append(String.format("\\x%02x", each));
            } else {
                out.append(each == '"' || each == '\\' ? "\\" : "").appendCodePoint(each);
            }
        });
        return out.append('"').toString();
    }
}
