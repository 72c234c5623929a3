package routes;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.camel.FailedToCreateRouteException;
import org.apache.camel.FailedToStartRouteException;
import org.jspecify.annotations.Nullable;

/** Says in one line why a start failed: the route, where one is to blame, and the cause. */
final class StartFailure {

    /** Camel shows values of options that it doesn't know; one may be a key with a misspelt name. */
    private static final Pattern UNKNOWN_OPTIONS = Pattern.compile(
            "Failed to resolve endpoint: ([^?\\s]+)\\S*.* Unknown parameters=\\[\\{(.*)}].*", Pattern.DOTALL);

    private static final Pattern NO_VARIABLE = Pattern.compile("Property with key \\[env:([^]]+)].*", Pattern.DOTALL);

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
        text = inWords(text);
        String place = route == null || text.contains("route " + route) ? "" : "route " + route + ": ";
        return place + text.replaceAll("\\s*\\R\\s*", " ").trim();
    }

    private static String inWords(String text) {
        Matcher unknown = UNKNOWN_OPTIONS.matcher(text);
        if (unknown.matches()) {
            return unknown.group(1) + ": unknown option "
                    + unknown.group(2).replaceAll("=.*?(, (?=[\\w.-]+=)|$)", "$1")
                    + " (expected: options of this component, as they are spelt)";
        }
        Matcher variable = NO_VARIABLE.matcher(text);
        return variable.matches()
                ? "environment variable " + variable.group(1) + ": not set (expected: a value for {{env:"
                        + variable.group(1) + "}})"
                : text;
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
