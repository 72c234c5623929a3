package routes.journey;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import routes.fixture.Payloads;

/**
 * A fake vLLM server that something befalls now and then: it answers each {@link FaultCase} as scripted, or as its
 * {@link Fault} has it, and enters every request that it reads into the {@link FaultLedger}. Keeps nothing itself, so that it
 * can run for hours.
 *
 * <p><b>Threading:</b> {@link #begin}, {@link #flip} and {@link #end} by one thread at a time; its own threads, one a
 * connection, are daemons.
 */
final class FaultyReplica implements AutoCloseable {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int BACKLOG = 512;
    private static final int CONNECT_MILLIS = 200;
    private static final int MOST_FILLERS = 64;
    private static final int LARGEST_HEAD = 16_384;
    private static final long BIND_PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(20);
    private static final InetAddress HOST = InetAddress.getLoopbackAddress();

    private final FaultLedger ledger;
    private final int slots;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final AtomicInteger active = new AtomicInteger();
    private final LongAdder served = new LongAdder();
    private final List<Socket> fillers = new ArrayList<>();
    private final Object gate = new Object();
    private @Nullable ServerSocket server;
    private @Nullable Thread acceptor;
    private int port;
    private boolean paused;
    private volatile Fault fault = Fault.NONE;

    /** @param slots that it says others use when it is crowded */
    FaultyReplica(FaultLedger ledger, int slots) throws IOException {
        this.ledger = ledger;
        this.slots = slots;
        listen();
    }

    String url() {
        return "http://127.0.0.1:" + port;
    }

    int port() {
        return port;
    }

    Fault fault() {
        return fault;
    }

    /** Good answers that it has given to the end. */
    long served() {
        return served.sum();
    }

    /** Connections that the gateway has open here, those of its probes among them. */
    int connections() {
        return open.size();
    }

    // ---- what befalls it

    /** Lasts until {@link #end}; one at a time. */
    void begin(Fault next) throws IOException {
        switch (next) {
            case KILLED, FLAPPING -> kill();
            case PAUSED -> pause(true);
            case BLACK_HOLED -> {
                refuse();
                pause(true);
                swallow();
            }
            default -> {}
        }
        fault = next;
    }

    /** For one that flaps: goes when it is there, comes when it is not. */
    void flip() throws IOException {
        if (acceptor == null) {
            listen();
        } else {
            kill();
        }
    }

    void end() throws IOException {
        fault = Fault.NONE;
        if (acceptor == null) {
            refuse();
            listen();
        }
        pause(false);
    }

    private void listen() throws IOException {
        ServerSocket next = bind(BACKLOG);
        server = next;
        port = next.getLocalPort();
        acceptor = daemon("faulty-accept-" + port, () -> accept(next));
    }

    /** A connection of somebody else may have the port for a moment. */
    private ServerSocket bind(int backlog) throws IOException {
        long deadline = System.nanoTime() + BIND_PATIENCE_NANOS;
        while (true) {
            ServerSocket next = new ServerSocket();
            try {
                next.setReuseAddress(true);
                next.bind(new InetSocketAddress(HOST, port), backlog);
                return next;
            } catch (BindException e) {
                next.close();
                if (System.nanoTime() - deadline > 0) {
                    throw e;
                }
                LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
            }
        }
    }

    private void kill() throws IOException {
        refuse();
        for (Socket each : open) {
            reset(each);
        }
    }

    private void refuse() throws IOException {
        for (Socket filler : fillers) {
            filler.close();
        }
        fillers.clear();
        ServerSocket closing = server;
        Thread accepting = acceptor;
        server = null;
        acceptor = null;
        if (closing != null) {
            closing.close();
        }
        if (accepting != null) {
            joinUninterruptibly(accepting);
        }
    }

