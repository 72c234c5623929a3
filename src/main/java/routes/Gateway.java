package routes;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import routes.command.Commands;
import routes.command.Entries;
import routes.command.Findings;
import routes.demo.DemoReplica;

/** The program: starts the gateway, or hands on to a command. */
public final class Gateway {

    private Gateway() {}

    public static void main(String[] args) throws Exception {
        System.exit(
                isStart(args)
                        ? new Launcher().run(startOptions(args))
                        : commands().execute(args));
    }

    /** A start loads nothing that it doesn't need; {@code run} may be left out. */
    private static boolean isStart(String... args) {
        List<String> given = Arrays.asList(args);
        return !given.contains("--help")
                && !given.contains("-h")
                && (given.isEmpty()
                        || given.get(0).equals("run")
                        || given.get(0).startsWith("--"));
    }

    private static String[] startOptions(String... args) {
        return args.length > 0 && args[0].equals("run") ? Arrays.copyOfRange(args, 1, args.length) : args;
    }

    private static Commands commands() {
        return new Commands(
                new Programs(),
                System::getenv,
                new PrintWriter(System.out, true, StandardCharsets.UTF_8),
                new PrintWriter(System.err, true, StandardCharsets.UTF_8));
    }

    /** What commands start. */
    static final class Programs implements Entries {

        @Override
        public int run(List<String> options) {
            return new Launcher().run(options.toArray(new String[0]));
        }

        @Override
        public int demo(List<String> options) throws Exception {
            DemoReplica.main(options.toArray(new String[0]));
            return 0;
        }

        @Override
        public Findings check(List<String> options) {
            return new Rehearsal(RunOptions.parse(options)).findings();
        }
    }
}
