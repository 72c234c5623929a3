package routes.simulation;

import java.util.Locale;

/** What clients ask for. */
enum Workload {
    MIXED(32.72, 2.364, 0.4, 0.2, 0.15, 0.15, 0.1, 0),
    CHAT(30.18, 4.918, 1, 0, 0, 0, 0, 0),
    TENANTS(53.04, 1.595, 0, 1, 0, 0, 0, 0),
    RAG(29.87, 1.299, 0, 0, 1, 0, 0, 0),
    AGENTS(64.17, 29.272, 0, 0, 0, 1, 0, 0),
    /** No prompt begins like another. */
    NONE(29.14, 1, 0, 0, 0, 0, 1, 0),
    /** Seven of ten prompts begin with the same 6 KB. */
    HOT(44.96, 1, 0, 0, 0, 0, 0, 1),
    /** Bursts of 12 s with 16 times as many sessions as in the 48 s between them. */
    BURST(34.99, 2.199, 0.4, 0.6, 0, 0, 0, 0),
    /** Mixed, while a replica dies and comes back, another dies, and a new one comes. */
    CHURN(32.72, 2.364, 0.4, 0.2, 0.15, 0.15, 0.1, 0),
    /** Long conversations with the published statistics of Mooncake's trace; requests come whether or not answers do. */
    MOONCAKE(5.424, 1, 0, 0, 0, 0, 0, 0);

    /** A kind of session; its requests wait for one another's answers. */
    enum Kind {
        CHAT(5, new Lengths(600, 1.2, 16, 16_000), new Lengths(150, 1, 8, 6000), 340, 45),
        TENANT(1.6, new Lengths(200, 0.8, 16, 4000), new Lengths(120, 0.8, 8, 6000), 200, 30),
        RAG(1.3, new Lengths(60, 0.6, 16, 500), new Lengths(60, 0.6, 8, 6000), 220, 30),
        AGENT(29, new Lengths(500, 1, 32, 8000), new Lengths(350, 1, 8, 6000), 120, 4),
        NONE(1, new Lengths(1155, 0.9, 32, 8000), new Lengths(1, 0, 1, 1), 211, 0),
        HOT(1, new Lengths(120, 0.6, 16, 1000), new Lengths(1, 0, 1, 1), 200, 0);

        /** Requests of a session, about. */
        final double turns;

        final Lengths first;
        final Lengths later;
        final Lengths answer;
        final Lengths think;

        Kind(double turns, Lengths first, Lengths later, double answer, double think) {
            this.turns = turns;
            this.first = first;
            this.later = later;
            this.answer = new Lengths(answer, 0.7, 4, 1500);
            this.think = new Lengths(think, 0.8, 0.3, 3600);
        }
    }

    /** Requests a second that eight replicas sustain with the oracle's hits; see {@link Calibration}. */
    final double capacity;

    /** Requests of a session, counted. */
    final double turns;

    private final double[] sessionShares = new double[Kind.values().length];

    /** @param shares of the requests, by kind */
    Workload(double capacity, double turns, double... shares) {
        this.capacity = capacity;
        this.turns = turns;
        double sum = 0;
        for (int k = 0; k < shares.length; k++) {
            sessionShares[k] = shares[k] / Kind.values()[k].turns;
            sum += sessionShares[k];
        }
        for (int k = 0; k < shares.length && sum > 0; k++) {
            sessionShares[k] /= sum;
        }
    }

    double share(Kind kind) {
        return sessionShares[kind.ordinal()];
    }

    /** @param chance from 0 to 1 */
    Kind kind(double chance) {
        double left = chance;
        Kind last = Kind.CHAT;
        for (Kind kind : Kind.values()) {
            if (share(kind) > 0) {
                last = kind;
                left -= share(kind);
                if (left <= 0) {
                    break;
                }
            }
        }
        return last;
    }

    String title() {
        return name().toLowerCase(Locale.ROOT);
    }
}
