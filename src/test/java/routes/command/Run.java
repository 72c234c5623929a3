package routes.command;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;

/** One call of the command line and what came of it. */
public record Run(int status, String out, String err) {

    /** What needs no gateway. */
    static Run of(String... arguments) {
        return in(Map.of(), arguments);
    }

    /** The same in an environment. */
    static Run in(Map<String, String> environment, String... arguments) {
        return with(new NoGateway(), environment, arguments);
    }

    public static Run with(Entries entries, Map<String, String> environment, String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int status =
                new Commands(entries, environment::get, new PrintWriter(out), new PrintWriter(err)).execute(arguments);
        return new Run(status, out.toString(), err.toString());
    }

    private static final class NoGateway implements Entries {

        @Override
        public int run(List<String> options) {
            throw new AssertionError("run " + options);
        }

        @Override
        public int demo(List<String> options) {
            throw new AssertionError("demo " + options);
        }

        @Override
        public Findings check(List<String> options) {
            throw new AssertionError("check " + options);
        }
    }
}
