package routes.health;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalLong;

/**
 * Reads two numbers from a page in Prometheus's text format as it comes, in parts of any size: each is the sum over all
 * series of the first of its names that the page has. Lines that begin with another name are skipped unread.
 *
 * <p>Labels are passed over, not read: inside quotes a backslash takes the next character with it. Values that are negative,
 * infinite or not numbers don't count. (Prometheus, "Exposition formats", text-based format 0.0.4.)
 *
 * <p><b>Threading:</b> one thread at a time.
 */
final class MetricsScanner {

    private static final int LONGEST_VALUE = 32;
    private static final double MOST = 1e9;

    private enum State {
        NAME,
        AFTER_NAME,
        LABELS,
        QUOTED,
        ESCAPED,
        BEFORE_VALUE,
        VALUE,
        SKIP
    }

    private final byte[][] names;
    private final int runningNames;
    private final double[] sums;
    private final boolean[] found;
    private final byte[] value = new byte[LONGEST_VALUE];

    private State state = State.NAME;
    /** The names that a line may still begin with, a bit for each. */
    private long candidates;

    private int length;
    private int name;

    /** @param running names in the order of preference, as {@code waiting}; together at most 64 */
    MetricsScanner(List<String> running, List<String> waiting) {
        runningNames = running.size();
        names = new byte[runningNames + waiting.size()][];
        for (int i = 0; i < names.length; i++) {
            String text = i < runningNames ? running.get(i) : waiting.get(i - runningNames);
            names[i] = text.getBytes(StandardCharsets.US_ASCII);
        }
        sums = new double[names.length];
        found = new boolean[names.length];
        begin();
    }

    /** A new page. */
    void begin() {
        for (int i = 0; i < names.length; i++) {
            sums[i] = 0;
            found[i] = false;
        }
        line();
    }

    /** The next part of the page. Borrows; reads all of it. */
    void read(ByteBuf part) {
        int end = part.writerIndex();
        int at = part.readerIndex();
        while (at < end) {
            if (state == State.SKIP) {
                at = part.indexOf(at, end, (byte) '\n');
                if (at < 0) {
                    break;
                }
            }
            next(part.getByte(at++));
        }
        part.readerIndex(end);
    }

    /** The end of the page. */
    void end() {
        next((byte) '\n');
    }

    /** Requests that run; empty when the page doesn't say. */
    OptionalLong running() {
        return sum(0, runningNames);
    }

    /** Requests that wait; empty when the page doesn't say. */
    OptionalLong waiting() {
        return sum(runningNames, names.length);
    }

    private OptionalLong sum(int from, int to) {
        for (int i = from; i < to; i++) {
            if (found[i]) {
                return OptionalLong.of(Math.round(Math.min(sums[i], MOST)));
            }
        }
        return OptionalLong.empty();
    }

    private void line() {
        state = State.NAME;
        length = 0;
        candidates = names.length == Long.SIZE ? -1 : (1L << names.length) - 1;
    }

    private void next(byte b) {
        if (b == '\n') {
            if (state == State.VALUE) {
                add();
            }
            line();
            return;
        }
        switch (state) {
            case NAME -> name(b);
            case AFTER_NAME -> afterName(b);
            case LABELS -> state = b == '"' ? State.QUOTED : b == '}' ? State.BEFORE_VALUE : State.LABELS;
            case QUOTED -> state = b == '"' ? State.LABELS : b == '\\' ? State.ESCAPED : State.QUOTED;
            case ESCAPED -> state = State.QUOTED;
            case BEFORE_VALUE -> {
                if (!isBlank(b)) {
                    state = State.VALUE;
                    length = 0;
                    value(b);
                }
            }
            case VALUE -> value(b);
            case SKIP -> {}
        }
    }

    private void name(byte b) {
        if (isBlank(b) || b == '{') {
            if (length > 0) {
                nameEnds(b);
            } else if (b == '{') {
                state = State.SKIP;
            }
            return;
        }
        long left = 0;
        for (long rest = candidates; rest != 0; rest &= rest - 1) {
            int i = Long.numberOfTrailingZeros(rest);
            if (length < names[i].length && names[i][length] == b) {
                left |= 1L << i;
            }
        }
        candidates = left;
        length++;
        if (left == 0) {
            state = State.SKIP;
        }
    }

    private void nameEnds(byte b) {
        state = State.SKIP;
        for (long rest = candidates; rest != 0; rest &= rest - 1) {
            int i = Long.numberOfTrailingZeros(rest);
            if (names[i].length == length) {
                name = i;
                state = State.AFTER_NAME;
                afterName(b);
                return;
            }
        }
    }

    private void afterName(byte b) {
        if (b == '{') {
            state = State.LABELS;
        } else if (!isBlank(b)) {
            state = State.VALUE;
            length = 0;
            value(b);
        }
    }

    private void value(byte b) {
        if (isBlank(b)) {
            add();
            state = State.SKIP;
        } else if (length == LONGEST_VALUE || !isOfNumber(b)) {
            state = State.SKIP;
        } else {
            value[length++] = b;
        }
    }

    private void add() {
        double number = number();
        if (number >= 0 && number <= Double.MAX_VALUE) {
            sums[name] += number;
            found[name] = true;
        }
    }

    private double number() {
        try {
            return Double.parseDouble(new String(value, 0, length, StandardCharsets.US_ASCII));
        } catch (NumberFormatException e) {
            return Double.NaN;
        }
    }

    private static boolean isOfNumber(byte b) {
        return b >= '0' && b <= '9' || b == '.' || b == '-' || b == '+' || b == 'e' || b == 'E';
    }

    private static boolean isBlank(byte b) {
        return b == ' ' || b == '\t' || b == '\r';
    }
}
