package routes.usage;

import java.util.Map;
import org.apache.camel.Endpoint;
import org.apache.camel.spi.annotations.Component;
import org.apache.camel.support.DefaultComponent;

/** The component of {@code usage:completed}, which reads the usage journal of the registry. */
@Component("usage")
public final class UsageComponent extends DefaultComponent {

    private static final String COMPLETED = "completed";

    @Override
    protected Endpoint createEndpoint(String uri, String remaining, Map<String, Object> parameters) throws Exception {
        if (!COMPLETED.equals(remaining)) {
            throw new IllegalArgumentException(
                    "usage:" + remaining + " does not exist (expected: usage:" + COMPLETED + ")");
        }
        UsageEndpoint endpoint = new UsageEndpoint(uri, this);
        endpoint.setTopic(remaining);
        setProperties(endpoint, parameters);
        return endpoint;
    }
}