    /** A full backlog that nobody takes from: the kernel drops further attempts. */
    private void swallow() throws IOException {
        server = bind(1);
        boolean full = false;
        while (!full && fillers.size() < MOST_FILLERS) {
            Socket filler = new Socket();
            fillers.add(filler);
            try {
                filler.connect(new InetSocketAddress(HOST, port), CONNECT_MILLIS);
            } catch (SocketTimeoutException e) {
                full = true;
            }
        }
    }

    private void pause(boolean now) {
        synchronized (gate) {
            paused = now;
            gate.notifyAll();
        }
    }

    private void passGate() throws InterruptedException {
        synchronized (gate) {
            while (paused) {
                gate.wait();
            }
        }
    }

    @Override
    public void close() throws IOException {
        refuse();
        pause(false);
        for (Socket each : open) {
            reset(each);
        }
    }

    // ---- its connections

    private void accept(ServerSocket from) {
        try {
            while (true) {
                Socket socket = from.accept();
                open.add(socket);
                daemon("faulty-serve-" + port, () -> serve(socket));
            }
        } catch (IOException e) {
            // the port is closed
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            InputStream in = new BufferedInputStream(socket.getInputStream(), LARGEST_HEAD);
            boolean more = true;
            for (int index = 0; more; index++) {
                String head = readHead(in);
                passGate();
                more = head != null && answer(socket, in, head, index == 0);
            }
        } catch (IOException | InterruptedException e) {
            // the gateway left, or a fault ended the connection
        } catch (RuntimeException | Error e) {
            ledger.failed(e);
        } finally {
            open.remove(socket);
        }
    }

    /** @return whether the connection stays */
    private boolean answer(Socket socket, InputStream in, String head, boolean fresh)
            throws IOException, InterruptedException {
        if (head.startsWith("GET ")) {
            write(socket, probe(head.startsWith("GET /metrics ")));
            return true;
        }
        if (fault == Fault.RESET_UNREAD) {
            ledger.met(Fault.RESET_UNREAD);
            reset(socket);
            return false;
        }
        byte[] body = in.readNBytes(Integer.parseInt(header(head, "content-length")));
        passGate();
        JsonNode asked = JSON.readTree(body);
        String upstreamId = header(head, "x-request-id");
        Fault now = fault;
        FaultCase to = ledger.arrived(
                header(head, "x-case"),
                asked.at("/messages/0/content").asText(),
                new FaultCase.Attempt(upstreamId, url(), fresh, now));
        active.incrementAndGet();
        try {
            return answer(socket, in, new Answer(to, upstreamId, asked), now);
        } finally {
            active.decrementAndGet();
        }
    }

    private String probe(boolean load) {
        return switch (fault) {
            case LOADING -> Payloads.answer(503, "");
            case GARBAGE -> "garbage\r\n\r\n";
            default -> Payloads.answer(200, load ? metrics() : "");
        };
    }

    private String metrics() {
        return "vllm:num_requests_running{engine=\"0\"} " + (active.get() + (fault == Fault.CROWDED ? slots : 0))
                + "\nvllm:num_requests_waiting{engine=\"0\"} 0\n";
    }

    // ---- answers

    /** The good answer to one attempt, as it is on the wire. */
    private static final class Answer {
        private final List<String> parts = new ArrayList<>();
        private final String upstreamId;
        private final Random random;
        private final boolean inChunks;

        Answer(FaultCase to, String upstreamId, JsonNode asked) {
            this.upstreamId = upstreamId;
            random = new Random(upstreamId.hashCode());
            inChunks = to.isStream();
            if (to.isStream()) {
                parts.add(Payloads.sseHead());
                boolean usage = asked.at("/stream_options/include_usage").asBoolean();
                to.events(upstreamId, usage).forEach(event -> parts.add(Payloads.chunk(event)));
                parts.add(Payloads.LAST_CHUNK);
            } else {
                String json = to.json(upstreamId);
                parts.add(Payloads.plainHead(200, json.length()));
                parts.add(json.substring(0, json.length() / 2));
                parts.add(json.substring(json.length() / 2));
            }
        }

        String whole() {
            return String.join("", parts);
        }

