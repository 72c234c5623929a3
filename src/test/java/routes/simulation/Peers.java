package routes.simulation;

import java.util.Arrays;

/** The rules of others, each in its least form. */
final class Peers {

    private Peers() {}

    static long score(long key, int replica) {
        return Chain.hash(key, replica * 0x5bd1e995L + 17);
    }

    /** The replicas that are up, best first for the key. */
    static int[] ranked(Gateway gateway, long key) {
        int[] ranked = new int[gateway.replicas];
        int count = 0;
        for (int r = 0; r < gateway.replicas; r++) {
            if (gateway.isUp(r)) {
                int at = count++;
                for (; at > 0 && score(key, ranked[at - 1]) < score(key, r); at--) {
                    ranked[at] = ranked[at - 1];
                }
                ranked[at] = r;
            }
        }
        return Arrays.copyOf(ranked, count);
    }

    /** Keeps the best of what it is offered; equals have equal chances. */
    private static final class Best {
        private final Gateway gateway;
        private double value;
        private int equals;
        private int replica = -1;

        Best(Gateway gateway) {
            this.gateway = gateway;
        }

        void offer(int candidate, double worth) {
            if (replica < 0 || worth > value + 1e-12) {
                replica = candidate;
                value = worth;
                equals = 1;
            } else if (worth > value - 1e-12 && gateway.random.nextInt(++equals) == 0) {
                replica = candidate;
            }
        }
    }

    record Chance(Gateway gateway) implements Router {
        @Override
        public int choose(Turn turn) {
            int[] up = ranked(gateway, 1);
            return up[gateway.random.nextInt(up.length)];
        }
    }

    static final class RoundRobin implements Router {
        private final Gateway gateway;
        private int last;

        RoundRobin(Gateway gateway) {
            this.gateway = gateway;
            last = gateway.random.nextInt(gateway.replicas);
        }

        @Override
        public int choose(Turn turn) {
            do {
                last = (last + 1) % gateway.replicas;
            } while (!gateway.isUp(last));
            return last;
        }
    }

    /** The replica with the fewest requests, as far as is known. */
    record LeastLoaded(Gateway gateway) implements Router {
        @Override
        public int choose(Turn turn) {
            Best best = new Best(gateway);
            for (int r = 0; r < gateway.replicas; r++) {
                if (gateway.isUp(r)) {
                    best.offer(r, -gateway.load(r));
                }
            }
            return best.replica;
        }
    }

    /** Rendezvous hashing by the prompt up to the end of the first user message. */
    record Rendezvous(Gateway gateway) implements Router {
        @Override
        public int choose(Turn turn) {
            return ranked(gateway, turn.prompt.firstId())[0];
        }
    }

    /** The same with bounded loads: none gets more than 1.25 times the mean of what the gateway has sent. */
    record BoundedLoads(Gateway gateway) implements Router {
        @Override
        public int choose(Turn turn) {
            int[] ranked = ranked(gateway, turn.prompt.firstId());
            double most = Math.ceil(1.25 * (Arrays.stream(gateway.inFlight).sum() + 1) / ranked.length);
            for (int r : ranked) {
                if (gateway.inFlight[r] + 1 <= most) {
                    return r;
                }
            }
            return ranked[0];
        }
    }

    /** The same with a fixed share of slots: what finds its home full goes to the next that has a slot, or waits for any. */
    record Spill(Gateway gateway) implements Router {
        @Override
        public int choose(Turn turn) {
            int slots = Engine.SLOTS / gateway.fleet.setup.gateways();
            for (int r : ranked(gateway, turn.prompt.firstId())) {
                if (gateway.inFlight[r] < slots) {
                    return r;
                }
            }
            return HOLD;
        }
    }

    /**
     * SGLang's cache_aware policy: the shortest queue when queues differ by more than 64 and half; where the longest known
     * prefix is when it is more than 0.3 of the prompt, always the same of several that have it; else where the tree is smallest. Knows only what it sent.
     */
    static final class SgLang implements Router {
        private final Gateway gateway;
        private final LongMap holders = new LongMap();
        private final long[] size;

        SgLang(Gateway gateway) {
            this.gateway = gateway;
            size = new long[gateway.replicas];
        }

