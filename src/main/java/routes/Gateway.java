package routes;

/** Starts the gateway; see {@link Launcher} for its options. */
public final class Gateway {

    private Gateway() {}

    public static void main(String[] args) throws Exception {
        System.exit(new Launcher().run(args));
    }
}
