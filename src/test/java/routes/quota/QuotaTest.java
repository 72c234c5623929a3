package routes.quota;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static routes.quota.Agreed.money;
import static routes.quota.Agreed.terms;
import static routes.quota.Term.CONCURRENT_REQUESTS;
import static routes.quota.Term.MONEY_PER_DAY;
import static routes.quota.Term.MONEY_PER_MONTH;
import static routes.quota.Term.ON_EXHAUSTED;
import static routes.quota.Term.PRIORITY;
import static routes.quota.Term.REQUESTS_PER_MINUTE;
import static routes.quota.Term.TOKENS_PER_DAY;
import static routes.quota.Term.TOKENS_PER_MINUTE;
import static routes.quota.Term.TOKENS_PER_MONTH;
import static routes.quota.Term.WEIGHT;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import routes.error.ErrorCode;
import routes.error.GatewayException;

final class QuotaTest {

    private final FakeTime time = new FakeTime();
    private final Quotas quotas = new Quotas(time, time);

    // ---- requests per minute

    @Test
    void theThirdOfTwoRequestsPerMinuteIsRefusedUntilOneHasRefilled() throws GatewayException {
        Quota key = key(terms(REQUESTS_PER_MINUTE, 2));
        key.reserve("m", 1, 10);
        key.reserve("m", 1, 10);

        GatewayException refused = refused(key, 1, 10);

        assertThat(refused.code()).isEqualTo(ErrorCode.RATE_LIMIT_EXCEEDED);
        assertThat(refused.retryAfterSeconds()).isEqualTo(30);
        assertThat(refused)
                .hasMessage("This key may use 2 requests per minute, and what is left does not cover this"
                        + " request; it will in 30 s.");
        assertThat(refused.headers())
                .containsExactly(
                        entry("x-ratelimit-limit-requests", "2"),
                        entry("x-ratelimit-remaining-requests", "0"),
                        entry("x-ratelimit-reset-requests", "1m0s"));
        time.pass(Duration.ofSeconds(30));
        key.reserve("m", 1, 10);
        assertThat(refused(key, 1, 10).retryAfterSeconds()).isEqualTo(30);
    }

    @Test
    void aKeyAtRestHasAMinuteAndNoMore() throws GatewayException {
        Quota key = key(terms(REQUESTS_PER_MINUTE, 7));
        time.pass(Duration.ofDays(300));

        for (int i = 0; i < 7; i++) {
            key.reserve("m", 1, 1).releaseConcurrency();
        }

        assertThat(refused(key, 1, 1).retryAfterSeconds()).isEqualTo(9);
    }

    @Test
    void aThreadThatReadTheClockEarlierFindsNothingFuller() throws GatewayException {
        Quota key = key(terms(REQUESTS_PER_MINUTE, 2));
        key.reserve("m", 2, 10);
        time.passNanos(-10_000_000_000L);

        assertThat(refused(key, 1, 10).retryAfterSeconds()).isEqualTo(30);
        time.passNanos(10_000_000_000L);
        assertThat(refused(key, 1, 10).retryAfterSeconds()).isEqualTo(30);
    }

    @Test
    void aRefundGivesBackAllAnswers() throws GatewayException {
        Quota key = key(terms(REQUESTS_PER_MINUTE, 5, TOKENS_PER_MINUTE, 10));
        key.reserve("m", 5, 10).refund();

        key.reserve("m", 5, 10);
    }

    @Test
    void eachAnswerCountsAsARequest() throws GatewayException {
        Quota key = key(terms(REQUESTS_PER_MINUTE, 5));
        key.reserve("m", 3, 10);

        assertThat(refused(key, 3, 10).retryAfterSeconds()).isEqualTo(12);
        key.reserve("m", 2, 10);
    }

    @Test
    void moreAnswersThanTheLimitAreNotToldToWait() {
        GatewayException refused = refused(key(terms(REQUESTS_PER_MINUTE, 2)), 5, 10);

        assertThat(refused.code()).isEqualTo(ErrorCode.RATE_LIMIT_EXCEEDED);
        assertThat(refused.retryAfterSeconds()).isZero();
        assertThat(refused.headers()).contains(entry("x-should-retry", "false"));
        assertThat(refused)
                .hasMessage("This request counts as 5, one for each answer. This key may use 2 requests per minute."
                        + " It can not be admitted; ask for fewer answers.");
    }