        @Override
        public int choose(Turn turn) {
            int busiest = 0;
            int idlest = -1;
            int smallest = -1;
            for (int r = 0; r < gateway.replicas; r++) {
                if (gateway.isUp(r)) {
                    busiest = Math.max(busiest, gateway.inFlight[r]);
                    idlest = idlest < 0 || gateway.inFlight[r] < gateway.inFlight[idlest] ? r : idlest;
                    smallest = smallest < 0 || size[r] < size[smallest] ? r : smallest;
                }
            }
            int least = gateway.inFlight[idlest];
            if (busiest - least > 64 && busiest > least * 1.5) {
                return idlest;
            }
            Chain prompt = turn.prompt;
            long having = 0;
            long deepest = 0;
            int blocks = 0;
            for (int i = 0; i < prompt.segments; i++) {
                long next = holders.get(prompt.ids[i], 0);
                if (next == 0) {
                    break;
                }
                having = next;
                deepest = prompt.ids[i];
                blocks += prompt.blocks[i];
            }
            if (blocks <= 0.3 * prompt.allBlocks) {
                return smallest;
            }
            for (int r : ranked(gateway, deepest + gateway.number)) {
                if ((having & 1L << r) != 0) {
                    return r;
                }
            }
            return smallest;
        }

        @Override
        public void dispatched(Turn turn) {
            for (int i = 0; i < turn.prompt.segments; i++) {
                long having = holders.get(turn.prompt.ids[i], 0);
                if ((having & 1L << turn.replica) == 0) {
                    holders.put(turn.prompt.ids[i], having | 1L << turn.replica);
                    size[turn.replica] += turn.prompt.blocks[i];
                }
            }
        }

        @Override
        public void left(int replica) {
            size[replica] = 0;
            holders.clearBits(1L << replica);
        }
    }

    /**
     * llm-d's default profile: twice the queue's score, twice the free memory, three times the share of the prompt that an
     * index of what this gateway sent holds; 31,250 blocks for each replica; load is read every 50 ms.
     */
    static final class LlmD implements Router {
        private final Gateway gateway;
        private final BlockIndex[] index;

        LlmD(Gateway gateway) {
            this.gateway = gateway;
            index = new BlockIndex[gateway.replicas];
            Arrays.setAll(index, r -> new BlockIndex(31_250));
        }

        @Override
        public int choose(Turn turn) {
            int least = Integer.MAX_VALUE;
            int most = 0;
            for (int r = 0; r < gateway.replicas; r++) {
                if (gateway.isUp(r)) {
                    least = Math.min(least, gateway.reportedWaiting[r]);
                    most = Math.max(most, gateway.reportedWaiting[r]);
                }
            }
            Best best = new Best(gateway);
            for (int r = 0; r < gateway.replicas; r++) {
                if (gateway.isUp(r)) {
                    double queue = most == least ? 1 : (most - gateway.reportedWaiting[r]) / (double) (most - least);
                    double prefix = index[r].match(turn.prompt) / (double) turn.prompt.allBlocks;
                    best.offer(r, 2 * queue + 2 * (1 - gateway.reportedCacheUsage[r]) + 3 * prefix);
                }
            }
            return best.replica;
        }

        @Override
        public void dispatched(Turn turn) {
            index[turn.replica].add(turn.prompt);
        }

        @Override
        public void left(int replica) {
            index[replica] = new BlockIndex(31_250);
        }

        @Override
        public double pollSeconds() {
            return 0.05;
        }
    }

    /** Knows every cache and backlog exactly and at once, and takes what is cheapest for this request. */
    record Oracle(Gateway gateway, double price) implements Router {
        @Override
        public int choose(Turn turn) {
            int best = -1;
            double least = 0;
            for (int r : ranked(gateway, turn.prompt.firstId())) {
                Engine engine = gateway.fleet.engines[r];
                int load = engine.running() + engine.waiting();
                double cost = price * (turn.promptTokens() - engine.cached(turn))
                        + engine.backlog()
                        + 64.0 * load
                        + 2000.0 * Math.max(0, load - Engine.SLOTS + 1);
                if (best < 0 || cost < least) {
                    best = r;
                    least = cost;
                }
            }
            return best;
        }
    }
}
