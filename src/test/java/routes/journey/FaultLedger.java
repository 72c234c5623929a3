package routes.journey;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import routes.error.ErrorCode;
import routes.fixture.RawResponse;

/**
 * All requests of a run: holds together what clients have asked and seen, what replicas have read, and what the usage file
 * says, and notes every disagreement.
 *
 * <p><b>Threading:</b> any thread; {@link #read} and {@link #close} when all clients have gone.
 */
final class FaultLedger {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int MOST_COMPLAINTS = 30;
    private static final int SHOWN = 150;

    private final long seed;
    private final int maxAttempts;
    private final Map<String, FaultCase> cases = new ConcurrentHashMap<>();
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private final AtomicInteger complaints = new AtomicInteger();
    private final Map<Fault, Integer> attemptsByFault = new ConcurrentHashMap<>();
    private final Map<String, Integer> outcomes = new TreeMap<>();
    private final Map<String, Integer> seen = new TreeMap<>();
    private final Map<Integer, Integer> attempts = new TreeMap<>();

    FaultLedger(long seed, int maxAttempts) {
        this.seed = seed;
        this.maxAttempts = maxAttempts;
    }

    long seed() {
        return seed;
    }

    // ---- while it runs

    FaultCase add(FaultCase asked) {
        cases.put(asked.id(), asked);
        return asked;
    }

    /** A replica has read a whole request. */
    FaultCase arrived(String id, String prompt, FaultCase.Attempt attempt) {
        FaultCase of = cases.get(id);
        if (of == null) {
            throw new IllegalStateException("seed " + seed + ": nobody has asked " + id);
        }
        if (of.attempts().stream().anyMatch(before -> before.number() == attempt.number())) {
            wrong(of, attempt + " came twice");
        }
        of.arrived(attempt);
        met(attempt.fault());
        if (!prompt.equals(of.prompt())) {
            wrong(of, attempt + " came with another prompt, of " + prompt.length() + " characters");
        }
        return of;
    }

    /** A request has come to a replica that something is wrong with. */
    void met(Fault fault) {
        attemptsByFault.merge(fault, 1, Integer::sum);
    }

    /** Something of the test itself has failed. */
    void failed(Throwable error) {
        complain("seed " + seed + ": " + error + " at " + List.of(error.getStackTrace()));
    }

    void wrong(FaultCase of, String what) {
        complain("seed " + seed + ", request " + of + ": " + what);
    }

    private void complain(String complaint) {
        if (complaints.incrementAndGet() <= MOST_COMPLAINTS) {
            wrong.add(complaint);
        }
    }

    /** What a client makes of an answer that it has read to its end, or as far as it wanted. */
    void sawAnswer(FaultCase of, RawResponse answer) {
        RawResponse.End end = answer.end().orElse(null);
        if (answer.status() == 0
                || end == RawResponse.End.BAD
                || end == RawResponse.End.TIMEOUT
                || end == RawResponse.End.CLOSE) {
            wrong(of, "its client got " + brief(answer));
        }
        FaultCase.Attempt by = null;
        String code = null;
        if (answer.status() == 200) {
            by = answerer(of, answer);
        } else if (end == RawResponse.End.CLEAN && answer.text().contains("FaultyReplica")) {
            by = answerer(of, answer);
        } else if (end == RawResponse.End.CLEAN) {
            code = codeOf(of, answer);
        } else if (end != null) {
            wrong(of, "its client got " + brief(answer));
        }
        of.saw(new FaultCase.Seen(FaultCase.Line.ONE, answer.status(), end, code, by));
    }

    private static String brief(RawResponse answer) {
        String text = answer.text();
        String shown = text.length() <= 2 * SHOWN
                ? text
                : text.substring(0, SHOWN) + " … " + text.substring(text.length() - SHOWN);
        return "status " + answer.status() + ", ended " + answer.end().orElse(null) + ", " + text.length()
                + " characters: " + shown;
    }

    /** The attempt whose answer this is, or begins with this; null where so few bytes came that they may be of several. */
    private FaultCase.@Nullable Attempt answerer(FaultCase of, RawResponse answer) {
        String text = answer.text();
        boolean clean = answer.end().filter(RawResponse.End.CLEAN::equals).isPresent();
        List<FaultCase.Attempt> may = of.attempts().stream()
                .filter(attempt -> clean
                        ? of.expected(attempt, answer.status()).equals(text)
                        : !text.isEmpty() && of.mayBreakOffWith(attempt, answer.status(), text))
                .toList();
        if (may.isEmpty() && (clean || !text.isEmpty())) {
            wrong(of, "no attempt was answered with " + brief(answer));
        }
        return may.size() == 1 ? may.get(0) : null;
    }

    private @Nullable String codeOf(FaultCase of, RawResponse answer) {
        try {
            String code = JSON.readTree(answer.body()).at("/error/code").asText();
            ErrorCode known = ErrorCode.valueOf(code.toUpperCase(Locale.ROOT));
            if (known == ErrorCode.INTERNAL || known.status() != answer.status()) {
                wrong(of, "its client got " + brief(answer));
            }
            return code;
        } catch (IOException | IllegalArgumentException e) {
            wrong(of, "its client got " + brief(answer));
            return null;
        }
    }

    // ---- afterwards