    // ---- tokens per minute

    @Test
    void tokensAreReservedByTheEstimateAndSettledByWhatWasUsed() throws GatewayException {
        Quota key = key(terms(TOKENS_PER_MINUTE, 1000));
        Grant grant = key.reserve("m", 1, 800);
        assertThat(refused(key, 1, 400).code()).isEqualTo(ErrorCode.TOKEN_LIMIT_EXCEEDED);

        grant.settle(100, 0, 50);

        assertThat(refused(key, 1, 851).retryAfterSeconds()).isEqualTo(1);
        key.reserve("m", 1, 850);
    }

    @Test
    void whatRefilledWhileTheAnswerRanIsNotLostToItsSettlement() throws GatewayException {
        Quota key = key(terms(TOKENS_PER_MINUTE, 600));
        Grant grant = key.reserve("m", 1, 100);
        time.pass(Duration.ofMinutes(5));

        grant.settle(100, 0, 200);

        assertThat(refused(key, 1, 401).retryAfterSeconds()).isOne();
        key.reserve("m", 1, 400);
    }

    @Test
    void whatWasUsedBeyondTheLimitIsADebtThatRefillsFirst() throws GatewayException {
        Quota key = key(terms(TOKENS_PER_MINUTE, 600));
        key.reserve("m", 1, 100).settle(100, 0, 1700);

        GatewayException refused = refused(key, 1, 1);

        assertThat(refused.retryAfterSeconds()).isEqualTo(121);
        assertThat(refused.headers())
                .containsExactly(
                        entry("x-ratelimit-limit-tokens", "600"),
                        entry("x-ratelimit-remaining-tokens", "0"),
                        entry("x-ratelimit-reset-tokens", "3m0s"));
        time.pass(Duration.ofSeconds(120));
        assertThat(refused(key, 1, 1).code()).isEqualTo(ErrorCode.TOKEN_LIMIT_EXCEEDED);
        time.pass(Duration.ofMillis(100));
        key.reserve("m", 1, 1);
    }

    @Test
    void aPromptLargerThanTheLimitIsNotToldToWait() {
        GatewayException refused = refused(key(terms(TOKENS_PER_MINUTE, 1000)), 1, 1001);

        assertThat(refused.code()).isEqualTo(ErrorCode.TOKEN_LIMIT_EXCEEDED);
        assertThat(refused.retryAfterSeconds()).isZero();
        assertThat(refused)
                .hasMessage("This prompt has about 1001 tokens. This key may use 1000 tokens per minute."
                        + " It can not be admitted; make it shorter.");
    }

    @Test
    void absurdNumbersOverflowNothing() throws GatewayException {
        Quota key = key(terms(TOKENS_PER_MINUTE, TOKENS_PER_MINUTE.max(), TOKENS_PER_DAY, 5));
        key.reserve("m", 1, 1).settle(Long.MAX_VALUE / 2, -1, Long.MAX_VALUE / 4);

        assertThat(refused(key, 1, Long.MAX_VALUE).retryAfterSeconds()).isZero();
        assertThat(refused(key, 1, 1).retryAfterSeconds()).isPositive();
    }

    // ---- requests at once

    @Test
    void asManyRequestsRunAtOnceAsTheKeyMayHave() throws GatewayException {
        Quota key = key(terms(CONCURRENT_REQUESTS, 2));
        Grant first = key.reserve("m", 9, 10);
        key.reserve("m", 1, 10);

        GatewayException refused = refused(key, 1, 10);
        assertThat(refused.code()).isEqualTo(ErrorCode.CONCURRENCY_LIMIT_EXCEEDED);
        assertThat(refused.retryAfterSeconds()).isOne();
        assertThat(refused)
                .hasMessage("This key may have 2 requests at once, and has; try again when one of them has ended.");

        first.releaseConcurrency();
        first.releaseConcurrency();
        key.reserve("m", 1, 10);
        assertThat(refused(key, 1, 10).code()).isEqualTo(ErrorCode.CONCURRENCY_LIMIT_EXCEEDED);
        assertThat(quotas.running()).isEqualTo(2);
    }

