package routes.prompt;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;

/**
 * Writes random request bodies: valid, with every field of its right type, but with odd white space, escapes wherever
 * JSON allows them, keys in any order, and objects inside that hold the same keys again and twice.
 */
public final class JsonMaker {

    private static final String[] LOOK_ALIKES = {
        "model",
        "stream",
        "stream_options",
        "include_usage",
        "messages",
        "role",
        "user",
        "cache_salt",
        "n",
        "x",
        "",
        "a\"b\\",
        "é😀"
    };
    private static final String[] ROLES = {"system", "user", "assistant", "tool", "developer", "User"};
    private static final String[] SPACE = {" ", "\n", "\t", "\r\n", "    "};
    private static final String TEXT = "aZ09 _-/\\\\\\\"\"\b\f\n\r\t{}[]:,é€\u0000\u001f\u007f\u2028\ud7ff";

    private final Random random;
    private final StringBuilder json = new StringBuilder();

    private JsonMaker(Random random) {
        this.random = random;
    }

    public static Arbitrary<String> bodies() {
        return Arbitraries.randomValue(random -> new JsonMaker(random).body());
    }

    private String body() {
        List<Runnable> members = new ArrayList<>();
        members.add(() -> member("model", () -> string("m" + text(12))));
        maybe(members, "stream", () -> word("true", "true", "false", "null"));
        maybe(members, "stream_options", this::streamOptions);
        maybe(members, "n", () -> word("1", "null", "7", "1024"));
        maybe(members, "max_tokens", () -> word("0", "null", "100", "9223372036854775807"));
        maybe(members, "max_completion_tokens", () -> word("0", "null", "2048"));
        maybe(members, "priority", () -> word("0", "null", "-5", "-9223372036854775808", "12"));
        maybe(members, "user", () -> textOrOther(300));
        maybe(members, "prompt_cache_key", () -> textOrOther(20));
        maybe(members, "cache_salt", () -> textOrOther(20));
        maybe(members, "messages", this::messages);
        maybe(members, random.nextBoolean() ? "prompt" : "input", () -> value(3));
        maybe(members, "tools", () -> value(3));
        for (int i = random.nextInt(4); i > 0; i--) {
            String key = "x" + i + text(5);
            members.add(() -> member(key, () -> value(4)));
        }
        Collections.shuffle(members, random);
        space();
        object(members);
        return json.toString();
    }

    private void maybe(List<Runnable> members, String key, Runnable value) {
        if (random.nextInt(3) > 0) {
            members.add(() -> member(key, value));
        }
    }

    private void streamOptions() {
        if (random.nextInt(6) == 0) {
            word("null", "[]", "1", "\"x\"");
            return;
        }
        List<Runnable> members = new ArrayList<>();
        maybe(members, "include_usage", () -> word("true", "false", "null", "{\"include_usage\":1}"));
        maybe(members, "continuous_usage_stats", () -> word("true", "false"));
        object(members);
    }

    private void messages() {
        if (random.nextInt(12) == 0) {
            value(2);
            return;
        }
        List<Runnable> elements = new ArrayList<>();
        for (int i = random.nextInt(5); i > 0; i--) {
            elements.add(random.nextInt(10) == 0 ? () -> value(2) : this::message);
        }
        array(elements);
    }

    private void message() {
        List<Runnable> members = new ArrayList<>();
        maybe(members, "role", () -> string(ROLES[random.nextInt(ROLES.length)]));
        members.add(() -> member("content", () -> value(2)));
        Collections.shuffle(members, random);
        object(members);
    }

    private void value(int depth) {
        switch (random.nextInt(depth > 0 ? 5 : 3)) {
            case 0 -> word("true", "false", "null");
            case 1 -> word("0", "-1", "1.0", "1e-7", "9007199254740993", "-0.5E+3");
            case 2 -> string(text(random.nextInt(8) == 0 ? 200 : 10));
            case 3 -> {
                List<Runnable> members = new ArrayList<>();
                for (int i = random.nextInt(4); i > 0; i--) {
                    String key = LOOK_ALIKES[random.nextInt(LOOK_ALIKES.length)];
                    members.add(() -> member(key, () -> value(depth - 1)));
                }
                object(members);
            }
            default -> {
                List<Runnable> elements = new ArrayList<>();
                for (int i = random.nextInt(4); i > 0; i--) {
                    elements.add(() -> value(depth - 1));
                }
                array(elements);
            }
        }
    }

    private void textOrOther(int length) {
        if (random.nextInt(5) == 0) {
            value(1);
        } else {
            string(text(length));
        }
    }

    private void object(List<Runnable> members) {
        sequence('{', members, '}');
    }

    private void array(List<Runnable> elements) {
        sequence('[', elements, ']');
    }

    private void sequence(char open, List<Runnable> elements, char close) {
        json.append(open);
        space();
        for (int i = 0; i < elements.size(); i++) {
            if (i > 0) {
                json.append(',');
                space();
            }
            elements.get(i).run();
            space();
        }
        json.append(close);
    }

    private void member(String key, Runnable value) {
        string(key);
        space();
        json.append(':');
        space();
        value.run();
    }

    private void word(String... words) {
        json.append(words[random.nextInt(words.length)]);
    }

    private void space() {
        for (int i = random.nextInt(8) - 5; i > 0; i--) {
            json.append(SPACE[random.nextInt(SPACE.length)]);
        }
    }

    private String text(int maxLength) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(maxLength + 1); i > 0; i--) {
            if (random.nextInt(12) == 0) {
                text.append("😀");
            } else {
                text.append(TEXT.charAt(random.nextInt(TEXT.length())));
            }
        }
        return text.toString();
    }

    private void string(String text) {
        json.append('"');
        int escapes = random.nextInt(4) == 0 ? 3 : 30;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (random.nextInt(escapes) == 0) {
                json.append(String.format(random.nextBoolean() ? "\\u%04x" : "\\u%04X", (int) c));
            } else if (c == '"' || c == '\\' || c == '/' && random.nextBoolean()) {
                json.append('\\').append(c);
            } else if (c == '\n') {
                json.append("\\n");
            } else if (c == '\t') {
                json.append("\\t");
            } else if (c == '\b') {
                json.append("\\b");
            } else if (c == '\f') {
                json.append("\\f");
            } else if (c == '\r') {
                json.append("\\r");
            } else if (c < ' ' || Character.isSurrogate(c)) {
                // Half a pair as an escape beside half a pair as UTF-8 is no JSON.
                if (Character.isHighSurrogate(c) && random.nextBoolean()) {
                    json.append(c).append(text.charAt(++i));
                } else {
                    json.append(String.format("\\u%04x", (int) c));
                }
            } else {
                json.append(c);
            }
        }
        json.append('"');
    }
}
