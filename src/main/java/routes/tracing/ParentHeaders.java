package routes.tracing;

import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.List;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;
import routes.request.RequestHead;
import routes.request.RequestHead.Known;

/** Reads the trace that a client's request belongs to (W3C Trace Context). */
enum ParentHeaders implements TextMapGetter<RequestHead> {
    GETTER;

    @Override
    public Iterable<String> keys(RequestHead head) {
        return List.of(Known.TRACEPARENT.lowerCase(), Known.TRACESTATE.lowerCase());
    }

    /** Two parents are none; several states are one. */
    @Override
    public @Nullable String get(@Nullable RequestHead head, String name) {
        if (head == null) {
            return null;
        }
        if (name.equals(Known.TRACEPARENT.lowerCase())) {
            return head.repeated(Known.TRACEPARENT) ? null : head.header(Known.TRACEPARENT);
        }
        return name.equals(Known.TRACESTATE.lowerCase()) ? state(head) : null;
    }

    private static @Nullable String state(RequestHead head) {
        if (!head.repeated(Known.TRACESTATE)) {
            return head.header(Known.TRACESTATE);
        }
        StringJoiner all = new StringJoiner(",");
        head.forEach((name, value) -> {
            if (name.equalsIgnoreCase(Known.TRACESTATE.lowerCase())) {
                all.add(value);
            }
        });
        return all.toString();
    }
}
