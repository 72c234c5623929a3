package routes.quota;

import java.time.Clock;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The counters of all keys and tenants that have limits, by the key's id and the tenant's name. Lives as long as the
 * gateway: keys that are read again find their counters.
 *
 * <p><b>Threading:</b> any thread.
 */
public final class Quotas {

    private final LongSupplier nanoClock;
    private final InstantSource calendar;
    private final Map<String, Account> keys = new ConcurrentHashMap<>();
    private final Map<String, Account> tenants = new ConcurrentHashMap<>();
    private final LongAdder running = new LongAdder();
    private final Map<Term, LongAdder> refusals = new EnumMap<>(Term.class);

    public Quotas() {
        this(System::nanoTime, Clock.systemUTC());
    }

    /**
     * @param nanoClock monotonic, for rates, such as {@link System#nanoTime}
     * @param calendar for the days and months of budgets
     */
    public Quotas(LongSupplier nanoClock, InstantSource calendar) {
        this.nanoClock = nanoClock;
        this.calendar = calendar;
        for (Term term : Term.values()) {
            if (term.isLimit()) {
                refusals.put(term, new LongAdder());
            }
        }
    }

    /**
     * The quota of a key under these terms, on the counters that the key and its tenant have already.
     *
     * @param own what is agreed with the key
     * @param shared what is agreed with all keys of the tenant together
     */
    public Quota quota(String keyId, Terms own, String tenant, Terms shared, Prices prices) {
        Holder key = own.limitAnything() ? new Holder(false, own, account(keys, keyId)) : null;
        Holder group = shared.limitAnything() ? new Holder(true, shared, account(tenants, tenant)) : null;
        Standing standing = Standing.of(own, shared);
        if (key == null && group == null) {
            return standing.equals(Standing.DEFAULT)
                    ? Quota.UNLIMITED
                    : new Quota(null, null, null, Prices.NONE, standing);
        }
        return new Quota(this, key, group, prices, standing);
    }

    private Account account(Map<String, Account> in, String name) {
        return in.computeIfAbsent(name, unused -> new Account(nanoClock.getAsLong()));
    }

    /**
     * Forgets keys and tenants that are no longer configured, unless they have requests running or have used something this
     * month: who comes back, comes back to what was used.
     */
    public void retain(Set<String> keyIds, Set<String> tenantNames) {
        retain(keys, keyIds);
        retain(tenants, tenantNames);
    }

    private void retain(Map<String, Account> in, Set<String> names) {
        long now = calendar.millis();
        in.entrySet().removeIf(entry -> !names.contains(entry.getKey()) && isForgettable(entry.getValue(), now));
    }

    private static boolean isForgettable(Account account, long nowMillis) {
        synchronized (account) {
            return account.isForgettable(nowMillis);
        }
    }

    /** Requests that hold one of a key's concurrent requests; those of keys without limits are not counted. */
    public long running() {
        return running.sum();
    }

    /** Requests that each limit has refused, by the limit's name in {@code keys.yaml}; a request counts once. */
    public Map<String, LongSupplier> refusals() {
        Map<String, LongSupplier> byName = new LinkedHashMap<>();
        refusals.forEach((term, count) -> byName.put(term.label(), count::sum));
        return byName;
    }

    void refused(Term term) {
        LongAdder count = refusals.get(term);
        if (count != null) {
            count.increment();
        }
    }

    /** What the keys and tenants with limits have used, those that have used most this month first. */
    public List<Use> use() {
        long now = calendar.millis();
        List<Use> all = new ArrayList<>();
        keys.forEach((id, account) -> all.add(Use.of(id, false, account, now)));
        tenants.forEach((name, account) -> all.add(Use.of(name, true, account, now)));
        all.sort(Comparator.comparingLong(Use::tokensThisMonth)
                .reversed()
                .thenComparing(Use::isTenant)
                .thenComparing(Use::name));
        return all;
    }

    /** Keys and tenants that have counters. */
    public int accounts() {
        return keys.size() + tenants.size();
    }

    @Nullable
    Account keyAccount(String keyId) {
        return keys.get(keyId);
    }

    Ask ask(int requests, long tokens, long money) {
        return new Ask(requests, tokens, money, nanoClock.getAsLong(), calendar.millis());
    }

    void began() {
        running.increment();
    }

    void ended() {
        running.decrement();
    }
}