    @Test
    void eachEndOfAGrantLetsAnotherBeginOnce() throws GatewayException {
        Quota key = key(terms(CONCURRENT_REQUESTS, 1));
        Grant settled = key.reserve("m", 1, 10);
        settled.settle(1, 0, 1);
        Grant refunded = key.reserve("m", 1, 10);
        refunded.refund();
        Grant released = key.reserve("m", 1, 10);
        released.releaseConcurrency();
        released.settle(1, 0, 1);
        settled.refund();
        refunded.settle(1, 0, 1);

        assertThat(quotas.running()).isZero();
        key.reserve("m", 1, 10);
        assertThat(refused(key, 1, 10).code()).isEqualTo(ErrorCode.CONCURRENCY_LIMIT_EXCEEDED);
    }

    // ---- budgets

    @Test
    void aDaysBudgetBeginsAnewAtMidnightUtc() throws GatewayException {
        time.set("2026-12-31T23:59:30Z");
        Quota key = key(terms(TOKENS_PER_DAY, 1000));
        key.reserve("m", 1, 10).settle(10, 0, 990);

        GatewayException refused = refused(key, 1, 10);

        assertThat(refused.code()).isEqualTo(ErrorCode.BUDGET_EXHAUSTED);
        assertThat(refused.retryAfterSeconds()).isEqualTo(30);
        assertThat(refused.headers()).containsExactly(entry("x-should-retry", "false"));
        assertThat(refused)
                .hasMessage("This key may use 1000 tokens per day, and what is left does not cover this"
                        + " request; the next day begins in 30 s (UTC).");
        time.set("2026-12-31T23:59:59.999Z");
        assertThat(refused(key, 1, 10).retryAfterSeconds()).isOne();
        time.set("2027-01-01T00:00:00Z");
        key.reserve("m", 1, 1000);
    }

    @Test
    void aMonthsBudgetBeginsAnewWithTheMonth() throws GatewayException {
        time.set("2028-02-28T12:00:00Z");
        Quota key = key(terms(TOKENS_PER_MONTH, 1000, TOKENS_PER_DAY, 1000));
        key.reserve("m", 1, 1000);
        time.set("2028-02-29T00:00:00Z");

        assertThat(refused(key, 1, 1).retryAfterSeconds()).isEqualTo(86_400);
        time.set("2028-03-01T00:00:00Z");
        key.reserve("m", 1, 1000);
        assertThat(refused(key, 1, 1).retryAfterSeconds()).isEqualTo(31 * 86_400);
    }

    @Test
    void aPromptThatWhatIsLeftDoesNotCoverIsRefusedAndASmallerOneIsNot() throws GatewayException {
        Quota key = key(terms(TOKENS_PER_DAY, 1000));
        key.reserve("m", 1, 900);

        assertThat(refused(key, 1, 101).retryAfterSeconds()).isEqualTo(43_200);
        assertThat(refused(key, 1, 1001).retryAfterSeconds()).isZero();
        key.reserve("m", 1, 100);
    }

    @Test
    void moneyIsReservedForThePromptAndSettledForAll() throws GatewayException {
        Quota key = key(terms(MONEY_PER_MONTH, money("0.01")));
        Grant grant = key.reserve("m", 1, 6_000);
        assertThat(refused(key, 1, 6_000).code()).isEqualTo(ErrorCode.BUDGET_EXHAUSTED);

        // 2000 at 1, 3000 at 0.10, 500 at 10 for a million each: 0.0073
        grant.settle(5_000, 3_000, 500);

        assertThat(refused(key, 1, 2_701)).hasMessageStartingWith("This key may use a budget of 0.01 per month, ");
        key.reserve("m", 1, 2_700);
    }

    @Test
    void aModelWithoutAPriceIsFreeEvenWhenTheMoneyIsGone() throws GatewayException {
        Quota key = key(terms(MONEY_PER_DAY, money("0.001")));
        key.reserve("m", 1, 1000);

        assertThat(refused(key, 1, 1).code()).isEqualTo(ErrorCode.BUDGET_EXHAUSTED);
        key.precheck();
        key.reserve("unpriced", 1, 1_000_000);
    }

