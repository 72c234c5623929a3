package routes.simulation;

import java.util.List;
import java.util.Random;
import routes.affinity.Choice;
import routes.affinity.FirstFree;
import routes.affinity.Strategy;
import routes.queue.Pool;
import routes.queue.Queue;
import routes.queue.Waiter;
import routes.replica.Replica;
import routes.replica.ReplicaAddress;
import routes.replica.Replicas;
import routes.request.PrefixLevels;

/**
 * A gateway with one pool of modelled replicas. The queue, the replicas' slots and the rule are the product's own; a replica
 * takes {@code prompt / 8000} s for a prompt and 16 ms, and 0.375 ms more for each request that it runs, for each token of
 * an answer.
 */
final class Cluster {

    private static final double PREFILL_TOKENS_PER_SECOND = 8000;
    private static final double STEP_SECONDS = 0.016;
    private static final double STEP_SECONDS_PER_SEQUENCE = 0.000375;

    /** Whose turn it is. */
    enum Order {
        FAIR,
        /** All stand in one line, as a plain queue has it. */
        FIFO
    }

    /** One request. */
    record Job(Tenant tenant, long key, int promptTokens, int answerTokens, Runnable whenDone) {
        long tokens() {
            return promptTokens + answerTokens;
        }
    }

    private final VirtualTime time;
    private final Order order;
    private final Queue queue;
    private final Pool pool;
    private final Replica[] replicas;
    private final Strategy rule = new FirstFree(FirstFree.Order.RENDEZVOUS);
    private final Choice choice = new Choice();
    private double busySlotSeconds;
    private double lastChange;
    /** Moments at which a slot was free although somebody waited. */
    int idleWhileWaiting;

    Cluster(VirtualTime time, Order order, int count, int slots) {
        this.time = time;
        this.order = order;
        this.queue = new Queue(time::now);
        this.pool = queue.pool("m1");
        pool.bounds(new Pool.Bounds(1_000_000, Long.MAX_VALUE, Pool.Bounds.DEFAULT.timeout()));
        Replicas registry = new Replicas(queue::freed);
        replicas = new Replica[count];
        for (int i = 0; i < count; i++) {
            replicas[i] = registry.replica(new ReplicaAddress("http", "127.0.0.1", 8000 + i, ""), slots);
        }
    }

    void offer(Job job) {
        job.tenant().asked++;
        double came = time.seconds();
        int chosen = choose(job, 1);
        if (chosen >= 0 && !replicas[chosen].isWanted()) {
            account();
            replicas[chosen].tryAcquire(1);
            run(job, chosen, came);
        } else {
            Place place = new Place(job, came);
            account();
            int answer = queue.enter(pool, place);
            if (answer >= 0) {
                run(job, answer, came);
            }
        }
        check();
    }

    private int choose(Job job, int slots) {
        PrefixLevels levels = PrefixLevels.of(1, new int[1], new long[] {job.key()}, job.promptTokens(), 0);
        int chosen = rule.choose(levels, replicas, -1, slots, time.now(), choice);
        return replicas[chosen].hasFree(slots) ? chosen : Queue.WAIT;
    }

    private void run(Job job, int chosen, double came) {
        job.tenant().waits.add(time.seconds() - came);
        job.tenant().tokensServed += job.tokens();
        Replica replica = replicas[chosen];
        double step = STEP_SECONDS + STEP_SECONDS_PER_SEQUENCE * replica.inFlight();
        time.after(job.promptTokens() / PREFILL_TOKENS_PER_SECOND + job.answerTokens() * step, () -> {
            account();
            replica.release(1);
            job.whenDone().run();
            check();
        });
    }

    private void account() {
        double now = time.seconds();
        for (Replica replica : replicas) {
            busySlotSeconds += replica.inFlight() * (now - lastChange);
        }
        lastChange = now;
    }

    private void check() {
        if (queue.waiting() > 0) {
            for (Replica replica : replicas) {
                if (replica.hasFree(1)) {
                    idleWhileWaiting++;
                    return;
                }
            }
        }
    }

    /** Share of the slots' time in which they were taken. */
    double utilisation() {
        account();
        int slots = 0;
        for (Replica replica : replicas) {
            slots += replica.slots();
        }
        return busySlotSeconds / (slots * time.seconds());
    }

    int waiting() {
        return queue.waiting();
    }

    /** An open tenant: requests come at random, whatever becomes of them. */
    void arrivals(Tenant tenant, double perSecond, Random random, double until) {
        double gap = -StrictMath.log(1 - random.nextDouble()) / perSecond;
        if (time.seconds() + gap > until) {
            return;
        }
        time.after(gap, () -> {
            offer(job(tenant, random, () -> {}));
            arrivals(tenant, perSecond, random, until);
        });
    }

    /** A closed tenant: so many clients, each asks again when it has its answer. */
    void crowd(Tenant tenant, int clients, Random random) {
        for (int i = 0; i < clients; i++) {
            offer(again(tenant, random));
        }
    }

    private Job again(Tenant tenant, Random random) {
        return job(tenant, random, () -> offer(again(tenant, random)));
    }

    private static Job job(Tenant tenant, Random random, Runnable whenDone) {
        int prompt = 200 + random.nextInt(1800);
        int answer = 20 + random.nextInt(180);
        return new Job(tenant, random.nextLong(), prompt, answer, whenDone);
    }

    private final class Place extends Waiter {
        private final Job job;
        private final double came;

        Place(Job job, double came) {
            super(
                    new Wish(List.of(replicas), 1, job.promptTokens() * 4L, false),
                    new Claim(0, order == Order.FIFO ? "all" : job.tenant().name, job.tenant().weight, job.tokens()),
                    task -> time.after(0, task));
            this.job = job;
            this.came = came;
        }

        @Override
        protected int choose(int slots) {
            return Cluster.this.choose(job, slots);
        }

        @Override
        protected void granted(int candidate) {
            run(job, candidate, came);
        }
    }
}
