package routes;

import java.util.ArrayList;
import java.util.List;
import org.apache.camel.support.service.ServiceSupport;
import routes.config.Setting;
import routes.config.Settings;
import routes.demo.DemoOptions;
import routes.demo.DemoReplica;

/** The demo replicas that the dev profile runs inside the gateway's process. */
final class DemoReplicas extends ServiceSupport {

    private final int count;
    private final int firstPort;
    private final List<DemoReplica> running = new ArrayList<>();

    DemoReplicas(Settings settings) {
        count = settings.integer(Setting.DEMO_REPLICAS);
        firstPort = settings.integer(Setting.DEMO_FIRST_PORT);
    }

    @Override
    protected void doStart() throws Exception {
        for (int i = 0; i < count; i++) {
            running.add(DemoReplica.start(DemoOptions.builder()
                    .name("demo-" + (i + 1))
                    .models("demo")
                    .port(firstPort + i)
                    .build()));
        }
    }

    @Override
    protected void doStop() {
        running.forEach(DemoReplica::close);
        running.clear();
    }
}