    @Test
    void moneyThatIsGoneIsCertainBeforeTheBodyWhenEveryModelCosts() throws GatewayException {
        Prices all = new Prices(Map.of("m", Agreed.PRICE, Prices.ANY_OTHER, Agreed.PRICE));
        Quota key = quotas.quota("k", terms(MONEY_PER_DAY, money("0.001")), "t", Terms.NONE, all);
        key.precheck();
        key.reserve("other", 1, 1000);

        assertThat(catchThrowableOfType(GatewayException.class, key::precheck).code())
                .isEqualTo(ErrorCode.BUDGET_EXHAUSTED);
    }

    @Test
    void tokensCountInTheDayInWhichTheyBecomeKnown() throws GatewayException {
        time.set("2026-06-15T23:59:59Z");
        Quota key = key(terms(TOKENS_PER_DAY, 1000));
        Grant early = key.reserve("m", 1, 400);
        Grant refundedLate = key.reserve("m", 1, 400);
        Grant smaller = key.reserve("m", 1, 200);
        time.set("2026-06-16T00:00:01Z");

        early.settle(400, 0, 300);
        refundedLate.refund();
        smaller.settle(50, 0, 10);

        assertThat(refused(key, 1, 701).retryAfterSeconds()).isEqualTo(86_399);
        key.reserve("m", 1, 700);
    }

    @Test
    void aClockSetBackAcrossMidnightGivesNoSecondDay() throws GatewayException {
        time.set("2026-07-01T00:00:00Z");
        Quota key = key(terms(TOKENS_PER_DAY, 1000, TOKENS_PER_MONTH, 1000));
        key.reserve("m", 1, 1000);
        time.set("2026-06-30T23:59:59Z");

        assertThat(refused(key, 1, 1).code()).isEqualTo(ErrorCode.BUDGET_EXHAUSTED);
    }

    @Test
    void aClockThatWasFarAheadDoesNotLockTheBudget() throws GatewayException {
        time.set("2099-01-01T00:00:00Z");
        Quota key = key(terms(TOKENS_PER_DAY, 1000));
        key.reserve("m", 1, 1000);
        time.set("2026-06-30T23:59:59Z");

        key.reserve("m", 1, 1000);
    }

    // ---- streams

    @Test
    void aStreamIsToldWhenTheBudgetEnds() throws GatewayException {
        Quota key = key(terms(TOKENS_PER_DAY, 100, ON_EXHAUSTED, 1));
        Grant grant = key.reserve("m", 1, 90);

        assertThat(grant.endsStream()).isTrue();
        assertThat(grant.spend(9)).isTrue();
        assertThat(grant.spend(1)).isTrue();
        assertThat(grant.spend(1)).isFalse();
        grant.settle(50, 0, 11);
        assertThat(grant.spend(1000)).isTrue();
        key.reserve("m", 1, 39);
        assertThat(refused(key, 1, 1).code()).isEqualTo(ErrorCode.BUDGET_EXHAUSTED);
    }

    @Test
    void aStreamEndsWhenOthersUseUpTheMoneyOfItsTenant() throws GatewayException {
        Terms tenant = terms(MONEY_PER_DAY, money("0.001"), ON_EXHAUSTED, 1);
        Quota a = quotas.quota("a", Terms.NONE, "t", tenant, Agreed.PRICES);
        Quota b = quotas.quota("b", Terms.NONE, "t", tenant, Agreed.PRICES);
        Grant stream = a.reserve("m", 1, 100);
        assertThat(stream.spend(10)).isTrue();

        b.reserve("m", 1, 100).settle(100, 0, 1000);

        assertThat(stream.spend(1)).isFalse();
    }

    @Test
    void aRefundGivesBackWhatAStreamHasSpent() throws GatewayException {
        Quota key = key(terms(MONEY_PER_DAY, money("0.001"), TOKENS_PER_DAY, 100, ON_EXHAUSTED, 1));
        Grant grant = key.reserve("m", 1, 90);
        grant.spend(500);

        grant.refund();

        key.reserve("m", 1, 100);
    }

