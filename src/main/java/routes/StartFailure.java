package routes;

import org.apache.camel.FailedToCreateRouteException;
import org.apache.camel.FailedToStartRouteException;
import org.jspecify.annotations.Nullable;

/** Says in one line why a start failed: the route, where one is to blame, and the cause. */
final class StartFailure {

    private StartFailure() {}

    static String describe(Throwable failure) {
        String route = null;
        String innermost = null;
        String ours = null;
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (route == null) {
                route = routeOf(at);
            }
            String message = at.getMessage();
            if (message != null) {
                innermost = message;
                ours = ours == null && isOurs(at) ? message : ours;
            }
        }
        String text = ours != null ? ours : innermost != null ? innermost : failure.toString();
        String place = route == null || text.contains("route " + route) ? "" : "route " + route + ": ";
        return place + text.replaceAll("\\s*\\R\\s*", " ").trim();
    }

    private static @Nullable String routeOf(Throwable failure) {
        if (failure instanceof FailedToCreateRouteException created) {
            return created.getRouteId();
        }
        return failure instanceof FailedToStartRouteException started ? started.getRouteId() : null;
    }

    /** What the gateway throws says what is expected; what it wraps says less. */
    private static boolean isOurs(Throwable failure) {
        StackTraceElement[] trace = failure.getStackTrace();
        return trace.length > 0 && trace[0].getClassName().startsWith("routes.");
    }
}
