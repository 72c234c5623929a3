package routes.journey;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;

/** A client that asks one thing after the other and now and then leaves in between; the ledger hears of all that it sees. */
final class FaultClient implements Runnable {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int SMALL = 500;
    private static final int LARGE = 100_000;

    /** How far it goes with a request before it leaves. */
    private enum Until {
        END,
        HALF_HEAD,
        HALF_BODY,
        SENT,
        BEGUN,
        FIRST_EVENT
    }

    private final int port;
    private final int number;
    private final FaultLedger ledger;
    private final Random random;
    private RawClient connection;
    private volatile boolean stopped;

    FaultClient(int port, int number, long seed, FaultLedger ledger) throws IOException {
        this.port = port;
        this.number = number;
        this.ledger = ledger;
        this.random = new Random(seed + number);
        connection = RawClient.connect(port);
    }

    /** After the request that it is at. */
    void stop() {
        stopped = true;
    }

    @Override
    public void run() {
        try {
            for (int i = 0; !stopped; i++) {
                ask(next(i));
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10 + random.nextInt(50)));
            }
            connection.close();
        } catch (IOException | RuntimeException | Error e) {
            ledger.failed(e);
        }
    }

    private FaultCase next(int i) {
        int size = random.nextInt(4) == 0 ? random.nextInt(LARGE) : random.nextInt(SMALL);
        return ledger.add(new FaultCase(
                "c" + number + "-" + i, random.nextInt(100_000), size, random.nextInt(3) > 0, random.nextBoolean()));
    }

    private void ask(FaultCase what) throws IOException {
        Until until = random.nextInt(4) > 0 ? Until.END : Until.values()[random.nextInt(Until.values().length)];
        boolean rst = random.nextBoolean();
        try {
            talk(what, until, rst);
        } catch (IOException e) {
            what.saw(FaultCase.Seen.nothing(FaultCase.Line.MAYBE));
            ledger.wrong(what, "its connection failed: " + e);
            reconnect();
        }
    }

    private void talk(FaultCase what, Until until, boolean rst) throws IOException {
        byte[] wire = what.request().bytes();
        int head = what.request().head().length;
        FaultCase.Line sent = rst ? FaultCase.Line.MAYBE : FaultCase.Line.ONE;
        switch (until) {
            case HALF_HEAD -> {
                connection.send(Arrays.copyOf(wire, 1 + random.nextInt(head - 1)));
                leave(what, rst, FaultCase.Line.NONE);
            }
            case HALF_BODY -> {
                connection.send(Arrays.copyOf(wire, head + random.nextInt(wire.length - head)));
                leave(what, rst, sent);
            }
            case SENT -> {
                connection.send(wire);
                leave(what, rst, sent);
            }
            case BEGUN -> leaveInside(what, connection.send(wire).begin(PATIENCE), rst);
            case FIRST_EVENT -> {
                RawResponse answer = connection.send(wire).begin(PATIENCE);
                answer.until("\n\n", PATIENCE);
                leaveInside(what, answer, rst);
            }
            case END -> {
                RawResponse answer = connection.send(wire).response(PATIENCE);
                ledger.sawAnswer(what, answer);
                boolean closes =
                        answer.header("connection").filter("close"::equals).isPresent();
                if (closes || answer.end().orElseThrow() != RawResponse.End.CLEAN) {
                    reconnect();
                }
            }
        }
    }

    private void leave(FaultCase what, boolean rst, FaultCase.Line line) throws IOException {
        what.saw(FaultCase.Seen.nothing(line));
        leave(rst);
    }

    /** What has come so far must be right all the same, and may be everything. */
    private void leaveInside(FaultCase what, RawResponse answer, boolean rst) throws IOException {
        ledger.sawAnswer(what, answer);
        leave(rst);
    }

    private void leave(boolean rst) throws IOException {
        if (rst) {
            connection.leaveRst();
        } else {
            connection.leaveFin();
        }
        connection = RawClient.connect(port);
    }

    private void reconnect() throws IOException {
        connection.close();
        connection = RawClient.connect(port);
    }
}
