package routes.request;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The ids of one request: one for the client, who may choose it, one for its usage line, and a fresh one for each attempt.
 * Those only we choose: two requests with one id would be billed as one, and disturb each other in the engine.
 */
public final class RequestIds {

    private static final int LONGEST = 128;
    private static final String RUN = run();
    private static final AtomicLong COUNT = new AtomicLong();

    private final String unique;
    private final String toClient;

    private RequestIds(String unique, String toClient) {
        this.unique = unique;
        this.toClient = toClient;
    }

    /** @param asked the client's {@code X-Request-Id}; kept when it is {@code [A-Za-z0-9._-]{1,128}} */
    public static RequestIds of(@Nullable String asked) {
        String unique = RUN + Long.toHexString(COUNT.incrementAndGet());
        return new RequestIds(unique, asked != null && acceptable(asked) ? asked : unique);
    }

    public String toClient() {
        return toClient;
    }

    /** Differs from that of every other request, of every gateway, whatever its client chose. */
    public String unique() {
        return unique;
    }

    public String toUpstream(int attempt) {
        return unique + '-' + attempt;
    }

    private static boolean acceptable(String id) {
        if (id.isEmpty() || id.length() > LONGEST) {
            return false;
        }
        for (int i = 0; i < id.length(); i++) {
            char c = id.charAt(i);
            boolean letter = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z';
            if (!letter && !(c >= '0' && c <= '9') && c != '.' && c != '_' && c != '-') {
                return false;
            }
        }
        return true;
    }

    private static String run() {
        byte[] random = new byte[6];
        new SecureRandom().nextBytes(random);
        return HexFormat.of().formatHex(random) + '-';
    }
}
