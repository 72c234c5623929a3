package routes.simulation;

import java.util.Arrays;
import java.util.Random;
import java.util.function.Consumer;
import routes.simulation.Workload.Kind;

/** Makes a workload's sessions: they come by chance, and each asks its next question after an answer and some thought. */
final class Sessions {

    private static final double[] TENANTS = zipf(400, 1);
    private static final double[] DOCUMENTS = zipf(3000, 1);
    private static final double[] AGENTS = zipf(12, 0.8);
    private static final int LONGEST_PROMPT = 60_000;
    private static final int MOST_BRANCHES = 12;
    private static final Lengths BRANCH = new Lengths(200, 0.6, 16, 2000);
    private static final Lengths TENANT_PROMPT = new Lengths(3000, 0.6, 500, 12_000);
    private static final Lengths DOCUMENT = new Lengths(1500, 0.5, 300, 6000);
    private static final int HOT_TOKENS = 1536;

    private final Fleet.Setup setup;
    private final VirtualTime time;
    private final Consumer<Turn> door;
    private final Workload workload;
    private final long seed;
    private final Random random;
    private final double perSecond;
    private long sessions;
    private boolean inBurst;
    private double burstChanges;

    /** @param door takes each request when it comes */
    Sessions(Fleet.Setup setup, VirtualTime time, Consumer<Turn> door) {
        this.setup = setup;
        this.time = time;
        this.door = door;
        workload = setup.workload();
        seed = setup.seed();
        random = new Random(seed * 77 + 5);
        perSecond = setup.load() * workload.capacity / workload.turns;
    }

    void begin() {
        if (workload == Workload.MOONCAKE) {
            replay(new MooncakeTrace(seed));
            return;
        }
        // long sessions would take minutes to gather
        already(Kind.CHAT, 212, 80);
        already(Kind.AGENT, 77, 10);
        nextSession();
    }

    /** How many have begun. */
    long count() {
        return sessions;
    }

    /** Requests come as in the trace, so much faster or slower that the rate is met. */
    private void replay(MooncakeTrace trace) {
        double scale = MooncakeTrace.REQUESTS / MooncakeTrace.SECONDS / perSecond;
        for (MooncakeTrace.Entry entry : trace.entries) {
            if (entry.at() * scale < setup.seconds()) {
                sessions++;
                time.after(
                        entry.at() * scale,
                        () -> door.accept(new Turn(entry.prompt(), entry.answerTokens(), entry.answer(), () -> {})));
            }
        }
    }

    private void already(Kind kind, double secondsOfSessions, double within) {
        long count = Math.round(perSecond * workload.share(kind) * secondsOfSessions);
        for (int i = 0; i < count; i++) {
            Session session = new Session(kind);
            time.after(random.nextDouble() * within, session::begin);
        }
    }

    private void nextSession() {
        double rate = perSecond;
        if (workload == Workload.BURST) {
            double now = time.seconds();
            while (now >= burstChanges) {
                inBurst = !inBurst;
                burstChanges += Lengths.exponential(random, inBurst ? 12 : 48);
            }
            rate *= inBurst ? 4 : 0.25;
        }
        double wait = Lengths.exponential(random, 1 / rate);
        if (workload == Workload.BURST && time.seconds() + wait > burstChanges) {
            time.after(burstChanges - time.seconds() + 1e-6, this::nextSession);
            return;
        }
        time.after(wait, () -> {
            new Session(workload.kind(random.nextDouble())).begin();
            nextSession();
        });
    }

    /** One user, or one agent and its branches. */
    private final class Session {

        private final Kind kind;
        private final Random random;
        private final Chain prompt = new Chain();
        private final int turns;
        private int branches = 1;

