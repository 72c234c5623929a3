package routes.quota;

import java.math.BigDecimal;
import java.util.EnumMap;
import java.util.Map;

/** Terms and prices in short, for tests. */
final class Agreed {

    /** 1 for a million tokens of a prompt, 0.10 when cached, 10 for a million of an answer. */
    static final Price PRICE = Price.perMillion(BigDecimal.ONE, new BigDecimal("0.10"), BigDecimal.valueOf(10));

    static final Prices PRICES = new Prices(Map.of("m", PRICE));

    private Agreed() {}

    static Terms terms(Object... termsAndValues) {
        Map<Term, Long> values = new EnumMap<>(Term.class);
        for (int i = 0; i < termsAndValues.length; i += 2) {
            values.put((Term) termsAndValues[i], ((Number) termsAndValues[i + 1]).longValue());
        }
        return Terms.of(values);
    }

    /** In billionths. */
    static long money(String amount) {
        return Money.parse(new BigDecimal(amount));
    }
}
