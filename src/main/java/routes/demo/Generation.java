package routes.demo;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One answer in the making: waits for slots, is silent until the first token, then hands out tokens at the replica's
 * pace. Every token has its own due time, so that late timers do not add up; a slow reader stops it.
 *
 * <p><b>Threading</b>: event-loop confined.
 *
 * <p><b>Failure</b>: ends by its last token, by {@link #abort} when the client has gone, or by a reset of the options'
 * choice; each of them gives the slots back.
 */
final class Generation implements Slots.Sequences {

    /**
     * @param tokens tokens of each sequence
     * @param sequences choices generated side by side
     */
    record Job(Prompt prompt, int tokens, int sequences) {}

    private final Engine engine;
    private final DemoConnection connection;
    private final Job job;
    private final Output output;
    private final int resetAfter;
    private long firstTokenNanos;
    private int next;
    private boolean ended;
    private boolean stalled;
    private @Nullable Future<?> timer;

    Generation(Engine engine, DemoConnection connection, Job job, Output output) {
        this.engine = engine;
        this.connection = connection;
        this.job = job;
        this.output = output;
        resetAfter = engine.resetAfter(job.tokens());
    }

    void start() {
        engine.slots.enter(this);
    }

    @Override
    public int count() {
        return job.sequences();
    }

    @Override
    public void admitted() {
        output.begin(engine.prefill(job.prompt()));
        firstTokenNanos = System.nanoTime() + engine.options.timeToFirstToken().toNanos();
        run();
    }

    /** The client reads again. */
    void resume() {
        if (stalled && !ended) {
            stalled = false;
            run();
        }
    }

    /** The client has gone. */
    void abort() {
        if (!ended) {
            engine.aborted.incrementAndGet();
            finish();
        }
    }

    private void run() {
        while (true) {
            long silence = dueNanos() - System.nanoTime();
            if (silence > 0) {
                connection.flush();
                schedule(silence);
                return;
            }
            if (next == resetAfter) {
                finish();
                connection.reset();
                return;
            }
            if (next == job.tokens()) {
                finish();
                output.end();
                return;
            }
            if (!connection.isWritable()) {
                connection.flush();
                if (ended) {
                    return;
                }
                if (!connection.isWritable()) {
                    stalled = true;
                    return;
                }
            }
            engine.completionTokens.addAndGet(job.sequences());
            output.token(next++);
        }
    }

    /** The end is due with the last token. */
    private long dueNanos() {
        double pace = engine.options.tokensPerSecond();
        int steps = Math.max(0, Math.min(next, job.tokens() - 1));
        return firstTokenNanos + (pace == 0 ? 0 : (long) (steps * 1e9 / pace));
    }

    private void schedule(long nanos) {
        EventExecutor loop = connection.loop();
        timer = loop.schedule(this::run, nanos, TimeUnit.NANOSECONDS);
    }

    private void finish() {
        ended = true;
        if (timer != null) {
            timer.cancel(false);
        }
        engine.slots.leave(this);
    }
}
