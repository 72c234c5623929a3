package routes;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.camel.CamelContext;
import org.apache.camel.main.Main;
import org.apache.camel.main.SimpleMainShutdownStrategy;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import routes.config.Setting;
import routes.door.Door;

/**
 * Runs the gateway in a process of its own: options, one line that says where it listens, signals, exit status.
 *
 * <p><b>Failure:</b> a wrong file or property ends the start with exit status 1 and one line on standard error, a wrong
 * option with 2.
 */
final class Launcher {

    static {
        // before anything logs: libraries that use the JDK's own logging write to the same log
        System.setProperty("java.util.logging.manager", "org.apache.logging.log4j.jul.LogManager");
    }

    private static final Logger LOG = LoggerFactory.getLogger(Launcher.class);
    private static final int USAGE = 2;

    private final Main main = new Main();
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final long beganNanos = System.nanoTime();
    private @Nullable Exception failure;

    /** Runs until the gateway is told to stop; returns the exit status. */
    int run(String... args) {
        try {
            RunOptions.parse(List.of(args)).applyTo(main);
        } catch (IllegalArgumentException e) {
            System.err.println("dromedary: " + e.getMessage());
            return USAGE;
        }
        try {
            main.configure().addConfiguration(new GatewayConfiguration());
            main.setShutdownStrategy(new SimpleMainShutdownStrategy());
            main.addMainListener(new Announcement(this::ready));
            main.run();
        } catch (Exception e) {
            failure = e;
        } finally {
            stopped.countDown();
        }
        if (failure != null) {
            System.err.println("dromedary: can't start: " + StartFailure.describe(failure));
            LOG.debug("The start failed", failure);
            return 1;
        }
        return main.getExitCode();
    }

    private void ready(CamelContext context) {
        Door door = context.getRegistry().findSingleByType(Door.class);
        Drain drain = context.getRegistry().findSingleByType(Drain.class);
        if (door == null || drain == null) {
            throw new IllegalStateException("the gateway's configuration did not run");
        }
        if (door.listening().isEmpty()) {
            failure = new IllegalStateException(property(context, Setting.ROUTES)
                    + ": no front door (expected: a route from netty-http with serverInitializerFactory: \"#door\")");
            main.completed();
            return;
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> end(drain), "gateway-end"));
        String management = ManagementPort.url(context);
        LOG.info(
                "Started in {} s: Java {}, Camel {}, {} routes from {}",
                TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNanos) / 1e3,
                Runtime.version(),
                context.getVersion(),
                context.getRoutesSize(),
                property(context, Setting.ROUTES));
        System.out.println(
                "listening on " + door.listening() + (management.isEmpty() ? "" : ", management on " + management));
        if ("dev".equals(main.configure().getProfile())) {
            System.out.println(firstSteps(door.listening()));
        }
    }

    /** SIGTERM and SIGINT: end in order, with status 0. */
    private void end(Drain drain) {
        if (stopped.getCount() == 0) {
            return;
        }
        try {
            drain.await();
            main.completed();
            stopped.await();
            LOG.info("Stopped");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().halt(main.getExitCode());
    }

    private static String property(CamelContext context, Setting setting) {
        return context.getPropertiesComponent().resolveProperty(setting.key()).orElse(setting.defaultValue());
    }

    private static String firstSteps(String url) {
        return """

                Try it:

                  curl -N %s/v1/chat/completions -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' \\
                    -d '{"model":"demo","stream":true,"messages":[{"role":"user","content":"What is a dromedary?"}]}'
                """.formatted(url, GatewayConfiguration.DEV_KEY);
    }
}
