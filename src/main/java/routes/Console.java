package routes;

import java.util.List;
import org.apache.camel.CamelContext;
import org.apache.camel.console.DevConsole;
import org.apache.camel.console.DevConsoleRegistry;
import org.apache.camel.impl.console.DefaultDevConsoleRegistry;
import org.jspecify.annotations.Nullable;
import routes.telemetry.ConsoleSection;
import routes.telemetry.GatewayConsole;

/**
 * The console of the gateway on the management port, without those that Camel has of its own: some of them run or send
 * whatever they are given. Who wants them all the same sets {@code camel.main.devConsoleEnabled}.
 */
final class Console {

    /** Loads nothing from the class path. */
    private static final class OursOnly extends DefaultDevConsoleRegistry {

        OursOnly(CamelContext context) {
            super(context);
        }

        @Override
        public void loadDevConsoles(boolean force) {}

        @Override
        public @Nullable DevConsole resolveById(String id) {
            return getConsole(id).orElse(null);
        }
    }

    private Console() {}

    /** Shows the sections at {@code /q/dev/dromedary}. */
    static void open(CamelContext context, List<ConsoleSection> sections) {
        boolean all = Boolean.TRUE.equals(context.isDevConsole());
        DevConsoleRegistry registry = all ? DevConsoleRegistry.get(context) : new OursOnly(context);
        registry.register(new GatewayConsole(sections));
        context.getCamelContextExtension().addContextPlugin(DevConsoleRegistry.class, registry);
        context.setDevConsole(true);
    }
}
