package routes.quota;

import java.util.Map;

/**
 * The prices of models by their own names; {@code *} stands for all others. A model without a price is free.
 *
 * <p><b>Threading:</b> immutable.
 */
public final class Prices {

    /** The name of the price for all models that have none of their own. */
    public static final String ANY_OTHER = "*";

    public static final Prices NONE = new Prices(Map.of());

    private final Map<String, Price> byModel;
    private final Price otherwise;
    private final boolean allCost;

    public Prices(Map<String, Price> byModel) {
        this.byModel = Map.copyOf(byModel);
        otherwise = byModel.getOrDefault(ANY_OTHER, Price.FREE);
        allCost = !otherwise.isFree() && byModel.values().stream().noneMatch(Price::isFree);
    }

    public boolean isEmpty() {
        return byModel.isEmpty();
    }

    Price of(String model) {
        Price price = byModel.get(model);
        return price == null ? otherwise : price;
    }

    /** What a request costs at least, whichever model it asks for. */
    long leastCost() {
        return allCost ? 1 : 0;
    }
}
