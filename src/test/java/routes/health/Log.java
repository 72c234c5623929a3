package routes.health;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.config.Property;

/** What this package logs while it is open. */
final class Log implements AutoCloseable {

    private static final String PACKAGE = Log.class.getPackageName();

    private final Queue<String> lines = new ConcurrentLinkedQueue<>();
    private final LoggerContext context = (LoggerContext) LogManager.getContext(false);

    Log() {
        AbstractAppender appender = new AbstractAppender("probes", null, null, true, Property.EMPTY_ARRAY) {
            @Override
            public void append(LogEvent event) {
                lines.add(event.getLevel() + " " + event.getMessage().getFormattedMessage());
            }
        };
        appender.start();
        LoggerConfig config = new LoggerConfig(PACKAGE, Level.INFO, false);
        config.addAppender(appender, Level.INFO, null);
        context.getConfiguration().addLogger(PACKAGE, config);
        context.updateLoggers();
    }

    List<String> lines() {
        return List.copyOf(lines);
    }

    @Override
    public void close() {
        context.getConfiguration().removeLogger(PACKAGE);
        context.updateLoggers();
    }
}
