package routes.door;

import java.time.Duration;
import routes.config.Setting;
import routes.config.Settings;
import routes.request.Timeouts;

/** The bounds of the front door. Times in nanoseconds. */
record DoorLimits(Sizes sizes, long headerNanos, long bodyNanos, long idleNanos, Answering answering) {

    /** Bytes. */
    record Sizes(int head, int fields, long body) {}

    /**
     * @param stallNanos how long a client may take nothing
     * @param timeouts of requests, unless their models or their clients say otherwise
     */
    record Answering(long stallNanos, Timeouts timeouts, TimeoutHeader header) {}

    /** A rejected request's unread body is skipped up to this size, so that its connection stays usable. */
    static final long SKIP_BYTES = 65_536;

    /** Requests sent ahead are kept up to this size; beyond it the connection isn't read. */
    static final int AHEAD_BYTES = 65_536;

    /** After an answer that closes the connection, what still arrives is thrown away so that the client can read it. */
    static final long LINGER_BYTES = 64L << 20;

    static final long LINGER_NANOS = Duration.ofSeconds(5).toNanos();

    static DoorLimits of(Settings settings) {
        return new DoorLimits(
                new Sizes(
                        (int) settings.bytes(Setting.MAX_HEAD_BYTES),
                        settings.integer(Setting.MAX_HEADER_FIELDS),
                        settings.bytes(Setting.MAX_BODY_BYTES)),
                settings.nanos(Setting.HEADER_TIMEOUT),
                settings.nanos(Setting.BODY_TIMEOUT),
                settings.nanos(Setting.IDLE_TIMEOUT),
                new Answering(
                        settings.nanos(Setting.WRITE_STALL_TIMEOUT),
                        Timeouts.of(settings),
                        TimeoutHeader.of(settings)));
    }
}
