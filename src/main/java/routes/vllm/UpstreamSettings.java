package routes.vllm;

import java.util.Set;
import routes.config.Setting;
import routes.config.Settings;

/**
 * How the gateway talks to replicas.
 *
 * @param forwardHeaders lower-case names of further request headers that go upstream
 */
public record UpstreamSettings(int connectMillis, long stallNanos, long poolIdleNanos, Set<String> forwardHeaders) {

    public static UpstreamSettings of(Settings settings) {
        return new UpstreamSettings(
                (int) Math.min(
                        Integer.MAX_VALUE,
                        settings.duration(Setting.CONNECT_TIMEOUT).toMillis()),
                settings.nanos(Setting.STALL_TIMEOUT),
                settings.nanos(Setting.POOL_IDLE_TIMEOUT),
                settings.names(Setting.FORWARD_HEADERS));
    }
}
