package routes.health;

import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import routes.replica.Replica;

/**
 * Asks one replica again and again how many requests it has, and tells the replica's own state how many are not ours: those
 * beyond the most that we had there at once shortly before and during the question.
 *
 * <p><b>Threading:</b> confined to the watch loop, but for {@link #reading}. <b>Failure:</b> the last reading counts until it
 * is too old; from then on the load is unknown. A replica that doesn't report any is asked seldom.
 */
final class LoadProbe implements GetClient.Reader, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(LoadProbe.class);
    private static final int LARGEST_PAGE = 8 << 20;
    private static final int NOT_FOUND = 404;

    /** A request that we ended so shortly before the question may still be counted in the answer. */
    private static final Duration LINGERING = Duration.ofMillis(100);

    private static final Duration SELDOM = Duration.ofSeconds(60);

    private final Replica replica;
    private final EventLoop loop;
    private final WatchSettings.Load settings;
    private final MetricsScanner scanner;
    private final GetClient client;
    private final Pace pace;
    private int status;
    private int bytes;
    private boolean silent;
    private @Nullable Future<?> asking;
    private @Nullable Future<?> expiry;
    private volatile @Nullable LoadReading reading;

    LoadProbe(Replica replica, EventLoop loop, WatchSettings settings) {
        this.replica = replica;
        this.loop = loop;
        this.settings = settings.load();
        this.scanner = new MetricsScanner(this.settings.running(), this.settings.waiting());
        this.client = new GetClient(
                replica, replica.options().loadPath(), loop, settings.health().timeout());
        this.pace = new Pace(loop, this::prepare);
    }

    void begin() {
        pace.begin();
    }

    /** The last report, however old. */
    @Nullable
    LoadReading reading() {
        return reading;
    }

    private void prepare() {
        if (replica.isUp()) {
            replica.beginPeak();
            long lead = Math.min(LINGERING.toNanos(), settings.interval().toNanos() / 2);
            asking = loop.schedule(this::ask, lead, TimeUnit.NANOSECONDS);
        } else {
            pace.over(settings.interval().toNanos());
        }
    }

    private void ask() {
        InetSocketAddress to = replica.socketAddress();
        if (to == null) {
            pace.over(settings.interval().toNanos());
        } else {
            client.get(to, silent ? SELDOM : settings.interval(), this);
        }
    }

    @Override
    public void begins(int answered) {
        status = answered;
        bytes = 0;
        scanner.begin();
    }

    @Override
    public boolean part(ByteBuf part) {
        bytes += part.readableBytes();
        if (bytes > LARGEST_PAGE) {
            again();
            return false;
        }
        if (isGood()) {
            scanner.read(part);
        }
        return true;
    }

    @Override
    public void ends() {
        scanner.end();
        OptionalLong running = scanner.running();
        if (isGood() && running.isPresent()) {
            reported(running.getAsLong(), scanner.waiting().orElse(0));
        } else if (isGood() || status == NOT_FOUND) {
            reportsNothing();
        }
        again();
    }

    @Override
    public void fails(String why) {
        again();
    }

    private boolean isGood() {
        return status >= 200 && status < 300;
    }

    private void reported(long running, long waiting) {
        silent = false;
        reading = new LoadReading(running, waiting, System.nanoTime());
        replica.foreign(
                count(running + waiting - replica.peak()),
                count(waiting - replica.backlog().requests()));
        stop(expiry);
        expiry = loop.schedule(() -> replica.foreign(0, 0), settings.maxAge().toNanos(), TimeUnit.NANOSECONDS);
    }

    private static int count(long requests) {
        return (int) Math.max(0, Math.min(requests, Integer.MAX_VALUE));
    }

    private void reportsNothing() {
        if (!silent) {
            silent = true;
            LOG.info(
                    "Replica {} does not report its load at {}: status {}, none of the metrics {}",
                    replica,
                    replica.options().loadPath(),
                    status,
                    settings.running());
        }
    }

    private void again() {
        pace.over((silent ? SELDOM : settings.interval()).toNanos());
    }

    private static void stop(@Nullable Future<?> scheduled) {
        if (scheduled != null) {
            scheduled.cancel(false);
        }
    }

    @Override
    public void close() {
        pace.stop();
        stop(asking);
        stop(expiry);
        client.close();
    }
}
