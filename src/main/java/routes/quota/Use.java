package routes.quota;

/**
 * What a key or a tenant has used of what its limits count, at one moment.
 *
 * @param name the key's id, or the tenant's name
 * @param isTenant whether it is a tenant
 * @param running requests that run
 * @param moneyToday in billionths, as all money; {@link Money#text} writes it
 */
public record Use(
        String name,
        boolean isTenant,
        int running,
        long tokensToday,
        long tokensThisMonth,
        long moneyToday,
        long moneyThisMonth) {

    static Use of(String name, boolean isTenant, Account account, long nowMillis) {
        synchronized (account) {
            account.turnTo(nowMillis);
            return new Use(
                    name,
                    isTenant,
                    account.running(),
                    account.day.tokens(),
                    account.month.tokens(),
                    account.day.money(),
                    account.month.money());
        }
    }
}
