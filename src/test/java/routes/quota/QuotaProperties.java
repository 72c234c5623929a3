package routes.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static routes.quota.Agreed.terms;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.jspecify.annotations.Nullable;
import routes.error.GatewayException;

/** What holds for any sequence of requests. */
final class QuotaProperties {

    /** A request of one of two keys, some time after the one before. */
    record Step(boolean byA, int n, long tokens, long waitMillis) {}

    private static final Terms OWN = terms(
            Term.REQUESTS_PER_MINUTE,
            7,
            Term.TOKENS_PER_MINUTE,
            1000,
            Term.CONCURRENT_REQUESTS,
            3,
            Term.TOKENS_PER_DAY,
            20_000);
    private static final Terms SHARED = terms(
            Term.REQUESTS_PER_MINUTE,
            11,
            Term.TOKENS_PER_MINUTE,
            1300,
            Term.CONCURRENT_REQUESTS,
            4,
            Term.TOKENS_PER_MONTH,
            25_000,
            Term.MONEY_PER_DAY,
            Agreed.money("0.03"));

    /** Two keys of one tenant. */
    private static final class Gateway {

        final FakeTime time = new FakeTime();
        final Quotas quotas = new Quotas(time, time);
        final Quota a = quotas.quota("a", OWN, "t", SHARED, Agreed.PRICES);
        final Quota b = quotas.quota("b", OWN, "t", SHARED, Agreed.PRICES);

        Grant reserve(Step step) throws GatewayException {
            return (step.byA ? a : b).reserve("m", step.n, step.tokens);
        }

        void passTo(Step step) {
            time.pass(Duration.ofMillis(step.waitMillis));
        }
    }

    @Provide
    Arbitrary<List<Step>> steps() {
        return Combinators.combine(
                        Arbitraries.of(true, false),
                        Arbitraries.integers().between(1, 9),
                        Arbitraries.longs().between(1, 1100),
                        Arbitraries.longs().between(0, 20_000))
                .as(Step::new)
                .list()
                .ofMaxSize(80);
    }

    @Property(tries = 300)
    void noLimitIsEverExceeded(@ForAll("steps") List<Step> steps, @ForAll @IntRange(min = 1, max = 3) int keep) {
        Gateway gateway = new Gateway();
        double minutes = 0;
        long[] requests = new long[2];
        long[] tokens = new long[2];
        List<Grant> running = new ArrayList<>();
        for (Step step : steps) {
            gateway.passTo(step);
            minutes += step.waitMillis / 60_000.0;
            try {
                running.add(gateway.reserve(step));
                requests[step.byA ? 0 : 1] += step.n;
                tokens[step.byA ? 0 : 1] += step.tokens;
            } catch (GatewayException e) {
                // one of the limits
            }
            assertThat(running).hasSizeLessThanOrEqualTo(4);
            assertThat(gateway.quotas.running()).isEqualTo(running.size());
            for (int key = 0; key < 2; key++) {
                assertThat(requests[key]).isLessThanOrEqualTo((long) (7 + 7 * minutes + 1e-6));
                assertThat(tokens[key]).isLessThanOrEqualTo((long) Math.min(20_000, 1000 + 1000 * minutes + 1e-6));
            }
            assertThat(requests[0] + requests[1]).isLessThanOrEqualTo((long) (11 + 11 * minutes + 1e-6));
            assertThat(tokens[0] + tokens[1])
                    .isLessThanOrEqualTo((long) Math.min(25_000, 1300 + 1300 * minutes + 1e-6));
            while (running.size() > keep) {
                running.remove(0).releaseConcurrency();
            }
        }
    }

    @Property(tries = 300)
    void whatIsRefusedOrRefundedLeavesNoTrace(@ForAll("steps") List<Step> steps) {
        Gateway busy = new Gateway();
        Gateway calm = new Gateway();
        List<Grant> busyGrants = new ArrayList<>();
        List<Grant> calmGrants = new ArrayList<>();
        for (int i = 0; i < steps.size(); i++) {
            Step step = steps.get(i);
            busy.passTo(step);
            calm.passTo(step);
            if (i % 3 == 0) {
                // the busy gateway alone sees this one: it is refused, or comes to nothing
                Grant refunded = tryReserve(busy, step);
                if (refunded != null) {
                    refunded.refund();
                }
                continue;
            }
            Grant there = tryReserve(busy, step);
            Grant here = tryReserve(calm, step);
            assertThat(there == null).isEqualTo(here == null);
            if (there != null && here != null) {
                busyGrants.add(there);
                calmGrants.add(here);
            }
            if (busyGrants.size() > 2) {
                busyGrants.remove(0).settle(step.tokens / 2, step.tokens / 4, step.tokens);
                calmGrants.remove(0).settle(step.tokens / 2, step.tokens / 4, step.tokens);
            }
        }
        assertThat(busy.quotas.running()).isEqualTo(calm.quotas.running());
    }

    @Property(tries = 300)
    void retryAfterIsTheFirstSecondInWhichTheRequestIsAdmitted(@ForAll("steps") List<Step> steps)
            throws GatewayException {
        FakeTime time = new FakeTime();
        Quotas quotas = new Quotas(time, time);
        Terms rates = terms(Term.REQUESTS_PER_MINUTE, 7, Term.TOKENS_PER_MINUTE, 1000);
        Quota key = quotas.quota("k", rates, "t", terms(Term.TOKENS_PER_MINUTE, 900), Prices.NONE);
        for (Step step : steps) {
            time.pass(Duration.ofMillis(step.waitMillis / 10));
            int wait = wait(key, step);
            if (wait > 0) {
                time.passNanos((wait - 1) * 1_000_000_000L);
                assertThat(wait(key, step)).isEqualTo(1);
                time.passNanos(1_000_000_000L);
                key.reserve("m", step.n, step.tokens).settle(step.tokens, 0, step.tokens / 3);
            }
        }
    }

    /** Seconds to wait; 0 when it was admitted, -1 when it never will be. */
    private static int wait(Quota key, Step step) {
        try {
            key.reserve("m", step.n, step.tokens);
            return 0;
        } catch (GatewayException e) {
            return e.retryAfterSeconds() == 0 ? -1 : e.retryAfterSeconds();
        }
    }

    private static @Nullable Grant tryReserve(Gateway gateway, Step step) {
        try {
            return gateway.reserve(step);
        } catch (GatewayException e) {
            return null;
        }
    }
}
