package routes.command.litellm;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import routes.command.Environment;

/** Reads values as LiteLLM means them: {@code os.environ/NAME}, seconds, prices of one token. */
final class Values {

    static final String VARIABLE = "os.environ/";

    private static final BigDecimal MILLION = BigDecimal.valueOf(1_000_000);
    private static final int DECIMALS = 9;

    private final Environment environment;
    private final Report report;
    /** Values to their property names. */
    private final Map<String, String> secrets = new LinkedHashMap<>();

    Values(Environment environment, Report report) {
        this.environment = environment;
        this.report = report;
    }

    /** Secrets that stood in the file itself, by the names of the properties that will hold them. */
    Map<String, String> secrets() {
        Map<String, String> byName = new LinkedHashMap<>();
        secrets.forEach((value, name) -> byName.put(name, value));
        return byName;
    }

    /** A placeholder that the gateway replaces by the value: of its environment, or of a property. */
    String placeholder(String value) {
        if (value.startsWith(VARIABLE)) {
            String name = value.substring(VARIABLE.length());
            report.variable(name);
            return "{{env:" + name + "}}";
        }
        return "{{" + secrets.computeIfAbsent(value, each -> "provider-key-" + (secrets.size() + 1)) + "}}";
    }

    /** The value itself, looked up here and now; null when the variable isn't set. */
    @Nullable
    String resolved(String value) {
        return value.startsWith(VARIABLE) ? environment.get(value.substring(VARIABLE.length())) : value;
    }

    /** {@code 30} or {@code 0.5} as {@code 30s} or {@code 500ms}; null, and reported, when it is no duration. */
    @Nullable
    String duration(Section section, String key) {
        BigDecimal seconds = number(section, key);
        if (seconds == null) {
            return null;
        }
        long millis = seconds.multiply(BigDecimal.valueOf(1000))
                .setScale(0, RoundingMode.HALF_UP)
                .longValue();
        if (millis < 1 || millis > 86_400_000L) {
            report.missing(section.path(key), seconds.toPlainString() + " s (expected: more than 0, at most a day)");
            return null;
        }
        return millis % 1000 == 0 ? millis / 1000 + "s" : millis + "ms";
    }

    /** A number; null when it isn't there, or, which is reported, is none. */
    @Nullable
    BigDecimal number(Section section, String key) {
        String text = section.text(key);
        String resolved = text == null ? null : resolved(text);
        if (text == null) {
            return null;
        }
        if (resolved != null) {
            try {
                return new BigDecimal(resolved);
            } catch (NumberFormatException e) {
                report.missing(section.path(key), "not a number (expected: one)");
                return null;
            }
        }
        report.missing(section.path(key), text + " is not set here (expected: import where it is)");
        return null;
    }

    /** A price of one token as that of a million. */
    @Nullable
    BigDecimal perMillion(Section section, String key) {
        BigDecimal one = number(section, key);
        return one == null
                ? null
                : new BigDecimal(one.multiply(MILLION)
                        .setScale(DECIMALS, RoundingMode.HALF_UP)
                        .stripTrailingZeros()
                        .toPlainString());
    }
}