        String error(int status, String... headers) {
            return Payloads.answer(status, FaultCase.error(status, upstreamId), headers);
        }

        /** The head and a part of the body that ends inside of something. */
        String part() {
            String all = whole();
            int head = parts.get(0).length();
            return all.substring(0, head + 3 + random.nextInt(all.length() - head - 10));
        }

        /** A good beginning, and then no chunk. */
        String badChunk() {
            String plainHead = parts.get(0).replaceAll("Content-Length: \\d+", "Transfer-Encoding: chunked");
            return inChunks
                    ? parts.get(0) + parts.get(1) + "xyz\r\n"
                    : plainHead + Payloads.chunk(parts.get(1)) + "xyz\r\n";
        }
    }

    private boolean answer(Socket socket, InputStream in, Answer answer, Fault now)
            throws IOException, InterruptedException {
        switch (now) {
            case LOADING -> write(socket, answer.error(503));
            case BUSY -> write(socket, answer.error(429, "Retry-After: 1"));
            case FAILING -> write(socket, answer.error(500));
            case GARBAGE -> {
                write(socket, "garbage\r\n\r\n");
                return false;
            }
            case HALF_HEAD -> {
                write(socket, "HTTP/1.1 200 OK\r\nCont");
                return false;
            }
            case HALF_BODY -> {
                write(socket, answer.part());
                return false;
            }
            case BAD_CHUNK -> {
                write(socket, answer.badChunk());
                awaitEnd(in);
                return false;
            }
            case RESET -> {
                reset(socket);
                return false;
            }
            case RESET_INSIDE -> {
                write(socket, answer.part());
                reset(socket);
                return false;
            }
            case SILENT -> {
                awaitEnd(in);
                return false;
            }
            case STALLED -> {
                write(socket, answer.part());
                awaitEnd(in);
                return false;
            }
            case SLOW -> {
                writeSlowly(socket, answer, 20 + answer.random.nextInt(100));
                served.increment();
            }
            default -> {
                if (answer.random.nextInt(3) == 0) {
                    writeSlowly(socket, answer, 5);
                } else {
                    write(socket, answer.whole());
                }
                served.increment();
            }
        }
        return true;
    }

    private void writeSlowly(Socket socket, Answer answer, int pauseMillis) throws IOException, InterruptedException {
        for (String part : answer.parts) {
            TimeUnit.MILLISECONDS.sleep(pauseMillis);
            write(socket, part);
        }
    }

    private void write(Socket socket, String text) throws IOException, InterruptedException {
        passGate();
        OutputStream out = socket.getOutputStream();
        out.write(text.getBytes(StandardCharsets.ISO_8859_1));
        out.flush();
    }

    private static void awaitEnd(InputStream in) throws IOException {
        while (in.read() >= 0) {
            // nothing is expected before the gateway leaves
        }
    }

    private static void reset(Socket socket) throws IOException {
        try {
            socket.setSoLinger(true, 0);
        } catch (IOException e) {
            // already closed
        }
        socket.close();
    }

    /** Request line and headers; null when the connection ended before. */
    private static @Nullable String readHead(InputStream in) throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream(512);
        int matched = 0;
        while (matched < 4) {
            int next = in.read();
            if (next < 0) {
                return null;
            }
            if (head.size() == LARGEST_HEAD) {
                throw new IllegalStateException("a head of more than " + LARGEST_HEAD + " bytes");
            }
            head.write(next);
            matched = next == "\r\n\r\n".charAt(matched) ? matched + 1 : next == '\r' ? 1 : 0;
        }
        return head.toString(StandardCharsets.ISO_8859_1);
    }

    private static String header(String head, String name) {
        return Arrays.stream(head.split("\r\n"))
                .filter(line -> line.regionMatches(true, 0, name + ":", 0, name.length() + 1))
                .map(line -> line.substring(name.length() + 1).strip())
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no " + name + " in: " + head));
    }

    private static Thread daemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void joinUninterruptibly(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