        Session(Kind kind) {
            this.kind = kind;
            random = new Random(Chain.hash(seed * 1_000_003 + kind.ordinal(), ++sessions));
            turns = system();
            if (prompt.systemEnd == 0) {
                prompt.systemEnd = Math.max(1, prompt.segments);
            }
            int first = kind.first.tokens(random);
            if (kind == Kind.HOT && prompt.segments == 0) {
                first = Kind.NONE.first.tokens(random);
            }
            prompt.add(random.nextLong(), first);
            prompt.firstEnd = prompt.segments;
            prompt.seenEnd = prompt.segments - 1;
        }

        /** Adds what the session shares with others. @return how many requests it makes */
        private int system() {
            switch (kind) {
                case CHAT -> {
                    int system = random.nextDouble() < 0.7 ? 0 : 1 + random.nextInt(20);
                    share(100 + system, system == 0 ? 512 : 256 + 37 * system);
                    return Lengths.geometric(random, 5, 30);
                }
                case TENANT -> {
                    int tenant = draw(TENANTS, random);
                    share(1000 + tenant, TENANT_PROMPT.tokens(new Random(9999 + tenant)));
                    return random.nextDouble() < 0.7 ? 1 : 1 + Lengths.geometric(random, 2, 10);
                }
                case RAG -> {
                    share(5000, 400);
                    int first = draw(DOCUMENTS, random);
                    int second = first * 5 + random.nextInt(5);
                    share(10_000 + first, DOCUMENT.tokens(new Random(7777 + first)));
                    share(20_000 + second, DOCUMENT.tokens(new Random(20_000 + second)));
                    prompt.systemEnd = 1;
                    return random.nextDouble() < 0.8 ? 1 : 1 + Lengths.geometric(random, 1.5, 5);
                }
                case AGENT -> {
                    int agent = draw(AGENTS, random);
                    share(50_000 + agent % 4, 5000);
                    share(51_000 + agent, 600 + agent * 97 % 800);
                    return Lengths.geometric(random, 12, 60);
                }
                case HOT -> {
                    if (random.nextDouble() < 0.7) {
                        share(60_000, HOT_TOKENS);
                    }
                    return 1;
                }
                default -> {
                    return 1;
                }
            }
        }

        /** Each seed has prompts of its own, so that no rule is lucky with where they fall. */
        private void share(long content, int tokens) {
            prompt.add(Chain.hash(seed, content), tokens);
        }

        void begin() {
            ask(prompt, turns);
        }

        private void ask(Chain chain, int turnsLeft) {
            long answer = random.nextLong();
            int tokens = kind.answer.tokens(random);
            door.accept(new Turn(chain, tokens, answer, () -> {
                if (turnsLeft > 1 && chain.tokens() < LONGEST_PROMPT) {
                    chain.add(answer, tokens);
                    chain.seenEnd = chain.segments;
                    goOn(chain, turnsLeft - 1);
                }
            }));
        }

        private void goOn(Chain chain, int turnsLeft) {
            double thinks = kind.think.draw(random);
            if (kind == Kind.AGENT && branches < MOST_BRANCHES && random.nextDouble() < 0.08) {
                for (int more = 2 + random.nextInt(3); more > 0 && branches < MOST_BRANCHES; more--) {
                    branches++;
                    Chain branch = chain.copy().add(random.nextLong(), BRANCH.tokens(random));
                    int its = 3 + random.nextInt(4);
                    time.after(thinks, () -> ask(branch, its));
                }
            }
            chain.add(random.nextLong(), kind.later.tokens(random));
            time.after(thinks, () -> ask(chain, turnsLeft));
        }
    }

    private static double[] zipf(int count, double exponent) {
        double[] upTo = new double[count];
        double sum = 0;
        for (int i = 0; i < count; i++) {
            sum += 1 / StrictMath.pow(i + 1, exponent);
            upTo[i] = sum;
        }
        return upTo;
    }

    private static int draw(double[] upTo, Random random) {
        double chance = random.nextDouble() * upTo[upTo.length - 1];
        int at = Arrays.binarySearch(upTo, chance);
        return at >= 0 ? at : -at - 1;
    }
}