    /** Whether every request that must have a usage line has one; reads what is new in the file. */
    boolean read(Path usageFile) {
        long known = cases.values().stream().filter(FaultCase::lineRead).count();
        try (Stream<String> lines = Files.lines(usageFile)) {
            lines.skip(known).forEach(this::readLine);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return cases.values().stream().allMatch(each -> each.lineRead() || !isDue(each));
    }

    private static boolean isDue(FaultCase of) {
        FaultCase.Seen seen = of.seen();
        return seen == null
                || seen.line() == FaultCase.Line.ONE
                || !of.attempts().isEmpty();
    }

    private void readLine(String text) {
        try {
            JsonNode line = JSON.readTree(text);
            FaultCase of = cases.get(line.path("request_id").asText());
            if (of == null) {
                complain("seed " + seed + ": nobody has asked what this line tells of: " + text);
            } else if (!of.readsFirstLine()) {
                wrong(of, "has a second line: " + text);
            } else {
                outcomes.merge(label(line), 1, Integer::sum);
                attempts.merge(line.path("attempts").asInt(), 1, Integer::sum);
                compare(of, line);
            }
        } catch (IOException e) {
            complain("seed " + seed + ": not JSON: " + text);
        }
    }

    private static String label(JsonNode line) {
        return (line.path("outcome").asText() + " " + line.path("error_code").asText("")).strip();
    }

    /** Two in a row at one replica are one: a pooled connection may be new to its replica, and is replaced there when it dies. */
    private static int onNewConnections(List<FaultCase.Attempt> arrived) {
        int count = 0;
        String before = "";
        for (FaultCase.Attempt each : arrived) {
            count += each.fresh() && !each.replica().equals(before) ? 1 : 0;
            before = each.replica();
        }
        return count;
    }

    private void compare(FaultCase of, JsonNode line) {
        int attempts = line.path("attempts").asInt();
        List<FaultCase.Attempt> arrived = of.attempts();
        check(of, arrived.size() <= attempts, "more attempts than its line says: ", line);
        check(of, arrived.stream().allMatch(each -> each.number() <= attempts), "attempts beyond its line's: ", line);
        // each may have met one stale connection before its own
        check(of, attempts <= 2 * maxAttempts, "too many attempts: ", line);
        check(of, onNewConnections(arrived) <= maxAttempts, "too many attempts on new connections: ", line);
        check(of, !line.path("outcome").asText().equals("internal"), "a fault of the gateway: ", line);
        FaultCase.Seen seen = of.seen();
        if (seen == null || seen.line() == FaultCase.Line.NONE) {
            wrong(of, "has a line: " + line);
        } else if (seen.status() != 0) {
            compare(of, seen, line);
        }
    }

    private void compare(FaultCase of, FaultCase.Seen seen, JsonNode line) {
        String outcome = line.path("outcome").asText();
        String code = line.path("error_code").asText("");
        check(of, line.path("status").asInt() == seen.status(), "another status: ", line);
        FaultCase.Attempt by = seen.answeredBy();
        if (by != null) {
            check(of, line.path("upstream_request_id").asText().equals(by.upstreamId()), "another answer: ", line);
            check(of, line.path("attempts").asInt() == by.number(), "tried again after the answer had begun: ", line);
        }
        if (seen.code() != null) {
            check(of, code.equals(seen.code()), "another error: ", line);
        }
        if (seen.end() == RawResponse.End.CLEAN) {
            boolean agrees = by == null
                    ? outcome.equals(expectedOutcome(seen.status(), code))
                    : outcome.equals(seen.status() == 200 ? "success" : "upstream_error");
            check(of, agrees, "its client got a whole answer: ", line);
        } else if (seen.end() != null) {
            check(
                    of,
                    outcome.equals("upstream_aborted") || outcome.equals("timeout"),
                    "its client got a broken answer: ",
                    line);
        }
        if (outcome.equals("success")) {
            check(
                    of,
                    line.path("prompt_tokens").asLong() == of.promptTokens()
                            && line.path("completion_tokens").asLong() == of.completionTokens()
                            && line.path("usage_source").asText().equals("final"),
                    "other tokens: ",
                    line);
        }
    }

    private static String expectedOutcome(int status, String code) {
        if (status == 504) {
            return "timeout";
        }
        return code.startsWith("upstream_") ? "upstream_error" : "rejected";
    }

    private void check(FaultCase of, boolean good, String what, JsonNode line) {
        if (!good) {
            wrong(of, what + line);
        }
    }

    /** All is over: what is missing now is wrong. */
    void close() {
        for (FaultCase each : cases.values()) {
            FaultCase.Seen what = each.seen();
            if (what == null) {
                wrong(each, "was never ended");
                continue;
            }
            seen.merge(label(what), 1, Integer::sum);
            if (isDue(each) && !each.lineRead()) {
                wrong(each, "has no line");
            }
            FaultCase.Attempt by = what.answeredBy();
            if (by != null && each.attempts().stream().anyMatch(one -> one.number() > by.number())) {
                wrong(each, "was tried again after its answer had begun");
            }
        }
    }

    private static String label(FaultCase.Seen what) {
        if (what.status() == 0) {
            return "left before an answer";
        }
        if (what.end() == null) {
            return "left inside an answer";
        }
        String end = what.end() == RawResponse.End.CLEAN ? "" : ", broken off";
        String of = what.code() != null ? " " + what.code() : what.status() == 200 ? "" : " of a replica";
        return what.status() + of + end;
    }

    // ---- what came out

    List<String> complaints() {
        return List.copyOf(wrong);
    }

    int requests() {
        return cases.size();
    }

    /** Requests that came to a replica while it had this. */
    int attemptsDuring(Fault fault) {
        return attemptsByFault.getOrDefault(fault, 0);
    }

    /** Usage lines by outcome and error code. */
    Map<String, Integer> outcomes() {
        return outcomes;
    }

    /** Requests by what their clients saw. */
    Map<String, Integer> seen() {
        return seen;
    }

    /** Usage lines by number of attempts. */
    Map<Integer, Integer> attempts() {
        return attempts;
    }
}
