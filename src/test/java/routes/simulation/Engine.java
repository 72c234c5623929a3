package routes.simulation;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * A modelled replica: continuous batching with chunked prefill. A step computes up to 2,048 tokens, one for each answer and
 * the rest of prompts, first come first served, and takes 16 ms, 0.375 ms for each answer and 1 s for 8,000 prompt tokens.
 */
final class Engine {

    static final int SLOTS = 64;
    static final double PREFILL_TOKENS_PER_SECOND = 8000;
    static final double STEP_SECONDS = 0.016;
    static final double STEP_SECONDS_PER_SEQUENCE = 0.000375;
    private static final int STEP_TOKENS = 2048;
    private static final int CACHE_BLOCKS = 500_000 / Chain.BLOCK_TOKENS;

    private final Fleet fleet;
    private final ArrayDeque<Turn> waiting = new ArrayDeque<>();
    private final List<Turn> prefilling = new ArrayList<>();
    private final Turn[] answering = new Turn[SLOTS];
    private PrefixCache cache = new PrefixCache(CACHE_BLOCKS);
    private int answers;
    private long steps;
    private long nextEnd = Long.MAX_VALUE;
    private long prefillLeft;
    private boolean busy;
    private int life;
    boolean up;

    Engine(Fleet fleet, boolean up) {
        this.fleet = fleet;
        this.up = up;
    }

    void offer(Turn turn) {
        waiting.add(turn);
        if (!busy) {
            step();
        }
    }

    int running() {
        return prefilling.size() + answers;
    }

    int waiting() {
        return waiting.size();
    }

    double cacheUsage() {
        return cache.usage();
    }

    int cached(Turn turn) {
        return cache.match(turn);
    }

    /** Prompt tokens that are still to be computed, as only the engine can know. */
    long backlog() {
        long tokens = prefillLeft;
        for (Turn turn : waiting) {
            tokens += turn.promptTokens() - cache.match(turn);
        }
        return tokens;
    }

    private void step() {
        int budget = STEP_TOKENS - answers;
        int prefill = 0;
        for (Turn turn : prefilling) {
            turn.chunk = Math.min(budget - prefill, turn.prefillLeft);
            prefill += turn.chunk;
        }
        while (prefill < budget && !waiting.isEmpty() && running() < SLOTS && cache.admit(waiting.element())) {
            Turn turn = waiting.remove();
            turn.prefillLeft = turn.promptTokens() - turn.cachedTokens;
            prefillLeft += turn.prefillLeft;
            turn.chunk = Math.min(budget - prefill, turn.prefillLeft);
            prefill += turn.chunk;
            prefilling.add(turn);
        }
        busy = answers + prefill > 0;
        if (busy) {
            int current = life;
            fleet.time.after(
                    STEP_SECONDS + STEP_SECONDS_PER_SEQUENCE * answers + prefill / PREFILL_TOKENS_PER_SECOND,
                    () -> stepped(current));
        } else if (!waiting.isEmpty()) {
            throw new IllegalStateException("a prompt of " + waiting.element().promptTokens() + " tokens fits nowhere");
        }
    }

    private void stepped(int of) {
        if (of != life) {
            return;
        }
        steps++;
        for (int i = 0; i < prefilling.size(); i++) {
            Turn turn = prefilling.get(i);
            turn.prefillLeft -= turn.chunk;
            prefillLeft -= turn.chunk;
            cache.computed(turn);
            if (turn.prefillLeft == 0) {
                prefilling.remove(i--);
                turn.lastStep = steps + turn.answerTokens - 1;
                nextEnd = Math.min(nextEnd, turn.lastStep);
                answering[answers++] = turn;
                fleet.firstToken(turn);
            }
        }
        if (nextEnd <= steps) {
            finish();
        }
        step();
    }

    private void finish() {
        nextEnd = Long.MAX_VALUE;
        int left = 0;
        int before = answers;
        List<Turn> done = new ArrayList<>();
        for (int i = 0; i < before; i++) {
            Turn turn = answering[i];
            if (turn.lastStep <= steps) {
                cache.release(turn);
                done.add(turn);
            } else {
                answering[left++] = turn;
                nextEnd = Math.min(nextEnd, turn.lastStep);
            }
        }
        answers = left;
        done.forEach(fleet::ended);
    }

    /** Dies with all that it holds. @return the requests that are lost */
    List<Turn> stop() {
        List<Turn> lost = new ArrayList<>(waiting);
        lost.addAll(prefilling);
        for (int i = 0; i < answers; i++) {
            lost.add(answering[i]);
        }
        waiting.clear();
        prefilling.clear();
        answers = 0;
        prefillLeft = 0;
        nextEnd = Long.MAX_VALUE;
        busy = false;
        up = false;
        life++;
        cache = new PrefixCache(CACHE_BLOCKS);
        return lost;
    }
}