    @Test
    void aStreamMayFinishUnlessTheTermsSayOtherwise() throws GatewayException {
        Grant grant = key(terms(TOKENS_PER_DAY, 100)).reserve("m", 1, 90);

        assertThat(grant.endsStream()).isFalse();
        assertThat(grant.spend(1000)).isTrue();
        assertThat(key(terms(ON_EXHAUSTED, 1, CONCURRENT_REQUESTS, 1)).endsStreams())
                .isFalse();
    }

    // ---- all together

    @Test
    void aRefusedRequestTakesNothingFromAnyLimit() throws GatewayException {
        Terms tenant = terms(CONCURRENT_REQUESTS, 1, TOKENS_PER_DAY, 1000, REQUESTS_PER_MINUTE, 3);
        Terms own = terms(REQUESTS_PER_MINUTE, 2, TOKENS_PER_MINUTE, 1000);
        Quota a = quotas.quota("a", own, "t", tenant, Prices.NONE);
        Quota b = quotas.quota("b", own, "t", tenant, Prices.NONE);
        Grant running = a.reserve("m", 1, 100);

        for (int i = 0; i < 10; i++) {
            GatewayException refused = refused(b, 1, 100);
            assertThat(refused.code()).isEqualTo(ErrorCode.CONCURRENCY_LIMIT_EXCEEDED);
            assertThat(refused).hasMessageStartingWith("The keys of this tenant together may have 1 request at once");
        }

        running.settle(100, 0, 0);
        b.reserve("m", 2, 900);
    }

    @Test
    void ofAllLimitsTheOneThatTakesLongestIsNamed() throws GatewayException {
        Quota key = key(terms(REQUESTS_PER_MINUTE, 60, TOKENS_PER_MINUTE, 60, CONCURRENT_REQUESTS, 1));
        key.reserve("m", 60, 60);

        assertThat(refused(key, 1, 60).code()).isEqualTo(ErrorCode.TOKEN_LIMIT_EXCEEDED);
        assertThat(refused(key, 60, 1).code()).isEqualTo(ErrorCode.RATE_LIMIT_EXCEEDED);
        assertThat(refused(key, 1, 61).retryAfterSeconds()).isZero();
    }

    @Test
    void headersShowTheKeyOrItsTenantWhicheverHasLessLeft() throws GatewayException {
        Terms tenant = terms(REQUESTS_PER_MINUTE, 100, TOKENS_PER_MINUTE, 50);
        Quota key = quotas.quota("a", terms(REQUESTS_PER_MINUTE, 2, TOKENS_PER_MINUTE, 1000), "t", tenant, Prices.NONE);
        key.reserve("m", 2, 20);

        assertThat(refused(key, 1, 1).headers())
                .containsExactly(
                        entry("x-ratelimit-limit-requests", "2"),
                        entry("x-ratelimit-remaining-requests", "0"),
                        entry("x-ratelimit-reset-requests", "1m0s"),
                        entry("x-ratelimit-limit-tokens", "50"),
                        entry("x-ratelimit-remaining-tokens", "30"),
                        entry("x-ratelimit-reset-tokens", "24s"));
    }

    @Test
    void beforeTheBodyOnlyWhatIsCertainIsRefusedAndNothingTaken() throws GatewayException {
        Quota key = key(terms(REQUESTS_PER_MINUTE, 2, TOKENS_PER_MINUTE, 100));
        for (int i = 0; i < 10; i++) {
            key.precheck();
        }
        key.reserve("m", 1, 99);
        key.precheck();
        key.reserve("m", 1, 1);

        assertThat(catchThrowableOfType(GatewayException.class, key::precheck).code())
                .isEqualTo(ErrorCode.RATE_LIMIT_EXCEEDED);
        assertThat(quotas.running()).isEqualTo(2);
    }

    // ---- keys that are read again

    @Test
    void newLimitsFindWhatWasUsedUnderTheOldOnes() throws GatewayException {
        key(terms(REQUESTS_PER_MINUTE, 2, TOKENS_PER_DAY, 1000)).reserve("m", 2, 600);

        Quota raised = key(terms(REQUESTS_PER_MINUTE, 10, TOKENS_PER_DAY, 2000));
        assertThat(refused(raised, 9, 1).code()).isEqualTo(ErrorCode.RATE_LIMIT_EXCEEDED);
        raised.reserve("m", 8, 1);

        assertThat(refused(key(terms(TOKENS_PER_DAY, 600)), 1, 1).code()).isEqualTo(ErrorCode.BUDGET_EXHAUSTED);
    }

