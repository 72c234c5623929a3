package routes.journey;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import routes.fixture.Payloads;

/**
 * A fake vLLM server that answers each {@link BilledKind} and keeps its own books: the tokens that it made for each request,
 * by the id that stands in the prompt.
 *
 * <p><b>Threading:</b> its own threads, one a connection, are daemons; the books may be read from any thread.
 */
final class BilledReplica implements AutoCloseable {

    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * What was made for a request.
     *
     * @param completion tokens that were sent
     */
    record Tokens(BilledKind kind, long prompt, long completion) {}

    private final Map<String, Tokens> books;
    private final Queue<String> complaints;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final ServerSocket server = new ServerSocket(0, 512, InetAddress.getLoopbackAddress());
    private final boolean busyFirst;

    private BilledReplica(Map<String, Tokens> books, Queue<String> complaints, boolean busyFirst) throws IOException {
        this.books = books;
        this.complaints = complaints;
        this.busyFirst = busyFirst;
        daemon("billed-accept", this::accept);
    }

    static BilledReplica start() throws IOException {
        return new BilledReplica(new ConcurrentHashMap<>(), new ConcurrentLinkedQueue<>(), true);
    }

    /** Another one, with the same books. */
    BilledReplica startAnother() throws IOException {
        return new BilledReplica(books, complaints, false);
    }

    String url() {
        return "http://127.0.0.1:" + server.getLocalPort();
    }

    Map<String, Tokens> books() {
        return books;
    }

    /** What must not have happened, such as a second answer to one request. */
    Queue<String> complaints() {
        return complaints;
    }

    static String prompt(String id, BilledKind kind) {
        return kind + " " + id;
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Socket each : open) {
            each.close();
        }
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = server.accept();
                open.add(socket);
                daemon("billed-serve", () -> serve(socket));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            InputStream in = new BufferedInputStream(socket.getInputStream(), 16_384);
            boolean more = true;
            while (more) {
                String head = readHead(in);
                more = head != null && answer(socket, in, head);
            }
        } catch (IOException e) {
            // the gateway left
        } catch (RuntimeException | Error e) {
            complaints.add(e.toString());
        } finally {
            open.remove(socket);
        }
    }

    /** @return whether the connection stays */
    private boolean answer(Socket socket, InputStream in, String head) throws IOException {
        if (head.startsWith("GET ")) {
            write(socket, Payloads.answer(200, ""));
            return true;
        }
        JsonNode asked = JSON.readTree(in.readNBytes(Integer.parseInt(header(head, "content-length"))));
        String[] prompt = asked.at("/messages/0/content").asText().split(" ", 2);
        BilledKind kind = BilledKind.valueOf(prompt[0]);
        String id = prompt[1];
        if (kind == BilledKind.SECOND_TRY && busyFirst) {
            write(socket, Payloads.answer(503, Payloads.error(503, "QueueOverflowError", "busy")));
            return true;
        }
        if (kind == BilledKind.REFUSED) {
            enter(id, new Tokens(kind, 0, 0));
            write(socket, Payloads.answer(400, Payloads.error(400, "BadRequestError", "no")));
            return true;
        }
        Random random = new Random(id.hashCode());
        long tokensOfPrompt = 1 + random.nextInt(5_000);
        int events = 1 + random.nextInt(12);
        if (!kind.isStream()) {
            return answerWhole(socket, id, new Tokens(kind, tokensOfPrompt, events));
        }
        return answerInEvents(socket, in, id, kind, tokensOfPrompt, events, random);
    }

    private boolean answerWhole(Socket socket, String id, Tokens tokens) throws IOException {
        enter(id, tokens);
        String json = "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"" + "x".repeat((int) tokens.completion())
                + "\"},\"finish_reason\":\"stop\"}]," + usage(tokens) + "}";
        String wire = Payloads.answer(200, json);
        boolean broken = tokens.kind() == BilledKind.BROKEN_PLAIN;
        write(socket, broken ? wire.substring(0, wire.length() - usage(tokens).length() - 1) : wire);
        return !broken;
    }

    private boolean answerInEvents(
            Socket socket, InputStream in, String id, BilledKind kind, long prompt, int events, Random random)
            throws IOException {
        StringBuilder wire = new StringBuilder(Payloads.sseHead());
        long completion = 0;
        for (int i = 0; i < events; i++) {
            completion += kind.tellsRunningCounts() ? random.nextInt(4) : 1;
            Tokens soFar = new Tokens(kind, prompt, completion);
            wire.append(Payloads.chunk(Payloads.event("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"t" + i
                    + "\"}}]" + (kind.tellsRunningCounts() ? "," + usage(soFar) : "") + "}")));
        }
        Tokens tokens = new Tokens(kind, prompt, completion);
        enter(id, tokens);
        boolean whole = kind.source().equals("final");
        if (whole) {
            wire.append(Payloads.chunk(Payloads.EVENT_STOP))
                    .append(Payloads.chunk(Payloads.event("{\"choices\":[]," + usage(tokens) + "}")))
                    .append(Payloads.chunk(Payloads.EVENT_DONE))
                    .append(Payloads.LAST_CHUNK);
        } else {
            wire.append(Payloads.chunk(": all of it\n\n"));
        }
        write(socket, wire.toString());
        if (kind.staysOpen()) {
            // the gateway closes when its client has left
            in.read();
        }
        return whole;
    }

    private void enter(String id, Tokens tokens) {
        if (books.put(id, tokens) != null) {
            complaints.add("answered twice: " + id);
        }
    }

    private static String usage(Tokens tokens) {
        return "\"usage\":{\"prompt_tokens\":" + tokens.prompt() + ",\"completion_tokens\":" + tokens.completion()
                + ",\"total_tokens\":" + (tokens.prompt() + tokens.completion()) + "}";
    }

    private static void write(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
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
            head.write(next);
            matched = next == "\r\n\r\n".charAt(matched) ? matched + 1 : next == '\r' ? 1 : 0;
        }
        return head.toString(StandardCharsets.ISO_8859_1);
    }

    private static String header(String head, String name) {
        return head.lines()
                .filter(line -> line.regionMatches(true, 0, name + ":", 0, name.length() + 1))
                .map(line -> line.substring(name.length() + 1).strip())
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no " + name + " in: " + head));
    }

    private static void daemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }
}
