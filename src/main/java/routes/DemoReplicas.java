package routes;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.camel.CamelContext;
import org.apache.camel.support.service.ServiceSupport;
import routes.config.Setting;
import routes.config.Settings;
import routes.demo.DemoOptions;
import routes.demo.DemoReplica;

/**
 * The demo replicas that the dev profile runs inside the gateway's process. Routes find them by the properties {@code
 * demo.replica-1}, {@code demo.replica-2} and so on, unless these are set otherwise.
 */
final class DemoReplicas extends ServiceSupport {

    private final CamelContext context;
    private final int count;
    private final int firstPort;
    private final List<DemoReplica> running = new ArrayList<>();

    DemoReplicas(CamelContext context, Settings settings) {
        this.context = context;
        this.count = settings.integer(Setting.DEMO_REPLICAS);
        this.firstPort = settings.integer(Setting.DEMO_FIRST_PORT);
    }

    @Override
    protected void doStart() {
        for (int number = 1; number <= count; number++) {
            DemoReplica replica = start(number, firstPort == 0 ? 0 : firstPort + number - 1);
            running.add(replica);
            context.getPropertiesComponent().addInitialProperty("demo.replica-" + number, replica.url());
        }
    }

    private static DemoReplica start(int number, int port) {
        try {
            return DemoReplica.start(DemoOptions.builder()
                    .name("demo-" + number)
                    .models("demo")
                    .port(port)
                    .build());
        } catch (IOException e) {
            throw new IllegalStateException(
                    Setting.DEMO_FIRST_PORT.key() + ": demo replica " + number + ": " + e.getMessage()
                            + " (expected: the first of some free ports, or 0; environment: "
                            + Setting.DEMO_FIRST_PORT.environmentName() + ")",
                    e);
        }
    }

    @Override
    protected void doStop() {
        running.forEach(DemoReplica::close);
        running.clear();
    }
}
