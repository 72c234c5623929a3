package routes;

import java.util.function.Consumer;
import org.apache.camel.CamelContext;
import org.apache.camel.main.BaseMainSupport;
import org.apache.camel.main.MainListenerSupport;

/** Tells when all routes have started. */
final class Announcement extends MainListenerSupport {

    private final Consumer<CamelContext> ready;

    Announcement(Consumer<CamelContext> ready) {
        this.ready = ready;
    }

    @Override
    public void afterStart(BaseMainSupport main) {
        ready.accept(main.getCamelContext());
    }
}
