package routes.command;

import org.jspecify.annotations.Nullable;

/** The process's environment, or one of a test's own. */
@FunctionalInterface
public interface Environment {

    /** The value of a variable; null when it isn't set. */
    @Nullable
    String get(String name);
}
