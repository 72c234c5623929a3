package routes.command;

import java.util.List;

/** What commands do that needs the whole gateway. */
public interface Entries {

    /** Runs the gateway until it ends. @return the exit status */
    int run(List<String> options);

    /** Runs a demo replica until it ends. @return the exit status */
    int demo(List<String> options) throws Exception;

    /**
     * A dry run: reads and builds all that a start would, and starts nothing.
     *
     * @param options as those of {@link #run}
     * @throws IllegalArgumentException for options that make no sense
     */
    Findings check(List<String> options);
}
