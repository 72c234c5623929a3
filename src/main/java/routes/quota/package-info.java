/**
 * What each key and tenant may use, and what they have used: rates per minute, requests at once, budgets per day and month.
 *
 * <p>A {@link routes.quota.Quota} is what one key is allowed. It is made anew whenever keys are read, while the counters
 * behind it belong to the key's id and the tenant's name, live in {@link routes.quota.Quotas} and carry on. A request
 * reserves all that it needs in one step, or nothing, and holds a {@link routes.quota.Grant} until it ends: settled with
 * what it really used, or refunded.
 *
 * <p><b>Rates</b> are token buckets that hold a minute's worth and refill evenly: from rest a key may send a minute's worth
 * at once, and from then on as fast as the bucket refills. What an answer used beyond its reservation is a debt that
 * refills first. <b>Budgets</b> follow the calendar in UTC; tokens and money count in the day and month in which they
 * became known. A limit on tokens or money can be overshot by the answers that run at the moment, and by no more.
 */
@NullMarked
package routes.quota;

import org.jspecify.annotations.NullMarked;
