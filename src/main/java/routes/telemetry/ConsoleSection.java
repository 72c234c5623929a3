package routes.telemetry;

/** A part of what the console shows. */
public interface ConsoleSection {

    /** Such as {@code pools}. */
    String name();

    /**
     * What there is to see now: maps with names as keys, collections, texts, numbers and booleans. Never a secret.
     *
     * <p><b>Threading:</b> any thread, none of an event loop.
     */
    Object json();
}