    @Test
    void aGrantFromBeforeEndsOnTheSameCounters() throws GatewayException {
        Grant before = key(terms(CONCURRENT_REQUESTS, 1)).reserve("m", 1, 10);
        Quota after = key(terms(CONCURRENT_REQUESTS, 1, TOKENS_PER_DAY, 100));
        assertThat(refused(after, 1, 10).code()).isEqualTo(ErrorCode.CONCURRENCY_LIMIT_EXCEEDED);

        before.settle(10, 0, 40);

        assertThat(refused(after, 1, 51).code()).isEqualTo(ErrorCode.BUDGET_EXHAUSTED);
        after.reserve("m", 1, 50);
    }

    @Test
    void keysThatAreGoneAreForgottenWhenTheirMonthIsOver() throws GatewayException {
        Terms own = terms(TOKENS_PER_MONTH, 100);
        Quota used = quotas.quota("used", own, "t", Terms.NONE, Prices.NONE);
        quotas.quota("unused", own, "t", Terms.NONE, Prices.NONE);
        used.reserve("m", 1, 100).settle(100, 0, 0);

        quotas.retain(Set.of(), Set.of());
        assertThat(quotas.accounts()).isOne();
        assertThat(refused(quotas.quota("used", own, "t", Terms.NONE, Prices.NONE), 1, 1)
                        .code())
                .isEqualTo(ErrorCode.BUDGET_EXHAUSTED);

        time.pass(Duration.ofDays(31));
        quotas.retain(Set.of("used"), Set.of());
        assertThat(quotas.accounts()).isOne();
        quotas.retain(Set.of(), Set.of());
        assertThat(quotas.accounts()).isZero();
    }

    @Test
    void aRunningRequestKeepsItsCounters() throws GatewayException {
        Grant running = key(terms(CONCURRENT_REQUESTS, 1)).reserve("m", 1, 1);
        time.pass(Duration.ofDays(40));

        quotas.retain(Set.of(), Set.of());

        assertThat(quotas.accounts()).isOne();
        running.refund();
        quotas.retain(Set.of(), Set.of());
        assertThat(quotas.accounts()).isZero();
    }

    // ---- without limits

    @Test
    void aKeyWithoutLimitsHasNoCounters() throws GatewayException {
        Quota key = key(Terms.NONE);

        assertThat(key).isSameAs(Quota.UNLIMITED);
        assertThat(quotas.accounts()).isZero();
        key.precheck();
        Grant grant = key.reserve("m", 1024, Long.MAX_VALUE);
        assertThat(grant).isSameAs(Grant.FREE);
        assertThat(grant.spend(Long.MAX_VALUE)).isTrue();
        grant.settle(1, 1, 1);
        grant.refund();
        grant.releaseConcurrency();
        assertThat(quotas.running()).isZero();
    }

    @Test
    void theKeysOwnTreatmentCountsBeforeThatOfItsTenant() {
        Terms tenant = terms(PRIORITY, 5, WEIGHT, 3, ON_EXHAUSTED, 1, TOKENS_PER_DAY, 1);

        Quota own = quotas.quota("a", terms(PRIORITY, -1, ON_EXHAUSTED, 0), "t", tenant, Prices.NONE);
        assertThat(own.priority()).isEqualTo(-1);
        assertThat(own.weight()).isEqualTo(3);
        assertThat(own.endsStreams()).isFalse();
        Quota inherited = quotas.quota("b", Terms.NONE, "t", tenant, Prices.NONE);
        assertThat(inherited.priority()).isEqualTo(5);
        assertThat(inherited.endsStreams()).isTrue();
        assertThat(Quota.UNLIMITED.priority()).isZero();
        assertThat(Quota.UNLIMITED.weight()).isOne();
    }

    private Quota key(Terms own) {
        return quotas.quota("k", own, "t", Terms.NONE, Agreed.PRICES);
    }

    private static GatewayException refused(Quota quota, int n, long tokens) {
        return Objects.requireNonNull(
                catchThrowableOfType(GatewayException.class, () -> quota.reserve("m", n, tokens)), "was admitted");
    }
}
