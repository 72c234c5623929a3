package routes.demo;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Closes a connection that stays silent after an answer, as uvicorn does: a new connection may wait, and the first byte
 * of a next request stops the clock.
 */
final class KeepAlive extends ChannelInboundHandlerAdapter {

    private final long timeoutNanos;
    private @Nullable Future<?> timer;

    KeepAlive(Duration timeout) {
        timeoutNanos = timeout.toNanos();
    }

    /** An answer ended and nothing else is to be done. */
    void start(ChannelHandlerContext ctx) {
        stop();
        timer = ctx.executor().schedule(() -> ctx.close(), timeoutNanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        stop();
        ctx.fireChannelRead(message);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        stop();
        ctx.fireChannelInactive();
    }

    private void stop() {
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
    }
}
