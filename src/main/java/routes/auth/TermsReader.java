package routes.auth;

import java.math.BigDecimal;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.Tag;
import routes.quota.Money;
import routes.quota.Price;
import routes.quota.Prices;
import routes.quota.Term;
import routes.quota.Terms;

/** Reads the parts of {@code keys.yaml} that are about limits: plans, the limits of keys and tenants, and prices. */
final class TermsReader {

    /** Longer than every number that makes sense. */
    private static final int MAX_DIGITS = 32;

    private static final BigDecimal MAX_PRICE = BigDecimal.valueOf(1_000_000);
    private static final Set<String> TERMS = terms();
    private static final Set<String> PRICE = Set.of("input", "cached-input", "output");

    private final YamlReader yaml;
    private final Prices prices;
    private final Map<String, Terms> plans = new HashMap<>();

    /**
     * @param prices null when there are none
     * @param plans null when there are none
     */
    TermsReader(YamlReader yaml, @Nullable Node prices, @Nullable Node plans) {
        this.yaml = yaml;
        this.prices = prices == null ? Prices.NONE : prices(prices);
        if (plans != null) {
            yaml.named(plans, "plan", "a mapping of plans, each with its limits")
                    .forEach((name, node) -> this.plans.put(name, limits(node, "plan '" + name + "': ")));
        }
    }

    private static Set<String> terms() {
        Set<String> labels = new LinkedHashSet<>();
        for (Term term : Term.values()) {
            labels.add(term.label());
        }
        return labels;
    }

    Prices prices() {
        return prices;
    }

    /** What a key or a tenant names: a plan, and limits of its own, which count where both say something. */
    Terms terms(@Nullable Node plan, @Nullable Node limits, String where) {
        Terms base = plan == null ? Terms.NONE : plan(plan, where);
        return limits == null ? base : limits(limits, where + "limits: ").over(base);
    }

    private Terms plan(Node node, String where) {
        String name = yaml.name(node, where + "plan: ");
        Terms terms = plans.get(name);
        if (terms == null) {
            throw yaml.invalid(node, where + "plan: there is no '" + name + "' (expected: the name of one of 'plans')");
        }
        return terms;
    }

    private Terms limits(Node node, String where) {
        Map<String, Node> fields =
                yaml.fields(node, where, "a mapping such as requests-per-minute: 60", TERMS, String.join(", ", TERMS));
        Map<Term, Long> values = new EnumMap<>(Term.class);
        for (Term term : Term.values()) {
            Node value = fields.get(term.label());
            if (value != null) {
                values.put(term, value(value, term, where + term.label() + ": "));
            }
        }
        return Terms.of(values);
    }

    private long value(Node node, Term term, String where) {
        return switch (term.kind()) {
            case COUNT -> count(node, term, where);
            case MONEY -> money(node, term, where);
            case ON_EXHAUSTED -> onExhausted(node, where);
        };
    }

    private long count(Node node, Term term, String where) {
        String text = yaml.text(node, where);
        String range = " (expected: a whole number from " + term.min() + " to " + term.max() + ")";
        if (!node.getTag().equals(Tag.INT) || text.length() > MAX_DIGITS) {
            throw yaml.invalid(node, where + "not a whole number" + range);
        }
        BigDecimal number = new BigDecimal(text);
        if (isOutside(number, BigDecimal.valueOf(term.min()), BigDecimal.valueOf(term.max()))) {
            throw yaml.invalid(node, where + number.toPlainString() + range);
        }
        return number.longValueExact();
    }

    private long money(Node node, Term term, String where) {
        if (prices.isEmpty()) {
            throw yaml.invalid(node, where + "nothing has a price (expected: 'prices' of models in this file)");
        }
        String max = Money.text(term.max());
        return Money.parse(decimal(
                node,
                where,
                "a decimal number above 0, to " + max,
                BigDecimal.valueOf(1, Money.DECIMALS),
                new BigDecimal(max)));
    }

    private BigDecimal decimal(Node node, String where, String expected, BigDecimal min, BigDecimal max) {
        String text = yaml.text(node, where);
        String range = " (expected: " + expected + ", with at most " + Money.DECIMALS + " decimals)";
        if (!(node.getTag().equals(Tag.INT) || node.getTag().equals(Tag.FLOAT)) || text.length() > MAX_DIGITS) {
            throw yaml.invalid(node, where + "not a number" + range);
        }
        BigDecimal number;
        try {
            number = new BigDecimal(text);
        } catch (NumberFormatException e) {
            throw yaml.invalid(node, where + "not a number" + range);
        }
        if (isOutside(number, min, max)
                || number.signum() != 0 && number.stripTrailingZeros().scale() > Money.DECIMALS) {
            throw yaml.invalid(node, where + text + range);
        }
        return number;
    }

    private static boolean isOutside(BigDecimal number, BigDecimal min, BigDecimal max) {
        return number.compareTo(min) < 0 || number.compareTo(max) > 0;
    }

    private long onExhausted(Node node, String where) {
        return switch (yaml.text(node, where)) {
            case "finish" -> 0;
            case "end" -> 1;
            default -> throw yaml.invalid(node, where + "neither of the two (expected: finish or end)");
        };
    }

    private Prices prices(Node node) {
        Map<String, Price> byModel = new HashMap<>();
        yaml.byModel(node, "price", "a mapping of models, each with input and output")
                .forEach((model, price) -> byModel.put(model, price(price, "price of '" + model + "': ")));
        return new Prices(byModel);
    }

    private Price price(Node node, String where) {
        Map<String, Node> fields =
                yaml.fields(node, where, "a mapping with input and output", PRICE, "input, cached-input or output");
        BigDecimal input = amount(node, fields.get("input"), where, "input");
        Node cached = fields.get("cached-input");
        return Price.perMillion(
                input,
                cached == null ? input : amount(node, cached, where, "cached-input"),
                amount(node, fields.get("output"), where, "output"));
    }

    private BigDecimal amount(Node price, @Nullable Node node, String where, String field) {
        if (node == null) {
            throw yaml.invalid(price, where + "without " + field + " (expected: input and output, per million tokens)");
        }
        return decimal(
                node, where + field + ": ", "a decimal number from 0 to " + MAX_PRICE, BigDecimal.ZERO, MAX_PRICE);
    }
}
