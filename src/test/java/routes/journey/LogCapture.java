package routes.journey;

import io.netty.buffer.ByteBufAllocator;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.Appender;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.config.Property;
import org.apache.logging.log4j.core.layout.PatternLayout;

/**
 * Takes what is logged in this process while it is open, stack traces included, instead of the usual appenders.
 *
 * <p><b>Threading</b>: takes from any thread.
 */
final class LogCapture implements AutoCloseable {

    private final Queue<String> lines = new ConcurrentLinkedQueue<>();
    private final LoggerContext context = (LoggerContext) LogManager.getContext(false);
    private final LoggerConfig root = context.getConfiguration().getRootLogger();
    private final Map<String, Appender> usual = Map.copyOf(root.getAppenders());
    private final Level usualLevel = root.getLevel();
    private final Appender appender;

    private LogCapture(Level level) {
        PatternLayout layout = PatternLayout.newBuilder()
                .withPattern("%-5level [%t] %c - %m %ex")
                .withAlwaysWriteExceptions(false)
                .build();
        appender = new AbstractAppender("capture", null, layout, true, Property.EMPTY_ARRAY) {
            @Override
            public void append(LogEvent event) {
                lines.add(layout.toSerializable(event));
            }
        };
        appender.start();
        usual.keySet().forEach(root::removeAppender);
        root.addAppender(appender, Level.ALL, null);
        level(level);
    }

    /** All events down to this level. */
    static LogCapture at(Level level) {
        return new LogCapture(level);
    }

    /** From now on all events down to this level. */
    void level(Level level) {
        root.setLevel(level);
        context.updateLoggers();
    }

    List<String> lines() {
        return List.copyOf(lines);
    }

    List<String> errors() {
        return lines.stream().filter(line -> line.startsWith("ERROR")).toList();
    }

    /** Has Netty's leak detector say what it knows, which it logs as an error. */
    void reportLeaks() throws InterruptedException {
        ReferenceQueue<Object> cleared = new ReferenceQueue<>();
        WeakReference<Object> garbage = new WeakReference<>(new Object(), cleared);
        for (int i = 0; i < 100 && cleared.remove(50) == null; i++) {
            System.gc();
        }
        Reference.reachabilityFence(garbage);
        for (int i = 0; i < 512; i++) {
            ByteBufAllocator.DEFAULT.directBuffer(16).release();
        }
    }

    @Override
    public void close() {
        root.removeAppender("capture");
        usual.values().forEach(before -> root.addAppender(before, null, null));
        level(usualLevel);
        appender.stop();
    }
}
