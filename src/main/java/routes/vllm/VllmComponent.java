package routes.vllm;

import java.util.Map;
import org.apache.camel.CamelContext;
import org.apache.camel.Endpoint;
import org.apache.camel.spi.annotations.Component;
import org.apache.camel.support.CamelContextHelper;
import org.apache.camel.support.DefaultComponent;
import org.jspecify.annotations.Nullable;
import routes.net.EventLoops;
import routes.replica.Replicas;

/** Makes {@code vllm:} endpoints; replicas and event loops are the gateway's own, found in the registry. */
@Component("vllm")
public final class VllmComponent extends DefaultComponent {

    private @Nullable UpstreamSettings settings;
    private @Nullable EventLoops loops;

    @Override
    protected Endpoint createEndpoint(String uri, String remaining, Map<String, Object> parameters) throws Exception {
        VllmEndpoint endpoint = new VllmEndpoint(uri, this);
        endpoint.setAddress(remaining);
        setProperties(endpoint, parameters);
        return endpoint;
    }

    @Override
    protected void doInit() throws Exception {
        super.doInit();
        settings = find(UpstreamSettings.class);
        loops = find(EventLoops.class);
    }

    UpstreamSettings settings() {
        UpstreamSettings found = settings;
        return found == null ? find(UpstreamSettings.class) : found;
    }

    EventLoops loops() {
        EventLoops found = loops;
        return found == null ? find(EventLoops.class) : found;
    }

    Replicas replicas() {
        return find(Replicas.class);
    }

    private <T> T find(Class<T> type) {
        CamelContext context = getCamelContext();
        T found = CamelContextHelper.findSingleByType(context, type);
        if (found == null) {
            throw new IllegalStateException("vllm: no " + type.getSimpleName()
                    + " in the registry (expected: the gateway's configuration class, routes.GatewayConfiguration)");
        }
        return found;
    }
}
