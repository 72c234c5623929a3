package routes.telemetry;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import routes.quota.Money;
import routes.quota.Quotas;
import routes.quota.Use;

/** The console's {@code keys}: what the keys and tenants with limits have used, by the key's id; never a key. */
public final class KeysSection implements ConsoleSection {

    private static final int MOST = 100;

    private final Quotas quotas;

    public KeysSection(Quotas quotas) {
        this.quotas = quotas;
    }

    @Override
    public String name() {
        return "keys";
    }

    @Override
    public Object json() {
        List<Use> all = quotas.use();
        List<Object> most = new ArrayList<>();
        all.stream().limit(MOST).forEach(use -> most.add(show(use)));
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("withLimits", all.size());
        shown.put("mostUsed", most);
        return shown;
    }

    private static Map<String, Object> show(Use use) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put(use.isTenant() ? "tenant" : "key", use.name());
        shown.put("running", use.running());
        shown.put("tokensToday", use.tokensToday());
        shown.put("tokensThisMonth", use.tokensThisMonth());
        shown.put("moneyToday", Money.text(use.moneyToday()));
        shown.put("moneyThisMonth", Money.text(use.moneyThisMonth()));
        return shown;
    }
}
