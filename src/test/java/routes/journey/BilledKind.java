package routes.journey;

/** What becomes of a request whose tokens are reconciled: how the replica answers it, and what its client does. */
enum BilledKind {
    PLAIN(30),
    STREAM(30),
    /** Counts so far in each event, several tokens in one. */
    RUNNING(10),
    /** The first replica is busy, the second answers. */
    SECOND_TRY(6),
    /** The replica breaks the stream off; it told nothing of its tokens. */
    BROKEN(5),
    BROKEN_RUNNING(5),
    /** The client leaves inside the stream. */
    LEFT(5),
    LEFT_RUNNING(5),
    /** The replica refuses. */
    REFUSED(2),
    /** The replica breaks a plain answer off, before its usage: nobody tells what it cost. */
    BROKEN_PLAIN(2),
    /** Goes on until the gateway ends it, as it stops. Only where it is asked for. */
    LASTING(0);

    private static final int ALL = 100;

    private final int percent;

    BilledKind(int percent) {
        this.percent = percent;
    }

    static BilledKind of(int random) {
        int left = Math.floorMod(random, ALL);
        for (BilledKind kind : values()) {
            left -= kind.percent;
            if (left < 0) {
                return kind;
            }
        }
        throw new AssertionError("the shares are not " + ALL);
    }

    boolean isStream() {
        return this != PLAIN && this != BROKEN_PLAIN && this != REFUSED;
    }

    boolean tellsRunningCounts() {
        return this == RUNNING || this == BROKEN_RUNNING || this == LEFT_RUNNING;
    }

    /** The client reads all that came and closes. */
    boolean clientLeaves() {
        return this == LEFT || this == LEFT_RUNNING;
    }

    /** The replica sends a part, and nothing after it. */
    boolean staysOpen() {
        return clientLeaves() || this == LASTING;
    }

    /** What its usage line says when the gateway was not stopped meanwhile. */
    String source() {
        return switch (this) {
            case PLAIN, STREAM, RUNNING, SECOND_TRY -> "final";
            case BROKEN_RUNNING, LEFT_RUNNING -> "running";
            case BROKEN, LEFT, LASTING -> "estimated";
            case REFUSED, BROKEN_PLAIN -> "none";
        };
    }
}
