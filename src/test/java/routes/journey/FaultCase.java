package routes.journey;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import routes.fixture.Payloads;
import routes.fixture.RawResponse;
import routes.fixture.Requests;

/**
 * One request of a {@link FaultClient}: what it asks, the answer that each attempt at it gets, who has seen which attempt,
 * and what its client has seen. No two requests, and no two attempts at one, have the same answer.
 *
 * <p><b>Threading:</b> any thread.
 */
final class FaultCase {

    private static final int MOST_EVENTS = 8;

    /** What must be in the usage file about it. */
    enum Line {
        NONE,
        /** The client broke the connection off: maybe before the gateway had read the request. */
        MAYBE,
        ONE
    }

    /**
     * A request as a replica has read it.
     *
     * @param upstreamId ends with the number of the attempt, as the gateway counts them from 1
     * @param fresh whether it came on a new connection
     */
    record Attempt(String upstreamId, String replica, boolean fresh, Fault fault) {
        int number() {
            return Integer.parseInt(upstreamId.substring(upstreamId.lastIndexOf('-') + 1));
        }
    }

    /**
     * What the client has seen.
     *
     * @param status 0 for no answer
     * @param code of an error that the gateway itself has answered with
     * @param answeredBy the attempt whose answer it is
     */
    record Seen(
            Line line,
            int status,
            RawResponse.@Nullable End end,
            @Nullable String code,
            @Nullable Attempt answeredBy) {
        static Seen nothing(Line line) {
            return new Seen(line, 0, null, null, null);
        }
    }

    private final String id;
    private final int number;
    private final int size;
    private final boolean stream;
    private final boolean asksUsage;
    private final List<Attempt> attempts = new ArrayList<>(1);
    private @Nullable Seen seen;
    private boolean lineRead;

    /**
     * @param number varies the answer
     * @param size of the prompt in characters, about
     */
    FaultCase(String id, int number, int size, boolean stream, boolean asksUsage) {
        this.id = id;
        this.number = number;
        this.size = size;
        this.stream = stream;
        this.asksUsage = stream && asksUsage;
    }

    String id() {
        return id;
    }

    boolean isStream() {
        return stream;
    }

    // ---- what is asked

    /** The text of its only message. */
    String prompt() {
        return "p" + number % 97 + " " + "x".repeat(size) + " " + id;
    }

    Requests request() {
        String json = Requests.chatJson("m1", prompt(), stream);
        if (asksUsage) {
            json = json.substring(0, json.length() - 1) + ",\"stream_options\":{\"include_usage\":true}}";
        }
        return Requests.post("/v1/chat/completions", json)
                .key(number % 2 == 0 ? TestGateway.KEY : TestGateway.OTHER_KEY)
                .header("X-Request-Id", id)
                .header("X-Case", id);
    }

    // ---- what is answered

    long promptTokens() {
        return number + 1L;
    }

    long completionTokens() {
        return 1L + number % MOST_EVENTS;
    }

    /** The events of the answer to an attempt. */
    List<String> events(String upstreamId, boolean withUsage) {
        List<String> events = new ArrayList<>();
        for (int i = 0; i < completionTokens(); i++) {
            events.add(chunkEvent(upstreamId, "{\"index\":0,\"delta\":{\"content\":\"" + word(i) + "\"}}", ""));
        }
        events.add(chunkEvent(upstreamId, "{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}", ""));
        if (withUsage) {
            events.add(chunkEvent(upstreamId, "", "," + usage()));
        }
        events.add(Payloads.EVENT_DONE);
        return events;
    }

    private static String chunkEvent(String upstreamId, String choice, String more) {
        return Payloads.event("{\"id\":\"" + upstreamId + "\",\"object\":\"chat.completion.chunk\",\"choices\":["
                + choice + "]" + more + "}");
    }

    /** The same answer in one piece. */
    String json(String upstreamId) {
        StringBuilder content = new StringBuilder();
        for (int i = 0; i < completionTokens(); i++) {
            content.append(word(i));
        }
        return "{\"id\":\"" + upstreamId
                + "\",\"object\":\"chat.completion\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
                + "\"content\":\"" + content + "\"},\"finish_reason\":\"stop\"}]," + usage() + "}";
    }

    private String word(int i) {
        return id + "-" + i + "y".repeat(number * 31 % 1500) + " ";
    }

    private String usage() {
        return "\"usage\":{\"prompt_tokens\":" + promptTokens() + ",\"completion_tokens\":" + completionTokens()
                + ",\"total_tokens\":" + (promptTokens() + completionTokens()) + "}";
    }

    /** What a replica says that does not serve. */
    static String error(int status, String upstreamId) {
        return Payloads.error(status, "FaultyReplica", upstreamId);
    }

    /** The body that the client is to get of the answer to an attempt. */
    String expected(Attempt attempt, int status) {
        return expected(attempt, status, asksUsage);
    }

    /** Whether a broken answer may have these bytes: also the beginning of the usage that the client didn't ask for. */
    boolean mayBreakOffWith(Attempt attempt, int status, String text) {
        return expected(attempt, status, asksUsage).startsWith(text)
                || expected(attempt, status, true).startsWith(text) && !text.endsWith("\n\n");
    }

    private String expected(Attempt attempt, int status, boolean withUsage) {
        if (status != 200) {
            return error(status, attempt.upstreamId());
        }
        return stream ? String.join("", events(attempt.upstreamId(), withUsage)) : json(attempt.upstreamId());
    }

    // ---- what is seen

    synchronized void arrived(Attempt attempt) {
        attempts.add(attempt);
    }

    synchronized List<Attempt> attempts() {
        return List.copyOf(attempts);
    }

    synchronized void saw(Seen what) {
        seen = what;
    }

    /** Null while its client has not gone on to the next. */
    synchronized @Nullable Seen seen() {
        return seen;
    }

    /** Whether this is the first usage line about it. */
    synchronized boolean readsFirstLine() {
        boolean first = !lineRead;
        lineRead = true;
        return first;
    }

    synchronized boolean lineRead() {
        return lineRead;
    }

    @Override
    public synchronized String toString() {
        return id + (stream ? " (stream, " : " (plain, ") + size + " characters), attempts " + attempts
                + ", client saw " + seen;
    }
}
