package routes.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static routes.quota.Agreed.terms;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import routes.error.GatewayException;

/** Many threads and the same counters. */
@Timeout(30)
final class QuotaThreadsTest {

    private static final int THREADS = 4;
    private static final long A_DAY = 1_000_000_000;

    private final FakeTime time = new FakeTime();
    private final Quotas quotas = new Quotas(time, time);

    @Test
    void inABurstExactlyAsManyAreAdmittedAsKeysAndTenantAllow() throws Exception {
        Terms own = terms(Term.CONCURRENT_REQUESTS, 4);
        Terms shared = terms(Term.CONCURRENT_REQUESTS, 6, Term.REQUESTS_PER_MINUTE, 300);
        Quota[] keys = {
            quotas.quota("a", own, "t", shared, Prices.NONE), quotas.quota("b", own, "t", shared, Prices.NONE)
        };
        AtomicInteger[] admitted = {new AtomicInteger(), new AtomicInteger()};
        int rounds = 50;
        CyclicBarrier begin = new CyclicBarrier(16);
        CyclicBarrier decided = new CyclicBarrier(16, () -> {
            assertThat(quotas.running()).isEqualTo(6);
            assertThat(admitted[0].getAndSet(0)).isBetween(2, 4);
            assertThat(admitted[1].getAndSet(0)).isBetween(2, 4);
        });

        inParallel(16, thread -> {
            Quota key = keys[thread % 2];
            for (int round = 0; round < rounds; round++) {
                begin.await();
                Grant grant = tryReserve(key, 1);
                if (grant != null) {
                    admitted[thread % 2].incrementAndGet();
                }
                decided.await();
                if (grant != null) {
                    grant.releaseConcurrency();
                }
            }
        });

        assertThat(quotas.running()).isZero();
        // 6 in each of 50 rounds was all that the minute had: a refused request has taken none of it
        assertThat(tryReserve(keys[0], 1)).isNull();
    }

    @Test
    void howeverRequestsEndEveryCounterIsExact() throws Exception {
        // as many as there are threads: all are admitted and meet at the counters
        Terms own = terms(Term.CONCURRENT_REQUESTS, THREADS, Term.TOKENS_PER_DAY, A_DAY);
        Terms shared = terms(Term.CONCURRENT_REQUESTS, THREADS, Term.TOKENS_PER_DAY, A_DAY);
        Quota[] keys = {
            quotas.quota("a", own, "t", shared, Prices.NONE),
            quotas.quota("b", own, "t", shared, Prices.NONE),
            quotas.quota("alone", own, "none", Terms.NONE, Prices.NONE)
        };
        AtomicInteger[] settled = {new AtomicInteger(), new AtomicInteger(), new AtomicInteger()};

        inParallel(THREADS, thread -> {
            Random random = new Random(thread);
            for (int i = 0; i < 30_000; i++) {
                int key = random.nextInt(3);
                Grant grant = keys[key].reserve("m", 1, 1 + random.nextInt(50));
                end(grant, random.nextInt(4), settled[key]);
            }
        });

        assertThat(quotas.running()).isZero();
        long ofA = 10L * settled[0].get();
        long ofB = 10L * settled[1].get();
        assertExactlyLeft(quotas.quota("a", own, "other", Terms.NONE, Prices.NONE), A_DAY - ofA);
        assertExactlyLeft(quotas.quota("b", own, "other", Terms.NONE, Prices.NONE), A_DAY - ofB);
        assertExactlyLeft(quotas.quota("new", Terms.NONE, "t", shared, Prices.NONE), A_DAY - ofA - ofB);
        assertExactlyLeft(keys[2], A_DAY - 10L * settled[2].get());
    }

    private static void assertExactlyLeft(Quota key, long tokens) {
        assertThat(tryReserve(key, tokens + 1)).isNull();
        assertThat(tryReserve(key, tokens)).isNotNull();
    }

    private static void end(Grant grant, int how, AtomicInteger settled) {
        switch (how) {
            case 0 -> grant.refund();
            case 1 -> {
                grant.releaseConcurrency();
                grant.refund();
                grant.settle(1000, 0, 0);
            }
            case 2 -> {
                grant.settle(7, 0, 3);
                grant.releaseConcurrency();
                settled.incrementAndGet();
            }
            default -> {
                grant.releaseConcurrency();
                grant.settle(10, 10, 0);
                grant.refund();
                settled.incrementAndGet();
            }
        }
    }

    private static @Nullable Grant tryReserve(Quota key, long tokens) {
        try {
            return key.reserve("m", 1, tokens);
        } catch (GatewayException e) {
            return null;
        }
    }

    private interface Work {
        void on(int thread) throws Exception;
    }

    private static void inParallel(int threads, Work work) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Callable<@Nullable Void>> tasks = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                int thread = i;
                tasks.add(() -> {
                    work.on(thread);
                    return null;
                });
            }
            for (Future<@Nullable Void> task : pool.invokeAll(tasks, 20, TimeUnit.SECONDS)) {
                task.get();
            }
        } finally {
            pool.shutdownNow();
        }
    }
}
