package routes.affinity;

import java.time.Duration;

/**
 * The numbers in {@link NestedRendezvous}.
 *
 * @param homes how many replicas a prefix is kept on
 * @param price what a replica costs, counted in tokens that stand before the request there
 * @param slack how much dearer than the cheapest a preferred replica may be
 * @param learnedWarmth whether what is expected to be cached follows what replicas report
 */
public record Tuning(Homes homes, Price price, Slack slack, boolean learnedWarmth) {

    public static final Tuning DEFAULTS = new Tuning(
            new Homes(Duration.ofSeconds(10), Duration.ofSeconds(300), 32_768, 1),
            new Price(2, 4096, 128, 2000, 8000),
            new Slack(1024, 0.25, 0.06),
            false);

    private static final double MOST = 1e9;

    /** The same for another number of gateways. */
    public Tuning withGateways(int gateways) {
        return new Tuning(
                new Homes(homes.period, homes.halfLife, homes.prefixes, gateways), price, slack, learnedWarmth);
    }

    /**
     * How many replicas a prefix is kept on: about as many as it is used within a period, at all gateways.
     *
     * @param period such as 10s: a prefix that is used less often than every ten seconds has one home
     * @param halfLife after which a use counts half
     * @param prefixes most prefixes whose uses are counted; those used longest ago are forgotten first
     * @param gateways that share the replicas and get about the same traffic
     */
    public record Homes(Duration period, Duration halfLife, int prefixes, int gateways) {

        private static final int FEWEST_PREFIXES = 64;
        private static final int MOST_PREFIXES = 1 << 24;

        public Homes {
            positive("period", period);
            positive("half-life", halfLife);
            if (prefixes < FEWEST_PREFIXES || prefixes > MOST_PREFIXES) {
                throw new IllegalArgumentException(
                        "prefixes: " + prefixes + " (expected: " + FEWEST_PREFIXES + " to " + MOST_PREFIXES + ")");
            }
            if (gateways < 1) {
                throw new IllegalArgumentException("gateways: " + gateways + " (expected: >= 1)");
            }
        }

        private static void positive(String name, Duration value) {
            if (value.isNegative() || value.isZero()) {
                throw new IllegalArgumentException(name + ": " + value + " (expected: > 0)");
            }
        }
    }

    /**
     * What a replica costs. The unit is a token of somebody else's prompt that it has still to compute.
     *
     * @param uncached one token of the request's own prompt that it would have to compute, in an idle pool; such as 2
     * @param doublesAt mean cost of the pool's replicas at which {@code uncached} has doubled; such as 4096
     * @param request one request that it has already; such as 128
     * @param excess one request beyond its slots; such as 2000
     * @param waitSecond a second of waiting for a slot, so about the tokens that a replica computes in it; such as 8000
     */
    public record Price(double uncached, double doublesAt, double request, double excess, double waitSecond) {
        public Price {
            notNegative("uncached", uncached);
            if (!(doublesAt >= 1 && doublesAt <= MOST)) {
                throw new IllegalArgumentException("doublesAt: " + doublesAt + " (expected: 1 to " + MOST + ")");
            }
            notNegative("request", request);
            notNegative("excess", excess);
            notNegative("waitSecond", waitSecond);
        }
    }

    /**
     * How much dearer than the cheapest a preferred replica may be.
     *
     * @param tokens always; such as 1024
     * @param share of what is to be done at the least busy replica; such as 0.25
     * @param prompt of what it would cost to compute the whole prompt; such as 0.06
     */
    public record Slack(double tokens, double share, double prompt) {
        public Slack {
            notNegative("tokens", tokens);
            notNegative("share", share);
            notNegative("prompt", prompt);
        }
    }

    private static void notNegative(String name, double value) {
        if (!(value >= 0 && value <= MOST)) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: 0 to " + MOST + ")");
        }
    }
}
