package routes.health;

import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import routes.replica.Replica;

/**
 * Asks one replica again and again whether it can serve, and tells the replica's own state.
 *
 * <p>An answer with a good status is a hit; any other, a refused connection, garbage and a time-out are misses.
 *
 * <p><b>Threading:</b> confined to the watch loop.
 */
final class HealthProbe implements GetClient.Reader, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(HealthProbe.class);
    private static final int LARGEST_BODY = 65_536;
    private static final Duration UNRESOLVED = Duration.ofMillis(100);

    private final Replica replica;
    private final WatchSettings.Health settings;
    private final Verdict verdict;
    private final SlowStart slowStart;
    private final GetClient client;
    private final Pace pace;
    private int status;
    private int bytes;

    HealthProbe(Replica replica, EventLoop loop, WatchSettings settings) {
        this.replica = replica;
        this.settings = settings.health();
        this.verdict = new Verdict(this.settings.misses(), this.settings.hits());
        this.slowStart = new SlowStart(replica, loop, settings.slowStart().toNanos());
        this.client = new GetClient(replica, replica.options().health().path(), loop, this.settings.timeout());
        this.pace = new Pace(loop, this::ask);
    }

    void begin() {
        pace.begin();
    }

    /** Without an address it can't serve anyway. */
    private void ask() {
        InetSocketAddress to = replica.socketAddress();
        if (to == null) {
            pace.over(Math.min(UNRESOLVED.toNanos(), settings.interval().toNanos()));
        } else {
            client.get(to, settings.interval(), this);
        }
    }

    @Override
    public void begins(int answered) {
        status = answered;
        bytes = 0;
    }

    @Override
    public boolean part(ByteBuf part) {
        bytes += part.readableBytes();
        if (bytes <= LARGEST_BODY) {
            return true;
        }
        ends();
        return false;
    }

    @Override
    public void ends() {
        if (replica.options().health().isGood(status)) {
            changed(verdict.hit(), "");
            pace.over(settings.interval().toNanos());
        } else {
            fails("status " + status);
        }
    }

    @Override
    public void fails(String why) {
        changed(verdict.miss(), why);
        pace.over(settings.interval().toNanos());
    }

    private void changed(Verdict.Change change, String why) {
        switch (change) {
            case NONE -> {}
            case UP -> {
                LOG.debug("Replica {} is up", replica);
                replica.up(true);
            }
            case BACK -> {
                LOG.info("Replica {} is up again", replica);
                slowStart.begin();
                replica.up(true);
            }
            case DOWN -> {
                LOG.warn("Replica {} is down: {}", replica, why);
                slowStart.stop();
                replica.up(false);
            }
        }
    }

    @Override
    public void close() {
        pace.stop();
        slowStart.stop();
        client.close();
    }
}
